//! Findings about a filesystem that was made for a run: what was asked for, and what came of it.

use serde_json::Value;

use super::{Finding, Severity};

/// Findings from the result of a job of `prepare`; none from anything else.
pub fn of_storage(result: &Value) -> Vec<Finding> {
    let texts = |name: &str| -> Vec<&str> {
        let all = result[name].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect()
    };
    let mut findings = Vec::new();
    let not_shown = texts("mount_options_not_shown");
    if !not_shown.is_empty() {
        findings.push(Finding::new(
            "mount_options_not_shown",
            Severity::Warning,
            format!(
                "mount options asked for, but not shown by the kernel: {}",
                not_shown.join(", ")
            ),
            "They may have no effect: compare with a target without them, and see mount_options in fsbench.environment.",
        ));
    }
    let not_in_force = texts("properties_not_in_force");
    if !not_in_force.is_empty() {
        findings.push(Finding::new(
            "properties_not_in_force",
            Severity::Warning,
            format!(
                "properties asked for, but not in force: {}",
                not_in_force.join(", ")
            ),
            "See the result of the job in fsbench.helper_job for those that are.",
        ));
    }
    findings
}

/// The finding of a run whose filesystem could not be cleared away at its end.
pub fn not_released(target: &str) -> Finding {
    Finding::new(
        "not_released",
        Severity::Warning,
        format!("the filesystem of target \"{target}\" was not cleared away"),
        "Nothing is wrong with the figures. It is released when pgfsbench-helper runs again; or run pgfsbench-helper release as root.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_that_the_kernel_does_not_show() {
        let found = of_storage(&json!({"mount_options_not_shown": ["nobarrier", "foo=1"]}));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, "mount_options_not_shown");
        assert!(found[0].message.ends_with("nobarrier, foo=1"));
        let found = of_storage(&json!({"properties_not_in_force": ["atime=off"]}));
        assert_eq!(found[0].code, "properties_not_in_force");
    }

    #[test]
    fn nothing_is_found_when_all_is_in_force() {
        for result in [
            json!({}),
            json!(null),
            json!({"mount_options_not_shown": []}),
        ] {
            assert_eq!(of_storage(&result), []);
        }
    }
}
