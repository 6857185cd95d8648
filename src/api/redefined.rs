//! The notice when a target is defined otherwise than when its results were measured.

use serde_json::Value;

use crate::{errors::Fault, pg::report, store::definition};

/// After a target was created or changed: which of its results its next runs stand beside. `before` is how it was defined
/// before the change; one that changes nothing is nothing to tell.
pub fn tell(target: &str, before: Option<&Value>) -> Result<(), Fault> {
    let Some(now) = definition::results_of(target)? else {
        return Ok(());
    };
    if let Some((message, hint)) = now.in_words(target, before) {
        report::notice(message, Some(hint));
    }
    Ok(())
}
