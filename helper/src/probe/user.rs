//! Operating system users.

use crate::exec;
use pgfsbench_core::refusal::Refusal;

/// The user's and its group's number, asked of the system's own program, which knows all places where users are.
pub fn ids(user: &str) -> Result<(u32, u32), Refusal> {
    let id = exec::require("id", "coreutils")?.display().to_string();
    let ask = |option: &str| {
        let argv = [id.clone(), option.into(), "--".into(), user.into()];
        let outcome = exec::run(&argv, exec::SHORT)?;
        let number = outcome.output.trim().parse();
        number.map_err(|_| outcome.refusal())
    };
    Ok((ask("-u")?, ask("-g")?))
}
