//! Changes of a device between the first look and mkfs.

use super::disk::{Disk, on_device};
use super::lab::{detach, system, unmount};
use pgfsbench_tests::{LONG, attach, wait_until};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// Something happens to a device between the first look and mkfs, while the helper is held before this step.
fn between_check_and_use(disk: &Disk, path: &str, step: &str, happens: impl FnOnce()) -> String {
    let (code, said) = disk.lab.held_before(step, &on_device(path), happens);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(disk.lab.list("state/journal"), [""; 0]);
    said
}

/// The last part detaches the disk.
#[test]
fn a_device_that_changes_between_check_and_use_is_not_written_to() {
    let Some(disk) = Disk::new("a_device_that_changes_between_check_and_use_is_not_written_to")
    else {
        return;
    };
    a_device_that_is_exchanged_between_check_and_use_is_not_written_to(&disk);
    disk.start_anew();
    a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused(&disk);
    disk.start_anew();
    a_device_whose_medium_is_exchanged_between_check_and_use_is_not_written_to(&disk);
}

fn a_device_that_is_exchanged_between_check_and_use_is_not_written_to(disk: &Disk) {
    // A second disk, and a name that leads to the first and then to the second, as names of /dev do.
    let file = disk.lab.path("second");
    fs::copy(disk.lab.path("disk"), &file).expect("a copy");
    let second = attach(&file);
    let link = format!("/dev/pgfsbench-exchange-{}", std::process::id());
    disk.allow_with(&link, "wipe = true");
    for step in ["check_device", "wipe", "mkfs"] {
        symlink(&disk.device, &link).expect("symlink");
        let said = between_check_and_use(disk, &link, step, || {
            fs::remove_file(&link).expect("remove");
            symlink(&second, &link).expect("symlink");
        });
        fs::remove_file(&link).expect("remove");
        assert!(
            said.contains("is not the one that was looked at before"),
            "{said}"
        );
    }
    detach(&second, &file.display().to_string());
    let untouched = fs::read(&file).expect("the second disk");
    assert!(untouched.iter().all(|&byte| byte == 0));
    assert!(disk.first_bytes().iter().all(|&byte| byte == 0));
}

fn a_device_whose_medium_is_exchanged_between_check_and_use_is_not_written_to(disk: &Disk) {
    let file = disk.lab.path("medium");
    fs::copy(disk.lab.path("disk"), &file).expect("a copy");
    // Before the first look that holds it, the same number can become another medium's.
    let said = between_check_and_use(disk, &disk.device, "check_device", || {
        system("losetup", &["-d", &disk.device]);
        // Another test may have taken the number that is free now, and gives it back.
        let file = file.display().to_string();
        wait_until("the number is free", LONG, || {
            let taken = Command::new("losetup").args([&disk.device, &file]).output();
            taken.expect("losetup").status.success().then_some(())
        });
    });
    assert!(
        said.contains("is not the one that was looked at before"),
        "{said}"
    );
    // From then on it cannot: detaching only marks it.
    let (code, said) = disk.lab.held_before("mkfs", &disk.prepare(), || {
        system("losetup", &["-d", &disk.device]);
        let first = disk.lab.path("disk").display().to_string();
        let taken = Command::new("losetup")
            .args([&disk.device, &first])
            .output()
            .expect("losetup");
        assert!(!taken.status.success());
    });
    assert_eq!(code, Some(0), "{said}");
    let untouched = fs::read(disk.lab.path("disk")).expect("the first disk");
    assert!(untouched.iter().all(|&byte| byte == 0));
}

fn a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused(disk: &Disk) {
    for step in ["check_device", "wipe"] {
        let said = between_check_and_use(disk, &disk.device, step, || disk.write(0, b"precious"));
        assert!(
            said.contains("holds data without a known signature"),
            "{said}"
        );
        disk.blank();
    }
    let elsewhere = disk.lab.path("elsewhere").display().to_string();
    fs::create_dir_all(&elsewhere).expect("a directory");
    for step in ["check_device", "wipe", "mkfs"] {
        let said = between_check_and_use(disk, &disk.device, step, || {
            system("mkfs.ext4", &["-q", "-F", &disk.device]);
            system("mount", &[&disk.device, &elsewhere]);
        });
        assert!(
            said.contains("is in use") && said.contains(&elsewhere),
            "{said}"
        );
        unmount(&disk.device, &elsewhere);
        disk.blank_all();
    }
    // Without a mount, after it was wiped.
    let said = between_check_and_use(disk, &disk.device, "mkfs", || {
        system("mkfs.ext4", &["-q", "-F", "-L", "precious", &disk.device]);
    });
    assert!(
        said.contains("another program writes to device") && said.contains("precious"),
        "{said}"
    );
    assert!(system("blkid", &["-p", &disk.device]).contains("precious"));
}
