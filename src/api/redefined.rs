//! The notice when a target is defined otherwise than when its results were measured.

use serde_json::Value;

use crate::{errors::Fault, pg::report, store::definition};

/// Announces, after a target was created or changed, which results its next runs will be compared with. `before` is the old definition; an equal one
/// makes no message.
pub fn tell(target: &str, before: Option<&Value>) -> Result<(), Fault> {
    let Some(now) = definition::results_of(target)? else {
        return Ok(());
    };
    if let Some((message, hint)) = now.in_words(target, before) {
        report::notice(message, Some(hint));
    }
    Ok(())
}
