//! Only root and the servers' user can enter mount points: a process in one keeps it from being unmounted.

use super::lab::{Lab, on_image, system};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

/// Whether this user gets into a directory.
fn enters(user: &str, directory: &str) -> bool {
    let script = "cd \"$1\" 2>/dev/null && echo yes || echo no";
    let user = format!("--reuid={user}");
    let arguments = [
        &user,
        "--clear-groups",
        "--regid=nogroup",
        "sh",
        "-c",
        script,
        "sh",
        directory,
    ];
    system("setpriv", &arguments) == "yes"
}

fn mode(lab: &Lab, name: &str) -> u32 {
    let metadata = fs::metadata(lab.path(name)).expect("it is there");
    metadata.permissions().mode() & 0o7777
}

#[test]
fn mount_points_are_closed_to_others() {
    let Some(lab) = Lab::new("mount_points_are_closed_to_others") else {
        return;
    };
    nobody_else_stands_where_a_filesystem_is_mounted(&lab);
    a_directory_of_mount_points_that_is_open_is_closed_unless_it_is_somebody_elses_too(&lab);
}

fn nobody_else_stands_where_a_filesystem_is_mounted(lab: &Lab) {
    let mounted = lab.path("mnt/bench@t").display().to_string();
    let is_closed = || {
        assert!(!enters("nobody", &mounted), "nobody gets in");
        assert!(!enters("nobody", &lab.path("mnt").display().to_string()));
    };
    for filesystem in lab.filesystems() {
        let prepare = on_image("t", filesystem, "320MB");
        // It is never open, not even right after the mount.
        let mut closed = 0;
        for step in ["mount", "verify", "make_directory"] {
            let (code, said) = lab.held_before(step, &prepare, || {
                is_closed();
                closed += 1;
            });
            assert_eq!(code, Some(0), "{said}");
            lab.ok(&["release", "--target", "t"]);
        }
        assert_eq!(closed, 3);
        lab.ok(&prepare);
        is_closed();
        assert_eq!(mode(lab, "mnt/bench@t"), 0o700);
        assert!(
            user_enters(&format!("{mounted}/pgfsbench")),
            "the server gets in"
        );
        lab.ok(&["remount", "--target", "t"]);
        is_closed();
        lab.ok(&["release", "--target", "t"]);
    }
    lab.nothing_is_left_at_once();
}

/// Enters it as servers do, with the user's own groups.
fn user_enters(directory: &str) -> bool {
    let script = "cd \"$1\" && touch file && rm file && echo yes || echo no";
    let arguments = [
        "--reuid=postgres",
        "--regid=postgres",
        "--init-groups",
        "sh",
        "-c",
        script,
        "sh",
        directory,
    ];
    system("setpriv", &arguments) == "yes"
}

fn a_directory_of_mount_points_that_is_open_is_closed_unless_it_is_somebody_elses_too(lab: &Lab) {
    let root = lab.path("mnt");
    fs::create_dir_all(root.join("bench@other")).expect("a directory");
    fs::set_permissions(&root, Permissions::from_mode(0o755)).expect("chmod");
    lab.ok(&on_image("t", "ext4", "32MB"));
    assert_eq!(mode(lab, "mnt"), 0o710);
    lab.ok(&["release", "--target", "t"]);
    // Somebody else's user group would get in.
    chown(&root, None, Some(0)).expect("chown");
    lab.ok(&on_image("t", "ext4", "32MB"));
    assert_ne!(fs::metadata(&root).expect("it").gid(), 0);
    lab.ok(&["release", "--target", "t"]);

    fs::set_permissions(&root, Permissions::from_mode(0o755)).expect("chmod");
    fs::create_dir(root.join("cdrom")).expect("a directory");
    lab.refused(
        &on_image("t", "ext4", "32MB"),
        &["is not the helper's alone", "\"cdrom\"", "mount_root"],
    );
    assert_eq!(mode(lab, "mnt"), 0o755);
    assert_eq!(lab.list("images"), [""; 0]);
}
