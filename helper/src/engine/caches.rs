//! Drops what the kernel has cached of files, so that a run begins cold.

use super::{Engine, Tell};
use crate::config::Config;
use pgfsbench_core::helper::line_that_allows;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::time::Instant;

const FILE: &str = "/proc/sys/vm/drop_caches";

impl Engine {
    /// Writes back everything, so that nothing is kept because it is dirty; then has caches and inodes forgotten. Of all
    /// filesystems, which is why the configuration has to allow it.
    pub fn drop_caches(&self, tell: Tell) -> Result<Value, Refusal> {
        check_allowed(&self.config)?;
        let began = Instant::now();
        rustix::fs::sync();
        let outcome = std::fs::write(FILE, "3\n");
        let ms = began.elapsed().as_secs_f64() * 1000.0;
        tell(Report {
            step: "drop_caches".into(),
            argv: vec![format!("sync; write 3 to {FILE}")],
            ms,
            exit_code: None,
            output: outcome
                .as_ref()
                .err()
                .map(ToString::to_string)
                .unwrap_or_default(),
        });
        outcome.map_err(|e| {
            Refusal::new(Kind::System, format!("could not write {FILE}")).detail(format!("{e}."))
        })?;
        Ok(json!({"dropped": true, "ms": ms}))
    }
}

fn check_allowed(config: &Config) -> Result<(), Refusal> {
    match config.drop_caches {
        true => Ok(()),
        false => Err(Refusal::new(
            Kind::NotAllowed,
            "dropping caches is not allowed by the helper's configuration",
        )
        .detail("It makes everything on this machine slower for a while.")
        .hint(format!("Add to it {}.", line_that_allows("drop_caches")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_caches_has_to_be_allowed() {
        let refusal = check_allowed(&Config::parse("").unwrap()).unwrap_err();
        assert!(
            refusal
                .message
                .starts_with("dropping caches is not allowed")
        );
        assert!(refusal.hint.unwrap().contains("drop_caches = true"));
        let allowing = Config::parse("drop_caches = true").unwrap();
        assert_eq!(check_allowed(&allowing), Ok(()));
    }
}
