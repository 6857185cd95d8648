//! The work of `make lab STUDY=...` in its guest, done here: the script, on a disk that the helper may erase.

use super::bench::Bench;
use crate::common::{assert_refused, execute, row, rows};
use pgfsbench_tests::{LONG, Leaves, attach, wait_until};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The second part is of no kernel that there is: it is left out.
const DEFINITION: &str = r#"{"study": "tiny", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "p",
  "claims": [
    {"claim": "more", "says": "b does more tps", "seen": "2 against 1", "needs": ["full_size"],
     "decision": {"question": "q", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "by": "interval"}}],
  "variants": [{"variant": "a", "filesystem": "ext4"}, {"variant": "b", "filesystem": "ext4", "mount_options": "noatime"}],
  "questions": [
    {"question": "q", "part": "p", "asks": "noatime", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1,
     "metric": "tps", "margin": 0.05, "is_published": false,
     "full": {"scale": 10, "cycle_seconds": 30, "max_blocks": 6}, "quick": {"scale": 1, "transactions": 20, "max_blocks": 3}},
    {"question": "r", "part": "later", "asks": "noatime", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1,
     "metric": "tps", "margin": 0.05, "is_published": false, "needs": [{"kernel": [999, 0]}],
     "full": {"scale": 10, "cycle_seconds": 30, "max_blocks": 6}, "quick": {"scale": 1, "transactions": 20, "max_blocks": 3}}],
  "published": [
    {"variant": "a", "metric": "tps", "value": 1, "unit": "tps", "question": "q", "beside": "tps"},
    {"variant": "b", "metric": "tps", "value": 2, "unit": "tps", "question": "q", "beside": "tps"}]}"#;

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools")
}

/// The output of a script with names of a study and its parts, or its error.
fn script(names: [&str; 2]) -> Result<String, String> {
    let output = Command::new(tools().join("lab.d/study"))
        .args(names)
        .output()
        .expect("tools/lab.d/study");
    let said = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    match output.status.success() {
        true => Ok(said(output.stdout)),
        false => Err(said(output.stderr)),
    }
}

#[test]
fn names_in_the_script_of_the_laboratory_are_names() {
    for names in [
        ["a;b", ""],
        ["", ""],
        ["tiny", "p;q"],
        ["tiny", "p'"],
        ["tiny", "\\! ls"],
    ] {
        let why = script(names).expect_err("it is refused");
        assert!(
            why.starts_with("error: ") && why.contains("\nhint: SELECT"),
            "{why}"
        );
    }
    for (part, set) in [
        ("", "\n\\set part \n"),
        ("options", "\n\\set part options\n"),
        ("filesystems, options", "\n\\set part filesystems,options\n"),
    ] {
        let script = script(["heron-2010", part]).expect("a script");
        assert!(script.starts_with("\\set study heron-2010\n"), "{script}");
        assert!(script.contains(set), "{script}");
    }
}

#[test]
fn the_script_of_the_laboratory_repeats_a_study() {
    let test = "the_script_of_the_laboratory_repeats_a_study";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    let file = bench.lab.path("disk");
    let made = File::create(&file).and_then(|file| file.set_len(1 << 30));
    made.expect("a file");
    let device = attach(&file);
    bench.configure(&format!("[[device]]\npath = {device:?}\nwipe = true\n"));
    let serving = bench.serve_now();
    let mut client = bench.client();
    execute(
        &mut client,
        &format!("SELECT fsbench.define_study('{DEFINITION}')"),
    );
    let text = script(["tiny", "p,later"]).expect("a script");
    let path = bench.lab.path("script.sql");
    fs::write(&path, text).expect("the script");
    let output = (bench.server.client_program("psql"))
        .args(["-X", "-P", "pager=off", "-v", "ON_ERROR_STOP=1"])
        .args(["-v", &format!("device={device}"), "-v", "devices={}"])
        .arg("-f")
        .arg(&path)
        .output()
        .expect("psql");
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let said = said.concat();
    assert!(output.status.success(), "{said}");
    for words in [
        "part => 'p,later', quick => true",
        "question r: it needs Linux 999.0",
        "This is of a guest",
        "it needs data and windows of full size",
        "What it took:",
    ] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
    let report = "SELECT variant, published, measured > 0, runs FROM fsbench.study_report('tiny') WHERE question = 'q'";
    assert_eq!(rows(&mut client, report), ["a|1|t|3", "b|2|t|3"]);
    let small = "SELECT DISTINCT transactions FROM fsbench.run_log WHERE target LIKE 'tiny.%'";
    assert_eq!(row(&mut client, small), "10");
    // The targets are its own, and those of others are not taken for them.
    execute(
        &mut client,
        "SELECT fsbench.drop_study('tiny', keep_runs => true)",
    );
    let again = format!(
        "SELECT fsbench.study('tiny', device => '{device}', quick => true, start => false)"
    );
    execute(&mut client, &again);
    execute(&mut client, "SELECT fsbench.drop_study('tiny')");
    let left = "SELECT count(*) FROM fsbench.target WHERE target LIKE 'tiny.%'";
    assert_eq!(row(&mut client, left), "0");
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.create_target('tiny.a', filesystem => 'ext4', device => '{device}')"
        ),
    );
    assert_refused(
        &mut client,
        &again,
        "42710",
        &[
            "target \"tiny.a\" already exists",
            "has not made it",
            "drop_target()",
        ],
    );
    drop(serving);
    bench.server.nothing_is_left("a study in a laboratory");
}

/// A question about fio of deckelmann-2009, up to its first run.
#[test]
fn a_question_about_fio_is_measured_with_the_figures_of_its_device() {
    let test = "a_question_about_fio_is_measured_with_the_figures_of_its_device";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    let file = bench.lab.path("disk");
    let made = File::create(&file).and_then(|file| file.set_len(4 << 30));
    made.expect("a file");
    let device = attach(&file);
    bench.configure(&format!("[[device]]\npath = {device:?}\nwipe = true\n"));
    let serving = bench.serve_now();
    let mut client = bench.client();
    let study = format!(
        "SELECT fsbench.study('deckelmann-2009', device => '{device}', part => 'read-ahead', quick => true, start => false)"
    );
    execute(&mut client, &study);
    let name = "deckelmann-2009 read-ahead-fio";
    execute(
        &mut client,
        &format!("SELECT fsbench.resume_experiment('{name}')"),
    );
    let measured = format!(
        "SELECT count(*) > 0 FROM fsbench.experiment_run JOIN fsbench.experiment e USING (experiment_id) \
         WHERE e.experiment = '{name}' AND outcome = 'measured'"
    );
    bench.server.wait_for("postgres", &measured, LONG);
    execute(
        &mut client,
        "SELECT fsbench.cancel_experiment(experiment) FROM fsbench.experiments WHERE status NOT IN ('done', 'cancelled')",
    );
    wait_until("the last run is over", LONG, || {
        let on = "SELECT run_id FROM fsbench.progress";
        rows(&mut client, on).is_empty().then_some(())
    });
    let jobs = "SELECT DISTINCT job, direction, operations > 0, mb_per_second > 0 FROM fsbench.io_job JOIN fsbench.experiment_run USING (run_id) \
        WHERE outcome = 'measured'";
    assert_eq!(rows(&mut client, jobs), ["read|read|t|t"]);
    // fio reads its files through the page cache, from the device.
    let of_device = "SELECT sum(device_read_bytes::float8) > 0, sum(device_reads) > 0 FROM fsbench.sample JOIN fsbench.experiment_run USING (run_id) \
        WHERE outcome = 'measured'";
    assert_eq!(row(&mut client, of_device), "t|t");
    execute(&mut client, "SELECT fsbench.drop_study('deckelmann-2009')");
    drop(serving);
    bench.server.nothing_is_left("a question about fio");
}
