//! The helper where directories of the machine hold something else, which no other process sees and which is gone with it.

use super::lab::{Lab, write_program};
use pgfsbench_tests::LET_GO_OF_OTHERS_DEVICES;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Whether this machine can do that.
pub fn is_possible() -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known.contains("\toverlay\n")
}

/// Upper directory of the overlay over a directory: files put there beforehand, and files written there.
pub fn over(lab: &Lab, directory: &str) -> PathBuf {
    lab.path("over").join(directory.trim_start_matches('/'))
}

/// Has a program of this text lie over /usr/sbin; LAB in it is the directory of the lab.
pub fn put_program(lab: &Lab, name: &str, text: &str) {
    let place = lab.path("");
    let place = place.to_str().expect("UTF-8").trim_end_matches('/');
    let path = over(lab, "/usr/sbin").join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    write_program(&path, &text.replace("LAB", place));
}

/// Runs this where something else lies over these directories, after these further lines of a shell.
pub fn run(lab: &Lab, directories: &[&str], further: &str, plain: &Command) -> Output {
    let mut script = format!("set -e\n{LET_GO_OF_OTHERS_DEVICES}");
    for directory in directories {
        let upper = over(lab, directory);
        let work = lab.path("work").join(directory.trim_start_matches('/'));
        for made in [&upper, &work] {
            fs::create_dir_all(made).expect("a directory");
        }
        script += &format!(
            "mount -t overlay overlay -o lowerdir={directory},upperdir={},workdir={} {directory}\n",
            upper.display(),
            work.display()
        );
    }
    script += &format!("{further}\nexec \"$@\"");
    Command::new("unshare")
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            &script,
            "sh",
        ])
        .arg(plain.get_program())
        .args(plain.get_args())
        .output()
        .expect("unshare")
}
