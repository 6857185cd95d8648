//! The processes that keep a filesystem from being unmounted. They are named, and not killed.

use pgfsbench_core::refusal::quoted;
use std::fs;
use std::path::Path;

/// Processes with a working directory, root, program or open file below this directory: the name that each has given itself, and
/// its process id.
pub fn users(mount_point: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut users: Vec<(i32, String)> = processes
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let process = entry.path();
            if !uses(&process, mount_point) {
                return None;
            }
            let name = crate::probe::line(&process.join("comm")).unwrap_or_default();
            Some((pid, name))
        })
        .collect();
    users.sort();
    users
        .into_iter()
        .map(|(pid, name)| format!("{} (process {pid})", quoted(&name)))
        .collect()
}

fn uses(process: &Path, mount_point: &Path) -> bool {
    let is_below =
        |link: &Path| fs::read_link(link).is_ok_and(|path| path.starts_with(mount_point));
    if ["cwd", "root", "exe"]
        .iter()
        .any(|link| is_below(&process.join(link)))
    {
        return true;
    }
    let open = fs::read_dir(process.join("fd"));
    open.is_ok_and(|mut open| open.any(|fd| fd.is_ok_and(|fd| is_below(&fd.path()))))
}
