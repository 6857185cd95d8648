//! Interrupted runs on filesystems that the helper makes: the run has failed and says why, and all of it is cleared away; what
//! nobody could be asked to clear away, the helper does by itself.

use super::bench::ask;
use super::lab::system;
use super::runs::{SHORT, create, on_image};
use super::scene::Scene;
use crate::common::{execute, rows};
use pgfsbench_tests::{LONG, Leaves, Signal, Stop, program, skip, wait_until};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;

const LONG_RUN: &str =
    "target => 'ext4', scale => 1, clients => 2, duration => '5 min', warmup => '0'";
/// Each segment of WAL is a new one, and the clients do not wait for it.
const WAL: &str = r#", settings => '{"max_wal_size": "4GB", "min_wal_size": "32MB", "checkpoint_timeout": "1h", "synchronous_commit": "off"}'"#;

/// Words of the error of a filesystem that has stopped. A process of the server that reads or writes may see it first, or the look of each second.
const STOPPED: [&str; 2] = [
    "Input/output error",
    "the filesystem of the target has become read-only",
];

/// Fills a filesystem but for so many bytes.
fn fill(path: &std::path::Path, leave: u64) {
    let file = File::create(path.join("filler")).expect("a file");
    const BLOCK: u64 = 1 << 18;
    let free = || {
        let space = rustix::fs::statvfs(path).expect("statvfs");
        space.f_bavail * space.f_frsize
    };
    let mut length = 0;
    // The run there writes, too.
    while let Some(more @ BLOCK..) = free().checked_sub(leave) {
        let more = more / BLOCK * BLOCK;
        fallocate(&file, FallocateFlags::empty(), length, more).expect("room");
        length += more;
    }
}

fn measuring(scene: &Scene, arguments: &str) -> String {
    let run = scene.start_run(arguments);
    scene.wait_for_phase("measure");
    run
}

/// A run whose filesystem is prepared, and whose helper has gone since then: before anything else is done on the filesystem.
pub fn prepared_without_a_helper(scene: &mut Scene, further: &str) -> String {
    let mut hold = scene.bench.server.hold_at("the helper has done a job");
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}{further}"));
    hold.wait_for(1);
    scene.end_helper(Signal::TERM);
    assert_eq!(scene.bench.lab.mounts().len(), 1);
    run
}

/// Asserts how a run has ended, in one of these words, that nothing is left, and that the next one works.
fn assert_failed(scene: &Scene, run: &str, start: &str, words: &[&str]) {
    let traces = scene.traces();
    let told = scene.ending(run);
    assert!(told.starts_with(start), "{told}");
    assert!(words.iter().any(|words| told.contains(words)), "{told}");
    scene.nothing_is_left_of(&traces, &told);
    let next = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    assert_eq!(scene.ending(&next), "done", "after {told}");
    scene.nothing_is_left("the next run");
}

#[test]
fn a_filesystem_that_is_full_read_only_stopped_or_gone_fails_the_run_and_says_so() {
    let test = "a_filesystem_that_is_full_read_only_stopped_or_gone_fails_the_run_and_says_so";
    // After the first error nothing can be written any more, nor read what is not in memory.
    let Some(scene) = on_image(test, ", mount_options => 'errors=remount-ro'") else {
        return;
    };
    a_filesystem_that_becomes_read_only_after_an_error_fails_the_run_and_says_so(&scene);
    a_filesystem_that_has_stopped_itself_fails_the_run_and_says_so(&scene);
    a_device_that_vanishes_fails_the_run_and_is_cleared_away(&scene);
    a_filesystem_that_is_full_fails_the_run_and_says_so(&scene);
}

fn a_filesystem_that_is_full_fails_the_run_and_says_so(scene: &Scene) {
    scene.value(&format!("SELECT fsbench.alter_target('ext4'{WAL})"));
    let mount_point = scene.bench.lab.path("mnt/bench@ext4");
    // The run there looks each second, and stops before WAL finds no room.
    scene
        .bench
        .server
        .configure(&[("pgfsbench.reserved_space", "200MB")]);
    scene.bench.server.reload();
    let run = measuring(scene, &format!("{LONG_RUN}, rate => 20"));
    fill(&mount_point, 100 << 20);
    let words = "the filesystem is almost full";
    assert_failed(scene, &run, "failed 53100", &[words]);
    // Under WAL: there is more than the reserve, and less than a segment, so that the server goes down.
    scene
        .bench
        .server
        .configure(&[("pgfsbench.reserved_space", "1MB")]);
    scene.bench.server.reload();
    let run = measuring(scene, LONG_RUN);
    fill(&mount_point, 8 << 20);
    assert_failed(scene, &run, "failed 53100", &["No space left on device"]);
}

fn a_device_that_vanishes_fails_the_run_and_is_cleared_away(scene: &Scene) {
    let run = measuring(scene, LONG_RUN);
    let image = scene.bench.lab.path("images/bench@ext4.img");
    let device = scene.bench.lab.loops().remove(0);
    let file = File::options().write(true).open(&image).expect("the image");
    file.set_len(1 << 20).expect("truncated");
    system("losetup", &["--set-capacity", &device]);
    assert_failed(scene, &run, "failed 5", &STOPPED);
}

fn a_filesystem_that_becomes_read_only_after_an_error_fails_the_run_and_says_so(scene: &Scene) {
    let run = measuring(scene, LONG_RUN);
    let device = scene.bench.lab.loops().remove(0);
    let trigger = format!(
        "/sys/fs/ext4/{}/trigger_fs_error",
        device.trim_start_matches("/dev/")
    );
    std::fs::write(trigger, "a test").expect("ext4 takes it for an error");
    assert_failed(scene, &run, "failed 58030", &STOPPED);
}

/// xfs says rw in mountinfo even then.
fn a_filesystem_that_has_stopped_itself_fails_the_run_and_says_so(scene: &Scene) {
    let test = "a_filesystem_that_has_stopped_itself_fails_the_run_and_says_so";
    if !scene.bench.lab.has("xfs") {
        return;
    }
    if program("xfs_io").is_none() {
        return skip(test, "there is no xfs_io");
    }
    create(scene, "xfs", "");
    let run = measuring(scene, &LONG_RUN.replace("ext4", "xfs"));
    let mount_point = scene.bench.lab.path("mnt/bench@xfs");
    system(
        "xfs_io",
        &["-x", "-c", "shutdown", &mount_point.display().to_string()],
    );
    assert_failed(scene, &run, "failed 58030", &STOPPED);
}

#[test]
fn runs_that_lose_a_server_or_their_helper() {
    let Some(mut scene) = on_image("runs_that_lose_a_server_or_their_helper", "") else {
        return;
    };
    a_target_server_that_is_killed_fails_the_run_and_nothing_is_left(&mut scene);
    scene.serve_anew();
    a_helper_that_is_killed_while_it_prepares_fails_the_run_and_clears_up_when_it_is_back(
        &mut scene,
    );
    scene.serve_anew();
    a_run_needs_no_helper_while_it_measures_and_is_released_when_it_is_back(&mut scene);
}

fn a_target_server_that_is_killed_fails_the_run_and_nothing_is_left(scene: &mut Scene) {
    let run = measuring(scene, LONG_RUN);
    let traces = scene.traces();
    let postmaster = scene.target_postmaster().expect("the target server");
    scene.bench.server.signal(postmaster, Signal::KILL);
    let told = scene.ending(&run);
    assert!(told.starts_with("failed 57P02"), "{told}");
    scene.nothing_is_left_of(&traces, &told);
}

fn a_helper_that_is_killed_while_it_prepares_fails_the_run_and_clears_up_when_it_is_back(
    scene: &mut Scene,
) {
    scene.serve_with(&["--pause-before", "mkfs"]);
    let run = scene.start_run(&format!(
        r#"target => 'ext4', {SHORT}, options => '{{"wait_for_helper_ms": 600000}}'"#
    ));
    scene.serving.as_ref().expect("a helper").wait_until_held();
    scene.end_helper(Signal::KILL);
    let told = scene.ending(&run);
    assert!(told.starts_with("failed 5"), "{told}");
    assert!(
        told.contains("pgfsbench-helper has ended during the job"),
        "{told}"
    );
    scene.serve_with(&[]);
    scene.nothing_is_left("the helper was killed");
}

fn a_run_needs_no_helper_while_it_measures_and_is_released_when_it_is_back(scene: &mut Scene) {
    let run = prepared_without_a_helper(scene, "");
    assert_eq!(scene.ending(&run), "done");
    assert_eq!(scene.bench.lab.mounts().len(), 1);
    // The finding stays, although it does not follow from what is stored.
    let is_over = "SELECT NOT EXISTS (SELECT FROM fsbench.progress)";
    scene.bench.server.wait_for("postgres", is_over, LONG);
    for table in ["finding WHERE run_id =", "judge("] {
        let end = if table.ends_with('(') {
            ") WHERE"
        } else {
            " AND"
        };
        let told = format!("SELECT severity FROM fsbench.{table} {run}{end} code = 'not_released'");
        assert_eq!(rows(&mut scene.bench.client(), &told), ["warning"]);
    }
    scene.serve_with(&[]);
    scene.nothing_is_left("the helper is back");
}

/// A target that is prepared for a run which is over, and no helper.
fn forgotten(test: &str) -> Option<Scene> {
    let mut scene = on_image(test, "")?;
    measuring(&scene, LONG_RUN);
    scene.end_helper(Signal::TERM);
    // The release that is asked for after one restart is lost in the next.
    scene.bench.server.stop(Stop::Immediate);
    scene.bench.server.start_again();
    let asked = "SELECT EXISTS (SELECT FROM fsbench.helper_job WHERE action = 'release' AND status = 'queued') \
       AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator')";
    scene.bench.server.wait_for("postgres", asked, LONG);
    scene.bench.server.restart();
    assert_eq!(scene.bench.lab.mounts().len(), 1);
    Some(scene)
}

#[test]
fn what_was_prepared_for_a_run_goes_with_it_and_what_was_prepared_by_itself_stays() {
    let test = "what_was_prepared_for_a_run_goes_with_it_and_what_was_prepared_by_itself_stays";
    let Some(mut scene) = forgotten(test) else {
        return;
    };
    let mut client = scene.bench.client();
    let image = r#"{"storage": {"image": {"bytes": 67108864}}, "filesystem": "ext4"}"#;
    let _ = ask(&mut client, "own", "prepare", image);
    scene.serve_with(&[]);
    wait_until("the run's is released", LONG, || {
        let mounts = scene.bench.lab.mounts();
        (mounts.len() == 1 && mounts[0].contains("bench@own")).then_some(())
    });
    scene
        .bench
        .wait_for_log("for which it was prepared, is over");
    // It is the job of the run that had lost it.
    let released = "SELECT bool_or(run_id = 1 AND status = 'done') FROM fsbench.helper_job WHERE action = 'release'";
    scene.bench.server.wait_for("postgres", released, LONG);
    let _ = ask(&mut client, "own", "release", "{}");
    scene.nothing_is_left("both are released");
}

#[test]
fn what_was_prepared_for_a_run_goes_also_when_the_extension_has_gone() {
    let test = "what_was_prepared_for_a_run_goes_also_when_the_extension_has_gone";
    let Some(mut scene) = forgotten(test) else {
        return;
    };
    execute(&mut scene.bench.client(), "DROP EXTENSION pgfsbench");
    scene.serve_with(&[]);
    wait_until("it is released", LONG, || {
        let lab = &scene.bench.lab;
        (lab.mounts().is_empty() && lab.list("state/journal").is_empty()).then_some(())
    });
    scene.bench.lab.nothing_is_left_at_once();
    scene.bench.wait_for_log("there are no runs any more");
}
