//! The helper does not erase a device in use, whatever the kind of use: also where the kernel would let everybody claim it, and
//! though the configuration says that it may be wiped. A pretended use blocks no run.

use super::disk::{Disk, on_device};
use super::lab::{detach, on_image, system, unmount};
use pgfsbench_tests::{LONG, Partition, attach, program, skip, wait_until};
use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::{Child, Command};

/// An action that is carried out when the test ends, in whichever way.
struct Undone<F: FnMut()>(F);

impl<F: FnMut()> Drop for Undone<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn quietly(name: &str, arguments: &[&str]) {
    let _ = program(name).map(|path| Command::new(path).args(arguments).output());
}

/// A loop device over something, which is detached when it is dropped.
fn loop_over(path: &str) -> (String, impl Drop + use<>) {
    let device = attach(path);
    let (name, file) = (device.clone(), path.to_owned());
    (device, Undone(move || detach(&name, &file)))
}

/// Somewhere to mount, which is unmounted when it is dropped.
fn place(disk: &Disk, name: &str) -> (String, impl Drop + use<>) {
    let path = disk.lab.path(name);
    fs::create_dir_all(&path).expect("a directory");
    let path = path.display().to_string();
    let again = path.clone();
    (path, Undone(move || quietly("umount", &["-l", &again])))
}

fn name_of(device: &str) -> &str {
    device.trim_start_matches("/dev/")
}

/// A process that does nothing but to hold something open.
struct Holder(Child);

impl Holder {
    fn of(file: File) -> Self {
        let child = Command::new("sleep").arg("600").stdin(file).spawn();
        Self(child.expect("sleep"))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_device_below_or_beside_a_loop_device_is_refused() {
    let Some(disk) = Disk::new("a_device_below_or_beside_a_loop_device_is_refused") else {
        return;
    };
    a_device_below_a_loop_device_is_refused(&disk);
    disk.start_anew();
    a_loop_device_over_a_device_that_is_mounted_is_refused(&disk);
    disk.start_anew();
    a_file_with_two_loop_devices_is_refused(&disk);
}

fn a_device_below_a_loop_device_is_refused(disk: &Disk) {
    disk.allow(true);
    let (above, detached) = loop_over(&disk.device);
    let words = format!("{} holds it.", name_of(&above));
    disk.refused(&["is in use", &words]);
    system("mkfs.ext4", &["-q", "-F", &above]);
    let (place, unmounted) = place(disk, "elsewhere");
    system("mount", &[&above, &place]);
    let precious = Path::new(&place).join("precious");
    fs::write(&precious, "precious").expect("it is written");
    let output = disk.lab.run(&disk.prepare());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("is in use") && said.contains(&words),
        "{said}"
    );
    system("umount", &[&place]);
    system("mount", &[&above, &place]);
    assert_eq!(fs::read_to_string(&precious).expect("it"), "precious");
    drop((unmounted, detached));
    disk.succeeds();
}

fn a_loop_device_over_a_device_that_is_mounted_is_refused(disk: &Disk) {
    system("mkfs.ext4", &["-q", "-F", &disk.device]);
    let (place, _unmounted) = place(disk, "elsewhere");
    system("mount", &[&disk.device, &place]);
    let (above, _detached) = loop_over(&disk.device);
    disk.allow_with(&above, "wipe = true");
    let below = name_of(&disk.device);
    let words = format!("Device {below}, which it is made of, is mounted on {place}.");
    disk.lab.refused(&on_device(&above), &["is in use", &words]);
}

fn a_file_with_two_loop_devices_is_refused(disk: &Disk) {
    disk.allow(true);
    let (other, detached) = loop_over(&disk.lab.path("disk").display().to_string());
    let words = format!("{} has the same file, ", name_of(&other));
    disk.refused(&["is in use", &words]);
    drop(detached);
    disk.succeeds();
}

#[test]
fn a_device_that_others_use_is_refused_and_a_pretended_use_is_not_believed() {
    let Some(disk) =
        Disk::new("a_device_that_others_use_is_refused_and_a_pretended_use_is_not_believed")
    else {
        return;
    };
    a_device_that_a_process_has_open_is_refused(&disk);
    disk.start_anew();
    a_mount_that_only_has_the_name_of_a_device_is_in_nobodys_way(&disk);
    disk.start_anew();
    disks_and_their_partitions_are_used_together(&disk);
}

fn a_device_that_a_process_has_open_is_refused(disk: &Disk) {
    disk.allow(true);
    for writes in [false, true] {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(writes).open(&disk.device);
        let holder = Holder::of(file.expect("the device"));
        let words = format!("Process {} (\"sleep\") has it open.", holder.0.id());
        disk.refused(&["is in use", &words]);
        drop(holder);
        disk.succeeds();
    }
    // A process that soon leaves is waited for, such as udev, which looks at devices that were written to.
    let file = File::open(&disk.device).expect("the device");
    let mut sleep = Command::new("sleep");
    let mut moment = sleep.arg("1").stdin(file).spawn().expect("sleep");
    drop(sleep);
    disk.succeeds();
    // It has left by itself: nobody could have had the device before.
    let has_left = moment.try_wait().expect("it is ours");
    assert!(
        has_left.is_some_and(|status| status.success()),
        "{has_left:?}"
    );
}

fn disks_and_their_partitions_are_used_together(disk: &Disk) {
    let test = "disks_and_their_partitions_are_used_together";
    if program("addpart").is_none() {
        return skip(test, "there is no addpart");
    }
    let removed = Partition::add(&disk.device, 1, 2048, 400_000);
    let partition = removed.path();
    let name = name_of(&disk.device);
    disk.allow_with(&partition, "wipe = true");
    let holder = Holder::of(File::open(&disk.device).expect("the disk"));
    let words = format!("has its disk {name} open.");
    disk.lab
        .refused(&on_device(&partition), &["is in use", &words]);
    drop(holder);
    disk.lab.ok(&on_device(&partition));
    disk.lab.ok(&["release", "--target", "d"]);

    disk.allow(true);
    let (place, unmounted) = place(disk, "elsewhere");
    system("mount", &[&partition, &place]);
    let words = format!("Its partition {name}p1 is mounted on {place}.");
    disk.lab.refused(&disk.prepare(), &["is in use", &words]);
    unmount(&partition, &place);
    drop(unmounted);
    let words = [
        "holds partitions, of which the kernel knows",
        "never erased",
        "partx --delete",
    ];
    disk.lab.refused(&disk.prepare(), &words);
    wait_until("the partition is forgotten", LONG, || {
        let mut partx = Command::new("partx");
        let output = partx.args(["--delete", &disk.device]).output();
        output.expect("partx").status.success().then_some(())
    });
    disk.lab.ok(&disk.prepare());
    disk.lab.ok(&["release", "--target", "d"]);
    drop(removed);
}

/// Mounts something that says that it is this device, and is not.
fn pretend(device: &str, place: &str) {
    system("mount", &["-t", "tmpfs", device, place]);
    if let Ok(fuse) = OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        // There is no answer, and no question.
        let script =
            "exec mount -i -t fuse -o fd=0,rootmode=40000,user_id=0,group_id=0 \"$0\" \"$1\"";
        let mut mount = Command::new("sh");
        mount.args(["-c", script, device, place]).stdin(fuse);
        assert!(mount.status().expect("sh").success());
    }
}

fn a_mount_that_only_has_the_name_of_a_device_is_in_nobodys_way(disk: &Disk) {
    let (place, unmounted) = place(disk, "pretended");
    pretend(&disk.device, &place);
    disk.lab.ok(&disk.prepare());
    disk.lab.ok(&["release", "--target", "d"]);
    drop(unmounted);
    quietly("umount", &["-l", &place]);
    assert_eq!(disk.lab.mounts(), [""; 0]);

    // Nor does it keep an image.
    disk.lab.ok(&on_image("t", "ext4", "32MB"));
    let mut loops = disk.lab.loops();
    loops.retain(|device| *device != disk.device);
    pretend(&loops[0], &place);
    disk.lab.ok(&["release", "--target", "t"]);
    for _ in 0..2 {
        quietly("umount", &["-l", &place]);
    }
}
