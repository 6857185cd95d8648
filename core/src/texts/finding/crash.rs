//! A crash that ended a run.

use crate::finding_row::Text;

/// Committed and found transactions where some are missing, the first problem that the check found, and the reasons for which a COMMIT
/// promised nothing.
pub fn lost_transactions(lost: Option<(u64, u64)>, problem: &str, reasons: Option<String>) -> Text {
    let message = match lost {
        Some((committed, found)) => format!(
            "{} of {committed} committed transactions were lost in the crash",
            committed - found
        ),
        None => "the data after the crash are not what was committed".to_owned(),
    };
    let hint = match reasons {
        Some(reasons) => format!(
            "A commit promised nothing here: {reasons}. Do not keep data that way that you want to find again. See fsbench.recovery."
        ),
        None => "Nothing that is known of the server and its storage allows that: do not trust this storage, or report a bug in pgfsbench. See fsbench.recovery, and the kernel's log.".to_owned(),
    };
    let message = format!("{message}: {}", lower_first(problem.trim_end_matches('.')));
    Text::new("lost_transactions", message, hint)
}

/// `problem` may have several lines, as messages of programs have.
pub fn recovery_failed(problem: &str) -> Text {
    let problem = problem.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = format!(
        "recovery failed after the crash, and what was committed could not be compared: {}",
        problem.trim_end_matches('.')
    );
    let hint = "What was measured before the crash is stored, but was not compared with the data. See fsbench.recovery, and the kernel's log.";
    Text::new("recovery_failed", message, hint)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
