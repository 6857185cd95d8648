//! A postmaster that is off the processor after each fork: what it has forked is at work before it has written down whom it has forked.

use crate::common::{row, run, server};
use pgfsbench_tests::{LONG, TestServer, program, skip, wait_until};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Makes it so, until it is dropped.
struct Late(Child);

impl Late {
    /// Takes note of what it delays in a file. Why it cannot, if it cannot.
    fn start(server: &TestServer, log: &Path) -> Result<Self, String> {
        let strace = program("strace").ok_or("needs strace (Debian package strace)")?;
        let forks = "clone,clone3,fork,vfork";
        let said = fs::File::create(log.with_extension("err")).expect("a file");
        let mut late = Command::new(strace)
            .arg("-o")
            .arg(log)
            .args(["-p", &server.postmaster().to_string()])
            .args(["-e", &format!("trace={forks}")])
            .args(["-e", &format!("inject={forks}:delay_exit=300000")])
            .stdin(Stdio::null())
            .stderr(said)
            .spawn()
            .map(Self)
            .map_err(|error| error.to_string())?;
        wait_until("strace is attached, or has ended", LONG, || {
            let has_ended = late.0.try_wait().expect("its state").is_some();
            let said = fs::read_to_string(log.with_extension("err")).unwrap_or_default();
            match said.contains(" attached") {
                true => Some(Ok(())),
                false => has_ended.then(|| Err(format!("needs ptrace: {}", said.trim()))),
            }
        })?;
        Ok(late)
    }
}

impl Drop for Late {
    /// The kernel lets go of what it traces.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_row_of_a_run_is_no_copy_before_its_coordinator_is_written_down() {
    let name = "the_row_of_a_run_is_no_copy_before_its_coordinator_is_written_down";
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-late.", pgfsbench_tests::scratch())
        .expect("a directory");
    let log = place.path().join("forks");
    let late = match Late::start(&server, &log) {
        Ok(late) => late,
        Err(why) => return skip(name, &why),
    };
    let run = run(
        &mut client,
        "scale => 1, clients => 1, transactions => 20, warmup => '0'",
    );
    drop(late);
    let forks = fs::read_to_string(&log).expect("what strace has seen");
    assert!(forks.contains("(DELAYED)"), "{forks}");
    let stored =
        format!("SELECT status, error_code, copied FROM fsbench.run_log WHERE run_id = {run}");
    assert_eq!(row(&mut client, &stored), "done||f");
}
