//! The conditions of a run: versions of kernel, server and extension, and the server's settings.

use crate::texts::steps::Change;

/// Before the mark of the settings.
const SETTINGS: &str = ", settings ";

/// The conditions of a run in one text: versions, and a mark of the server's settings.
pub fn conditions(versions: &str, settings: &str) -> String {
    format!("{versions}{SETTINGS}{settings}")
}

/// The change from some conditions to others; None if nothing has changed.
pub(super) fn change(then: &str, now: &str) -> Option<Change> {
    // A run of an earlier version of pgfsbench has no mark of the settings.
    let split = |text| {
        let parts: Option<(&str, &str)> = str::rsplit_once(text, SETTINGS);
        parts.map_or((text, None), |(versions, settings)| {
            (versions, Some(settings))
        })
    };
    let ((versions, settings), (versions_now, settings_now)) = (split(then), split(now));
    if versions != versions_now {
        return Some(Change::Versions);
    }
    let settings = settings.zip(settings_now);
    settings
        .is_some_and(|(then, now)| then != now)
        .then_some(Change::Settings)
}
