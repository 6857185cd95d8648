//! The workload `io`: fio and its files go with the run, whatever ends it; and it works on targets as here.

use crate::common::{execute, server};
use crate::directory_target::Place;
use pgfsbench_tests::{LONG, Leaves, Signal, Stop, TestServer, send, value, wait_until};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LONG_RUN: &str = r#"workload => 'io', duration => '5 min', options => '{"pattern": "randwrite", "size": "16MB", "jobs": 2, "fdatasync_every": 1}'"#;
/// So large that writing the files takes longer than any of these tests waits between two steps.
const LONG_LAYOUT: &str = r#"workload => 'io', duration => '5 min', options => '{"pattern": "read", "size": "2GB", "jobs": 1}'"#;
const SHORT_RUN: &str = r#"workload => 'io', duration => '3 s', options => '{"pattern": "randwrite", "size": "4MB", "jobs": 2, "fdatasync_every": 4}'"#;

/// Processes that work in the temporary files of this server: fio, with its directory.
fn fio_of(server: &TestServer) -> Vec<(i32, PathBuf)> {
    let place = server.data().join("base/pgsql_tmp");
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let of = |entry: fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let directory = fs::read_link(entry.path().join("cwd")).ok()?;
        directory.starts_with(&place).then_some((pid, directory))
    };
    processes.filter_map(of).collect()
}

/// The process of fio of the run that is on, once it is there.
fn meet_fio(server: &TestServer) -> (i32, PathBuf) {
    wait_until("fio is met", LONG, || fio_of(server).pop())
}

fn nothing_is_left(server: &TestServer, what: &str) {
    server.nothing_is_left(what);
    assert_eq!(fio_of(server), [], "{what}");
}

fn works(server: &TestServer) {
    let mut client = server.connect("postgres");
    let run = value(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({SHORT_RUN})"),
    );
    let rows = format!(
        "SELECT string_agg(direction || ' ' || (operations > 0), ', ' ORDER BY direction) FROM fsbench.io_job WHERE run_id = {run}"
    );
    assert_eq!(value(&mut client, &rows), "sync true, write true");
}

#[test]
fn whatever_ends_a_run_fio_ends_and_its_files_go() {
    let server = server(&[]);
    ends(&server, LONG_RUN, "cancel", "cancelled 57014");
    ends(
        &server,
        LONG_RUN,
        "kill -9 fio",
        "failed 58000; fio has failed%",
    );
    ends(&server, LONG_RUN, "kill -9 the coordinator", "failed 57P02");
    ends(&server, LONG_RUN, "kill -9 the postmaster", "failed 57P02");
    works(&server);
}

/// All of them, while the files are written and while they are measured.
#[test]
#[ignore = "`make soak` has it"]
fn each_end_while_files_are_written_and_while_they_are_measured() {
    let server = server(&[]);
    for arguments in [LONG_LAYOUT, LONG_RUN] {
        for (what, wanted) in [
            ("cancel", "cancelled 57014"),
            ("terminate the coordinator", "failed 57P01"),
            ("kill -9 the coordinator", "failed 57P02"),
            ("kill -9 fio", "failed 58000; fio has failed%"),
            ("fast stop", "failed 57P0"),
            ("immediate stop", "failed 57P02"),
            ("kill -9 the postmaster", "failed 57P02"),
        ] {
            ends(&server, arguments, what, wanted);
        }
    }
    works(&server);
}

fn ends(server: &TestServer, arguments: &str, what: &str, wanted: &str) {
    eprintln!("{what}: {arguments}");
    let run = server.start_run(arguments);
    let coordinator = server.coordinator();
    if arguments == LONG_RUN {
        server.wait_for_phase("measure");
    }
    let (fio, directory) = meet_fio(server);
    let mode = fs::metadata(&directory)
        .expect("its directory")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    let owner = |pid: i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
        let mut lines = status.lines();
        lines
            .find(|line| line.starts_with("Uid:"))
            .expect("its user")
            .to_owned()
    };
    assert_eq!(owner(fio), owner(server.postmaster()), "the server's user");
    assert!(!owner(fio).contains("\t0"), "it is root");
    let environment = fs::read(format!("/proc/{fio}/environ")).expect("its environment");
    assert_eq!(String::from_utf8_lossy(&environment), "", "its environment");
    match what {
        "cancel" => assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t"),
        "terminate the coordinator" => server.terminate(coordinator),
        "kill -9 the coordinator" => server.crash(coordinator),
        "kill -9 fio" => assert!(send(fio, Signal::KILL), "no fio"),
        "fast stop" => server.stop(Stop::Fast),
        "immediate stop" => server.stop(Stop::Immediate),
        _ => server.kill(),
    }
    // The kernel kills it with the coordinator, before anything of the server is there again.
    wait_until("fio has ended", LONG, || {
        fio_of(server).is_empty().then_some(())
    });
    if server.processes().is_empty() {
        server.start_again();
    }
    nothing_is_left(server, what);
    let ended = server.told(&run);
    let like = server.value(&format!("SELECT $_${ended}$_$ LIKE '{wanted}%'"));
    assert_eq!(like, "t", "{what}: {ended}");
}

#[test]
fn only_a_program_of_root_is_run() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let directory =
        TempDir::with_prefix_in("pgfsbench-fio.", pgfsbench_tests::scratch()).expect("a directory");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("chmod");
    let script = directory.path().join("fio");
    let trace = directory.path().join("trace");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", trace.display())).expect("a script");
    let mut set = |path: &Path, mode| {
        if path == script {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("chmod");
        }
        execute(
            &mut client,
            &format!("ALTER SYSTEM SET pgfsbench.fio = '{}'", path.display()),
        );
        execute(&mut client, "SELECT pg_reload_conf()");
    };
    let run = format!("SELECT fsbench.run({SHORT_RUN})");
    for (path, mode, detail) in [
        (script.as_path(), 0o777, "Its mode is 777."),
        (Path::new("fio"), 0, "The path is not absolute."),
        (Path::new("/nowhere/fio"), 0, "It cannot be found"),
        (Path::new("/etc/passwd"), 0, "It is no program."),
        (Path::new("/usr/bin"), 0, "It is no program."),
    ] {
        set(path, mode);
        let mut other = server.connect("postgres");
        wait_until("the setting is read", LONG, || {
            let shown = value(&mut other, "SHOW pgfsbench.fio");
            (shown == path.display().to_string()).then_some(())
        });
        let error = other.batch_execute(&run).expect_err("refused");
        let error = error.as_db_error().expect("an error of the server");
        assert_eq!(error.code().code(), "42501", "{detail}: {error:?}");
        assert!(error.message().ends_with("is not run"), "{error:?}");
        assert!(
            error.detail().unwrap_or_default().starts_with(detail),
            "{error:?}"
        );
    }
    assert!(!trace.exists(), "it was run");
    server.nothing_is_left("refused programs");
}

pub fn jobs_come_home(place: &Place, there: &TestServer) {
    let mut client = place.connect("postgres");
    for target in ["here", "superuser"] {
        let run = value(
            &mut client,
            &format!("SELECT run_id FROM fsbench.run(target => '{target}', {SHORT_RUN})"),
        );
        let stored = format!(
            "SELECT (SELECT string_agg(direction || ' ' || (operations > 0), ', ' ORDER BY direction) FROM fsbench.io_job WHERE run_id = {run}) || '; ' || \
             (SELECT count(*) > 0 FROM fsbench.io_second WHERE run_id = {run}) || '; ' || (SELECT string_agg(measure, ' ' ORDER BY measure) FROM fsbench.histogram WHERE run_id = {run})"
        );
        assert_eq!(
            value(&mut client, &stored),
            "sync true, write true; true; sync write",
            "{target}"
        );
    }
    nothing_is_left(place, "runs on targets");
    nothing_is_left(there, "a run by connection");
}
