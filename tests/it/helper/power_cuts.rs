//! A target that is recorded, and what power cuts leave of it: everything that was flushed, and some of what was not.

use super::lab::{Lab, on_image};
use pgfsbench_tests::{LET_GO_OF_OTHERS_DEVICES, LONG, skip, wait_until};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE: usize = 4096;
const PAGES: usize = 16;

/// Memory that a file opened with O_DIRECT accepts.
#[repr(align(4096))]
struct Aligned([u8; PAGES * PAGE]);

const STOP: [&str; 3] = ["cut-stop", "--target", "t"];

fn lab(test: &str) -> Option<Lab> {
    if !Path::new("/dev/fuse").exists() {
        skip(test, "needs /dev/fuse");
        return None;
    }
    Lab::new(test)
}

/// Prepares a target that is recorded. Nothing but a sync flushes it by itself for five minutes.
fn recorded(lab: &Lab, filesystem: &str) {
    let size = if filesystem == "ext4" {
        "64MB"
    } else {
        "320MB"
    };
    let options = match filesystem {
        "xfs" => "noatime",
        _ => "noatime,commit=300",
    };
    let mut more = vec!["--record", "128MB", "--mount-options", options];
    if filesystem == "ext4" {
        // Blocks as large as the pages into which writes are torn.
        more.extend(["--mkfs-options", "-b 4096"]);
    }
    lab.ok(&[&on_image("t", filesystem, size)[..], &more].concat());
}

fn file(lab: &Lab, name: &str) -> PathBuf {
    lab.path("mnt/bench@t/pgfsbench").join(name)
}

/// A file of these bytes that is on the device.
fn write_durably(path: &Path, byte: u8) {
    let mut file = File::create(path).expect("a file");
    file.write_all(&[byte; PAGES * PAGE]).expect("write");
    file.sync_all().expect("fsync");
    let directory = File::open(path.parent().expect("a directory")).expect("a directory");
    directory.sync_all().expect("fsync");
}

/// Overwrites it past the page cache, and flushes nothing.
fn overwrite(path: &Path, byte: u8) {
    let mut options = OpenOptions::new();
    let direct = options.write(true).custom_flags(libc::O_DIRECT).open(path);
    let data = Aligned([byte; PAGES * PAGE]);
    direct
        .expect("O_DIRECT")
        .write_all_at(&data.0, 0)
        .expect("write");
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn json(said: &str) -> Value {
    serde_json::from_str(said).expect("JSON")
}

fn cut(lab: &Lab, entry: u64, number: u32, tear: &str) -> Value {
    let (entry, number) = (entry.to_string(), number.to_string());
    let options = ["--entry", &entry, "--number", &number, "--tear", tear];
    json(&lab.ok(&[&["cut", "--target", "t"][..], &options].concat()))
}

/// The first byte of each page of a file. A page has one byte only.
fn pages(path: &Path) -> Vec<u8> {
    let data = fs::read(path).expect("read");
    assert_eq!(data.len(), PAGES * PAGE);
    let page = |page: &[u8]| {
        assert!(page.iter().all(|byte| *byte == page[0]));
        page[0]
    };
    data.chunks(PAGE).map(page).collect()
}

#[test]
fn after_a_power_cut_what_was_flushed_is_there_and_what_was_not_may_be_lost() {
    let test = "after_a_power_cut_what_was_flushed_is_there_and_what_was_not_may_be_lost";
    let Some(lab) = lab(test) else { return };
    for filesystem in lab.filesystems() {
        recorded(&lab, filesystem);
        keeps_what_was_flushed(&lab, filesystem, 1);
    }
}

/// The devices of a filesystem that has several, and those of a filesystem and its journal.
#[test]
fn several_images_have_one_record_and_are_cut_together() {
    let test = "several_images_have_one_record_and_are_cut_together";
    let Some(lab) = lab(test) else { return };
    let of = |filesystem| {
        let target = ["prepare", "--target", "t", "--filesystem", filesystem];
        let record = ["--record", "128MB", "--mount-options", "noatime,commit=300"];
        [&target[..], &record].concat()
    };
    if lab.has("btrfs") {
        let mirror = ["--image", "160MB", "--image-count", "2", "--layout"];
        lab.ok(&[&of("btrfs")[..], &mirror, &["btrfs-raid1"]].concat());
        keeps_what_was_flushed(&lab, "btrfs", 2);
    }
    let journal = ["--image", "64MB", "--log-image", "64MB"];
    lab.ok(&[&of("ext4")[..], &["--mkfs-options", "-b 4096"], &journal].concat());
    keeps_what_was_flushed(&lab, "ext4", 2);
}

/// Writes to the prepared target, makes power cuts of it, and releases it.
fn keeps_what_was_flushed(lab: &Lab, filesystem: &str, images: usize) {
    let kept = file(lab, "kept");
    let both = file(lab, "both");
    write_durably(&kept, b'k');
    write_durably(&both, b'o');
    overwrite(&both, b'n');
    let to = now_ns().to_string();
    let window = ["--cuts", "1", "--from-ns", &to, "--to-ns", &to];
    let stopped = json(&lab.ok(&[&STOP[..], &window].concat()));
    assert!(stopped["flushes"].as_u64() > Some(2), "{stopped}");
    assert_eq!(stopped["is_full"], false);
    // Before and after each cut only the recorder is mounted.
    assert_eq!((lab.mounts().len(), lab.loops().len()), (1, 0));
    let after_write = &stopped["points"][0];
    // A mirror has written to each image.
    let mirrored = if filesystem == "btrfs" { images } else { 1 };
    assert!(
        after_write["unflushed"].as_u64() >= Some(mirrored as u64),
        "{stopped}"
    );
    let entry = after_write["entry"].as_u64().expect("a number");
    let mut seen = BTreeSet::new();
    for number in 1..=40 {
        let made = cut(lab, entry, number, "page");
        assert_eq!(made["mounted"], true, "{filesystem}: {made}");
        assert_eq!((lab.mounts().len(), lab.loops().len()), (2, images));
        assert_eq!(pages(&kept), [b'k'; PAGES], "{filesystem}: {made}");
        let found: BTreeSet<u8> = pages(&both).into_iter().collect();
        assert!(found.is_subset(&BTreeSet::from([b'n', b'o'])), "{found:?}");
        // The next cut does not have this.
        write_durably(&kept, b'x');
        lab.ok(&["cut-end", "--target", "t"]);
        let again = cut(lab, entry, number, "page");
        assert_eq!(again["kept"], made["kept"]);
        assert_eq!(pages(&both).into_iter().collect::<BTreeSet<_>>(), found);
        seen.insert(found);
        if filesystem == "btrfs" || seen.len() == 3 {
            break;
        }
    }
    // Old, new, and torn. btrfs writes the new data elsewhere, and no flush has made them part of the file.
    assert!(filesystem == "btrfs" || seen.len() == 3, "{seen:?}");
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}

#[test]
fn a_flush_that_fails_is_told_to_the_program_that_asked_for_it() {
    let test = "a_flush_that_fails_is_told_to_the_program_that_asked_for_it";
    let Some(lab) = lab(test) else { return };
    recorded(&lab, "ext4");
    write_durably(&file(&lab, "kept"), b'k');
    for on in ["flush", "write"] {
        lab.ok(&["fault", "--target", "t", "--on", on]);
        let failed = File::create(file(&lab, on)).and_then(|mut file| {
            file.write_all(&[1; PAGE])?;
            file.sync_all()
        });
        assert!(failed.is_err(), "{on}");
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
        recorded(&lab, "ext4");
    }
    lab.refused(&["fault", "--target", "t", "--on", "read"], &["invalid on"]);
    lab.refused(
        &["cut", "--target", "t", "--entry", "1"],
        &["Its recording goes on"],
    );
    // The directory of the target is on the device.
    write_durably(&file(&lab, "kept"), b'k');
    let stopped = json(&lab.ok(&STOP));
    lab.refused(
        &["cut", "--target", "t", "--entry", "99999"],
        &["99999 entries"],
    );
    // On a cut, too. Then it is mounted again with what has reached the disk.
    let entries = stopped["entries"].as_u64().expect("a number");
    cut(&lab, entries, 1, "none");
    write_durably(&file(&lab, "kept"), b'n');
    lab.ok(&["fault", "--target", "t", "--on", "flush"]);
    let failed = File::create(file(&lab, "failed")).and_then(|file| file.sync_all());
    assert!(failed.is_err());
    let again = json(&lab.ok(&["cut-again", "--target", "t"]));
    assert_eq!(again["mounted"], true, "{again}");
    assert_eq!(pages(&file(&lab, "kept")), [b'n'; PAGES]);
    let ended = json(&lab.ok(&["cut-end", "--target", "t"]));
    assert_eq!(
        (&ended["failures"], &ended["faults"]),
        (&0.into(), &1.into())
    );
    lab.refused(
        &["barriers-off", "--target", "t"],
        &["Its recording has ended"],
    );
    lab.ok(&["release", "--target", "t"]);
    lab.refused(&STOP, &["It is not prepared"]);
    lab.ok(&on_image("t", "ext4", "32MB"));
    lab.refused(&STOP, &["without a record"]);
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
    // The directory has room for images of 2 GB.
    let too_large = [&on_image("t", "ext4", "32MB")[..], &["--record", "3GB"]].concat();
    lab.refused(&too_large, &["is not allowed"]);
}

#[test]
fn without_barriers_nothing_is_flushed() {
    let test = "without_barriers_nothing_is_flushed";
    let Some(lab) = lab(test) else { return };
    for filesystem in lab.filesystems() {
        recorded(&lab, filesystem);
        if filesystem == "xfs" {
            lab.refused(&["barriers-off", "--target", "t"], &["mount"]);
        } else {
            let off = json(&lab.ok(&["barriers-off", "--target", "t"]));
            let options = off["mount_options"].as_str().expect("options");
            assert!(options.contains("nobarrier"), "{off}");
            // The directory has the file's name before.
            let path = file(&lab, "kept");
            write_durably(&path, b'k');
            let flushes = |lab: &Lab| {
                let stat = fs::read_to_string(format!(
                    "/sys/block/{}/stat",
                    lab.loops()[0].trim_start_matches("/dev/")
                ));
                let stat = stat.expect("figures of the disk");
                let flushes = stat.split_whitespace().nth(15).map(str::parse::<u64>);
                flushes.expect("a column").expect("a number")
            };
            let before = flushes(&lab);
            write_durably(&path, b'n');
            assert_eq!(flushes(&lab), before, "{filesystem}");
        }
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
}

/// Another mount namespace has a copy of each mount that was there when it began: also of those of other tests.
#[test]
#[ignore = "`make soak` has it"]
fn a_mount_namespace_keeps_no_recorder() {
    let test = "a_mount_namespace_keeps_no_recorder";
    let Some(lab) = lab(test) else { return };
    recorded(&lab, "ext4");
    let ours = lab.path("state/recorder/bench@t");
    let script = format!(
        "{LET_GO_OF_OTHERS_DEVICES}grep -c {} /proc/self/mounts\nread -r _",
        ours.display()
    );
    let mut other = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare");
    let mut count = String::new();
    let said = other.stdout.take().expect("its output");
    BufReader::new(said).read_line(&mut count).expect("a line");
    assert_eq!(count.trim(), "1");
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
    drop(other.stdin.take());
    other.wait().expect("its end");
}

/// The process that serves the disks of this lab.
fn recorder(lab: &Lab) -> Option<i32> {
    let image = lab.path("images/bench@t.img").display().to_string();
    let processes = fs::read_dir("/proc").expect("/proc");
    let pids = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_it = |pid: &i32| {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split('\0').nth(1) == Some("_record") && words.contains(&image)
    };
    pids.into_iter().find(is_it)
}

#[test]
fn whoever_is_killed_while_a_target_is_recorded_nothing_is_left() {
    let test = "whoever_is_killed_while_a_target_is_recorded_nothing_is_left";
    let Some(lab) = lab(test) else { return };
    let more = ["--log-image", "64MB", "--record", "64MB"];
    let prepare = [&on_image("t", "ext4", "32MB")[..], &more].concat();
    for (when, step) in [
        ("--stop-before", "record"),
        ("--stop-after", "record"),
        ("--stop-after", "attach"),
    ] {
        lab.killed(&prepare, when, step);
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
    }
    for (when, step) in [
        ("--stop-after", "unmount_recorder"),
        ("--stop-before", "remove_image"),
    ] {
        lab.ok(&prepare);
        lab.killed(&["release", "--target", "t"], when, step);
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
    }
    lab.ok(&prepare);
    lab.killed(&STOP, "--stop-after", "unmount");
    // As the next start of the service does.
    lab.start();
    lab.nothing_is_left_at_once();
    for step in ["attach_cut", "mount_cut"] {
        lab.ok(&prepare);
        let entries = json(&lab.ok(&STOP))["entries"].to_string();
        lab.killed(
            &["cut", "--target", "t", "--entry", &entries],
            "--stop-after",
            step,
        );
        lab.start();
        lab.nothing_is_left_at_once();
    }
    // The recorder itself: the filesystem fails, and can be released.
    lab.ok(&prepare);
    let pid = recorder(&lab).expect("a recorder");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).expect("a pid"),
        rustix::process::Signal::KILL,
    )
    .expect("kill");
    wait_until("the recorder has ended", LONG, || {
        recorder(&lab).is_none().then_some(())
    });
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}
