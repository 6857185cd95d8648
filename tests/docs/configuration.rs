//! The helper's configuration, as pages show it: the helper reads it.

use crate::lab::Lab;
use std::process::Stdio;

/// The helper's complaints about these lines in its configuration.
pub fn faults(text: &str) -> Vec<String> {
    let lab = Lab::new("host=/nowhere user=postgres");
    lab.configure("host=/nowhere user=postgres", text);
    let plan = ["--target", "t", "--filesystem", "ext4", "--image", "320MB"];
    let output = lab
        .command("plan")
        .args(plan)
        .stderr(Stdio::piped())
        .output();
    let output = output.expect("the helper runs");
    match output.status.success() {
        true => Vec::new(),
        false => vec![String::from_utf8_lossy(&output.stderr).into_owned()],
    }
}
