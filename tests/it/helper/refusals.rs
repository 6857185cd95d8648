//! Requests that the helper refuses for every caller: nothing is left of the attempt.

use super::lab::{Lab, on_image, system};
use std::fs;
use std::os::unix::fs::symlink;

fn what_is_there_already_is_left_alone(lab: &Lab) {
    let image = lab.path("images/bench@t.img");
    let precious = lab.path("precious");
    fs::write(&precious, "precious").expect("write");
    for make in [
        &(|| fs::write(&image, "precious").expect("write")) as &dyn Fn(),
        &|| symlink(&precious, &image).expect("symlink"),
    ] {
        make();
        lab.refused(
            &on_image("t", "ext4", "32MB"),
            &["is there already", "has not made it"],
        );
        lab.ok(&["cleanup"]);
        lab.ok(&["release", "--target", "t"]);
        assert_eq!(fs::read_to_string(&image).expect("it is there"), "precious");
        fs::remove_file(&image).expect("remove");
    }
    let mount_point = lab.path("mnt/bench@t");
    fs::create_dir_all(mount_point.join("precious")).expect("directories");
    lab.refused(&on_image("t", "ext4", "32MB"), &["is there already"]);
    lab.ok(&["cleanup"]);
    assert!(mount_point.join("precious").exists());
}

#[test]
fn nothing_of_others_is_touched() {
    let Some(lab) = Lab::new("nothing_of_others_is_touched") else {
        return;
    };
    somebody_elses_mount_on_the_mount_point_stays(&lab);
    what_is_there_already_is_left_alone(&lab);
}

fn somebody_elses_mount_on_the_mount_point_stays(lab: &Lab) {
    lab.ok(&on_image("t", "ext4", "32MB"));
    let mount_point = lab.path("mnt/bench@t").display().to_string();
    system(
        "mount",
        &["-t", "tmpfs", "-o", "size=1m", "tmpfs", &mount_point],
    );
    for arguments in [&["cleanup"][..], &["release", "--target", "t"]] {
        lab.refused(arguments, &["something else is mounted on", "tmpfs"]);
    }
    assert_eq!(lab.mounts().len(), 2);
    system("umount", &[&mount_point]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}
