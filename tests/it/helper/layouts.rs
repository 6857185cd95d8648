//! Several devices as one place for a filesystem: every one of them is made, checked and undone like a device alone.

use super::lab::{Lab, system};
use super::runs::SHORT;
use super::scene::Scene;
use crate::common::{execute, rows};
use pgfsbench_tests::{Leaves, assert_columns, attach};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;

const MEMBERS: usize = 4;
const MEGABYTES: u64 = 160;

/// To prepare target t with btrfs over these.
fn prepare<'a>(layout: &'a str, members: &[&'a str]) -> Vec<&'a str> {
    let words = ["prepare", "--target", "t", "--filesystem", "btrfs"];
    [&words[..], &["--layout", layout], members].concat()
}

const IMAGES: [&str; 4] = ["--image", "160MB", "--image-count", "4"];

fn lab(test: &str) -> Option<Lab> {
    let lab = Lab::new(test)?;
    lab.configure(&lab.usual().replace("max_images = 3", "max_images = 4"));
    lab.has("btrfs").then_some(lab)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The kernel's names of the devices of a mounted btrfs.
fn devices_of(uuid: &str) -> Vec<String> {
    let devices =
        std::fs::read_dir(format!("/sys/fs/btrfs/{uuid}/devices")).expect("it is mounted");
    let names = devices.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| format!("/dev/{}", name.to_string_lossy()))
        .collect();
    names.sort();
    names
}

#[test]
fn btrfs_over_four_images() {
    let Some(lab) = lab("btrfs_over_four_images") else {
        return;
    };
    for (layout, profile) in [
        ("btrfs-raid10", "Data, RAID10:"),
        ("btrfs-raid1", "Data, RAID1:"),
        ("btrfs-single", "Data, single:"),
    ] {
        let result = json(&lab.ok(&prepare(layout, &IMAGES)));
        assert_eq!(result["layout"], layout);
        let members = result["members"].as_array().expect("members");
        let mut named: Vec<String> = members
            .iter()
            .map(|member| member["device"].as_str().expect("a device").to_owned())
            .collect();
        named.sort();
        let mut loops = lab.loops();
        loops.sort();
        assert_eq!((named.len(), &named), (MEMBERS, &loops));
        assert_eq!(devices_of(result["uuid"].as_str().expect("a UUID")), named);
        assert_eq!(result["mount_options_not_shown"], Value::Array(vec![]));
        let place = lab.path("mnt/bench@t");
        let shown = system("btrfs", &["filesystem", "df", &place.display().to_string()]);
        assert!(shown.contains(profile), "{layout}: {shown}");

        std::fs::write(place.join("file"), "x").expect("written");
        lab.ok(&["remount", "--target", "t"]);
        assert_eq!(
            std::fs::read_to_string(place.join("file")).expect("read"),
            "x"
        );
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
    // All of them count in the limits of the configuration.
    lab.configure(&lab.usual());
    lab.refused(&prepare("btrfs-raid0", &IMAGES), &["too many images"]);
    lab.refused(&prepare("btrfs-raid10", &IMAGES[..2]), &["needs 4 devices"]);
    lab.nothing_is_left_at_once();
}

/// A sample for `make check`.
#[test]
fn killed_in_between_no_member_is_left() {
    let Some(lab) = lab("killed_in_between_no_member_is_left") else {
        return;
    };
    let prepare = prepare("btrfs-raid10", &IMAGES);
    for (when, step) in [("--stop-after", "attach"), ("--stop-after", "mkfs")] {
        lab.killed(&prepare, when, step);
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
    }
    lab.ok(&prepare);
    lab.killed(&["release", "--target", "t"], "--stop-after", "detach");
    // The target can be prepared again at once.
    lab.ok(&prepare);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_no_member_is_left() {
    let Some(lab) = lab("killed_at_any_step_no_member_is_left") else {
        return;
    };
    let prepare = prepare("btrfs-raid10", &IMAGES);
    for when in ["--stop-before", "--stop-after"] {
        for step in [
            "create_image",
            "attach",
            "mkfs",
            "make_mount_point",
            "mount",
            "verify",
            "make_directory",
        ] {
            lab.killed(&prepare, when, step);
            lab.ok(&["cleanup"]);
            lab.nothing_is_left_at_once();
        }
        for step in ["unmount", "remove_mount_point", "detach", "remove_image"] {
            lab.ok(&prepare);
            lab.killed(&["release", "--target", "t"], when, step);
            lab.ok(&["cleanup"]);
            lab.nothing_is_left_at_once();
        }
    }
}

/// Loop devices that play disks, all of them allowed.
fn disks(lab: &Lab, count: usize) -> Vec<String> {
    let disk = |n: usize| {
        let file = lab.path(&format!("disk{n}"));
        let made = File::create(&file).and_then(|f| f.set_len(MEGABYTES << 20));
        made.expect("a file");
        attach(&file)
    };
    let disks: Vec<String> = (0..count).map(disk).collect();
    allow(lab, &disks);
    disks
}

fn allow(lab: &Lab, disks: &[String]) {
    let lines = disks
        .iter()
        .map(|disk| format!("[[device]]\npath = {disk:?}\n"));
    lab.configure(&format!("{}{}", lab.usual(), lines.collect::<String>()));
}

fn over(disks: &[String]) -> Vec<&str> {
    disks.iter().flat_map(|disk| ["--device", disk]).collect()
}

fn zero(disk: &str) {
    let device = File::options().write(true).open(disk).expect("a device");
    let zeros = vec![0; (MEGABYTES << 20) as usize];
    device.write_all_at(&zeros, 0).expect("written");
}

fn first_bytes(disk: &str) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    let device = File::open(disk).expect("a device");
    device.read_exact_at(&mut bytes, 0).expect("read");
    bytes
}

#[test]
fn every_member_is_checked_like_a_device_alone() {
    let Some(lab) = lab("every_member_is_checked_like_a_device_alone") else {
        return;
    };
    let disks = disks(&lab, 2);
    let prepare = prepare("btrfs-raid1", &over(&disks));
    // All of them are allowed, or none is touched.
    allow(&lab, &disks[..1]);
    lab.refused(&prepare, &["is not allowed", &disks[1]]);
    allow(&lab, &disks);
    for (n, disk) in disks.iter().enumerate() {
        system("mkfs.ext4", &["-q", "-F", "-L", "precious", disk]);
        let before: Vec<Vec<u8>> = disks.iter().map(|disk| first_bytes(disk)).collect();
        lab.refused(&prepare, &["holds ext4, label \"precious\"", disk]);
        let mount = lab.path("elsewhere");
        std::fs::create_dir_all(&mount).expect("a directory");
        // A mount marks the filesystem, so it is read only.
        system(
            "mount",
            &["-o", "ro,noload", disk, &mount.display().to_string()],
        );
        lab.refused(&prepare, &["is in use", disk]);
        super::lab::unmount(disk, &mount.display().to_string());
        let after: Vec<Vec<u8>> = disks.iter().map(|disk| first_bytes(disk)).collect();
        assert!(before == after, "member {n} was written to");
        zero(disk);
    }
    // pgfsbench may erase what it wrote, in this layout or another, and also each alone.
    for _ in 0..2 {
        lab.ok(&prepare);
        for disk in &disks {
            let alone = ["prepare", "--target", "u", "--filesystem", "ext4"];
            lab.refused(&[&alone[..], &["--device", disk]].concat(), &["is in use"]);
        }
        lab.ok(&["release", "--target", "t"]);
    }
    for step in ["wipe", "mkfs", "mount"] {
        lab.killed(&prepare, "--stop-after", step);
        lab.ok(&["cleanup"]);
        lab.ok(&prepare);
        lab.ok(&["release", "--target", "t"]);
    }
    for disk in &disks {
        let alone = ["prepare", "--target", "u", "--filesystem", "ext4"];
        lab.ok(&[&alone[..], &["--device", disk]].concat());
        lab.ok(&["release", "--target", "u"]);
    }
    assert_eq!(lab.mounts(), [""; 0]);
    assert_eq!(lab.list("state/journal"), [""; 0]);
}

/// Another program writes a signature to a member after it was checked, and before the next step.
#[test]
fn a_signature_that_appears_on_a_member_is_not_lost() {
    let Some(lab) = lab("a_signature_that_appears_on_a_member_is_not_lost") else {
        return;
    };
    let disks = disks(&lab, 2);
    let prepare = prepare("btrfs-raid1", &over(&disks));
    for step in ["check_device", "wipe", "mkfs"] {
        for disk in &disks {
            disks.iter().for_each(|disk| zero(disk));
            for records in ["state/made", "state/erasing"] {
                let _ = std::fs::remove_dir_all(lab.path(records));
            }
            let (code, said) = lab.held_before(step, &prepare, || {
                system("mkfs.ext4", &["-q", "-F", "-L", "precious", disk]);
            });
            assert_eq!(code, Some(1), "{step} {disk}: {said}");
            assert!(
                said.contains("holds ext4, label \"precious\""),
                "{step}: {said}"
            );
            let label = system("blkid", &["-p", "-s", "LABEL", "-o", "value", disk]);
            assert_eq!(label, "precious", "{step} {disk}");
            assert_eq!(lab.list("state/journal"), [""; 0]);
        }
    }
}

#[test]
fn a_run_on_btrfs_over_four_images() {
    let test = "a_run_on_btrfs_over_four_images";
    let Some(mut scene) = Scene::new(test, &[], "") else {
        return;
    };
    if !scene.bench.lab.has("btrfs") {
        return;
    }
    let usual = scene.bench.usual("postgres");
    let larger = usual
        .replace("max_bytes = \"2GB\"", "max_bytes = \"4GB\"")
        .replace("max_images = 3", "max_images = 4");
    assert_ne!(usual, larger);
    scene.bench.lab.configure(&larger);
    scene.serve_anew();
    scene.value(
        "SELECT fsbench.create_target('b4', filesystem => 'btrfs', layout => 'btrfs-raid10', image_count => 4, image_size => '900MB')",
    );
    let run = scene.start_run(&format!("target => 'b4', {SHORT}"));
    assert_eq!(scene.ending(&run), "done");
    scene.nothing_is_left("a run");
    assert_columns(
        &mut scene.bench.client(),
        &format!("FROM fsbench.environment e WHERE run_id = {run}"),
        &[
            ("e.filesystem", "btrfs"),
            ("e.storage #>> '{request,layout}'", "btrfs-raid10"),
            ("e.storage #>> '{result,layout}'", "btrfs-raid10"),
            ("jsonb_array_length(e.storage #> '{result,members}')", "4"),
        ],
    );
    // The plan names each of them, and what undoes it.
    for (step, times) in [("create image", "4"), ("remove image", "4"), ("mkfs", "1")] {
        let steps = format!(
            "SELECT count(*) FROM fsbench.plan(target => 'b4', scale => 1) WHERE action = '{step}'"
        );
        assert_eq!(scene.value(&steps), times, "{step}");
    }
    layouts_are_compared_as_a_factor(&scene);
}

/// Variants have other layouts than their target, and the advice names each layout with the failures that it survives.
fn layouts_are_compared_as_a_factor(scene: &Scene) {
    let mut client = scene.bench.client();
    execute(
        &mut client,
        r#"SELECT fsbench.experiment('layouts', '{b4}', factors => '{"layout": ["btrfs-raid0", "btrfs-raid1"]}',
             max_blocks => 3, scale => 1, clients => 2, transactions => 30, warmup => '0')"#,
    );
    execute(&mut client, "CALL fsbench.wait_experiment('layouts')");
    scene.nothing_is_left("an experiment");
    let made = "SELECT t.target, t.target_name, x.outcome, e.storage #>> '{result,layout}', count(*) FROM fsbench.experiment_run x \
        JOIN fsbench.experiment_target t USING (experiment_id, target_number) LEFT JOIN fsbench.environment e USING (run_id) \
        GROUP BY 1, 2, 3, 4 ORDER BY 1";
    assert_eq!(
        rows(&mut client, made),
        [
            "b4 layout=btrfs-raid0|layouts.b4.1|measured|btrfs-raid0|3",
            "b4 layout=btrfs-raid1|layouts.b4.2|measured|btrfs-raid1|3"
        ]
    );
    let advice = rows(
        &mut client,
        "SELECT says FROM fsbench.recommend('layouts') WHERE part = 'cost' AND says LIKE '% over 4 devices%' ORDER BY 1",
    );
    // Whether the images share a disk is a matter of the machine.
    let survives = [
        "b4 layout=btrfs-raid0: btrfs-raid0 over 4 devices, and the failure of any one loses the data",
        "b4 layout=btrfs-raid1: btrfs-raid1 over 4 devices, any 1 of which may fail",
    ];
    let mut each = advice.iter().zip(survives);
    assert!(
        advice.len() == 2 && each.all(|(says, begin)| says.starts_with(begin)),
        "{advice:?}"
    );
}
