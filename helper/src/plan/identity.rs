//! Checks that a device is the one that configuration and target mean: its path may lead to another one by now.

use crate::config::Device;
use pgfsbench_core::helper::Marks;
use pgfsbench_core::refusal::{Kind, Refusal};

/// Compares the device with its entry in the configuration, and with the device that the target was created for.
pub fn check_identity(allowed: &Device, requested: &Marks, found: &Marks) -> Result<(), Refusal> {
    let (path, known) = (allowed.path.as_str(), allowed.marks());
    known.agree(requested, path)?;
    known.require(
        found,
        path,
        "the helper's configuration",
        "If this is the device that may be erased, let the administrator put that line right, and restart pgfsbench-helper.",
    )?;
    requested.require(
        found,
        path,
        "the target",
        "If this is the device that is meant, drop the target and create it again.",
    )?;
    match found.missing_in(&known) {
        None => Ok(()),
        Some(line) => Err(Refusal::new(
            Kind::NotAllowed,
            format!("the helper's configuration does not say which device {path} has to be"),
        )
        .detail("A path may lead to another device after a reboot.")
        .hint(format!(
            "If it is the one that is there now, put {line} below path = \"{path}\" in the helper's configuration, and restart pgfsbench-helper."
        ))),
    }
}
