//! Power cuts.

use crate::finding_row::Text;

/// Tests of a batch, each with its sentence of [`crate::texts::power_cut`].
pub type Tests<'a> = [(&'a str, &'a str)];

fn list(tests: &Tests<'_>) -> String {
    let says = tests.iter().map(|(test, says)| format!("{test}: {says}"));
    says.collect::<Vec<_>>().join("; ")
}

pub fn failed(tests: &Tests<'_>) -> Text {
    let message = format!("power cuts have failed: {}", list(tests));
    let hint = "With these options a power cut loses or damages data. Do not use them for data that you want to keep. See fsbench.power_cut_point.";
    Text::new("power_cut_failed", message, hint)
}

/// After an error of the device something was missing.
pub fn error_lost(errors: &Tests<'_>) -> Text {
    let message = format!("an error of the device has lost data: {}", list(errors));
    let hint = "With these options one error of the disk loses or damages data. Do not use them for data that you want to keep. See fsbench.power_cut_error.";
    Text::new("fsync_error", message, hint)
}

/// An error of the device was not reported; nothing was missing.
pub fn error_hidden(errors: &Tests<'_>) -> Text {
    let message = format!("an error of the device was not reported: {}", list(errors));
    let hint = "The filesystem may have written the data again or to a second copy, or it may hide errors. The server did not learn of it. See fsbench.power_cut_error.";
    Text::new("fsync_error", message, hint)
}

pub fn void(tests: &Tests<'_>) -> Text {
    let message = format!("the power cuts show nothing: {}", list(tests));
    let hint = "A control without fsync or full_page_writes has to fail. This one has not, so the cuts are too gentle. Give more cuts, or a longer duration.";
    Text::new("power_cuts_void", message, hint)
}
