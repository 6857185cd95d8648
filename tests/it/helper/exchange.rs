//! What happens to a device between the first look and mkfs.

use super::disk::Disk;
use super::lab::system;
use pgfsbench_tests::{LONG, Signal, wait_until};
use rustix::process::{Pid, kill_process};
use std::fs;
use std::io::Read;
use std::process::Stdio;

/// Something happens to a device between the first look and mkfs, while the helper is held before its second look.
fn between_check_and_use(disk: &Disk, path: &str, happens: impl FnOnce()) -> String {
    let arguments = [
        "prepare",
        "--target",
        "d",
        "--filesystem",
        "ext4",
        "--device",
        path,
    ];
    let mut held = disk
        .lab
        .command(&[&arguments[..], &["--pause-before", "check_device"]].concat())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the helper runs");
    wait_until("the helper is held", LONG, || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", held.id())).ok()?;
        stat.contains(") T ").then_some(())
    });
    happens();
    let pid = Pid::from_raw(held.id() as i32).expect("a pid");
    kill_process(pid, Signal::CONT).expect("SIGCONT");
    let mut said = String::new();
    let mut stderr = held.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("UTF-8");
    assert_eq!(held.wait().expect("it ends").code(), Some(1), "{said}");
    assert_eq!(disk.lab.list("state/journal"), [""; 0]);
    said
}

#[test]
fn a_device_that_is_exchanged_between_check_and_use_is_not_written_to() {
    let Some(disk) =
        Disk::new("a_device_that_is_exchanged_between_check_and_use_is_not_written_to")
    else {
        return;
    };
    // A second disk, and a name that leads to the first and then to the second, as names of /dev do.
    let file = disk.lab.path("second");
    fs::copy(disk.lab.path("disk"), &file).expect("a copy");
    let second = system(
        "losetup",
        &["--find", "--show", &file.display().to_string()],
    );
    let link = format!("/dev/pgfsbench-exchange-{}", std::process::id());
    std::os::unix::fs::symlink(&disk.device, &link).expect("symlink");
    let device = format!("[[device]]\npath = {link:?}\nwipe = true\n");
    disk.lab.configure(&format!("{}{device}", disk.lab.usual()));

    let said = between_check_and_use(&disk, &link, || {
        fs::remove_file(&link).expect("remove");
        std::os::unix::fs::symlink(&second, &link).expect("symlink");
    });
    fs::remove_file(&link).expect("remove");
    assert!(
        said.contains("is not the one that was looked at before"),
        "{said}"
    );
    let untouched = fs::read(&file).expect("the second disk");
    assert!(untouched.iter().all(|&byte| byte == 0));
    assert!(disk.first_bytes().iter().all(|&byte| byte == 0));
}

#[test]
fn a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused() {
    let Some(disk) =
        Disk::new("a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused")
    else {
        return;
    };
    let said = between_check_and_use(&disk, &disk.device, || disk.write(0, b"precious"));
    assert!(
        said.contains("holds data without a known signature"),
        "{said}"
    );
    disk.blank();

    let elsewhere = disk.lab.path("elsewhere").display().to_string();
    fs::create_dir(&elsewhere).expect("a directory");
    let said = between_check_and_use(&disk, &disk.device, || {
        system("mkfs.ext4", &["-q", "-F", &disk.device]);
        system("mount", &[&disk.device, &elsewhere]);
    });
    assert!(
        said.contains("is in use") && said.contains(&elsewhere),
        "{said}"
    );
    system("umount", &[&elsewhere]);
}
