//! Brings a run to a phase and, where that takes no hook, keeps it there: by a lock that the phase needs, by stopping the
//! checkpointer, or by a length that does not end. Where a phase cannot be held it is made long enough to be caught.

use crate::luck::bench::{Bench, database_directories};
use pgfsbench_tests::{Background, LONG, Signal, wait_until};
use postgres::Client;

/// Where a run is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before its row is there.
    Begin,
    /// Before CREATE DATABASE has made anything.
    Provision,
    /// In CREATE DATABASE, while files are copied.
    Creating,
    Load,
    Vacuum,
    Checkpoint,
    Warmup,
    Measure,
    Verify,
    Collect,
    Cleanup,
}

pub const PHASES: [Phase; 11] = [
    Phase::Begin,
    Phase::Provision,
    Phase::Creating,
    Phase::Load,
    Phase::Vacuum,
    Phase::Checkpoint,
    Phase::Warmup,
    Phase::Measure,
    Phase::Verify,
    Phase::Collect,
    Phase::Cleanup,
];

impl Phase {
    /// As `fsbench.progress` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "",
            Self::Provision | Self::Creating => "provision",
            Self::Load => "load",
            Self::Vacuum => "vacuum",
            Self::Checkpoint => "checkpoint",
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Verify => "verify",
            Self::Collect => "collect",
            Self::Cleanup => "cleanup",
        }
    }

    /// Arguments of a run that can be brought to this phase.
    pub fn arguments(self, label: &str) -> String {
        let rest = match self {
            Self::Load | Self::Vacuum => "scale => 10, duration => '5 min', warmup => '0'",
            Self::Warmup => "scale => 1, duration => '5 min', warmup => '5 min'",
            Self::Verify => "scale => 10, transactions => 20, warmup => '0'",
            Self::Collect | Self::Cleanup => "scale => 1, transactions => 20, warmup => '0'",
            _ => "scale => 1, duration => '5 min', warmup => '0'",
        };
        format!("clients => 2, label => '{label}', {rest}")
    }
}

/// What keeps a run in its phase, until it is released or dropped.
pub struct Hold<'a> {
    bench: &'a Bench,
    session: Option<Client>,
    stopped: Option<i32>,
}

impl<'a> Hold<'a> {
    fn nothing(bench: &'a Bench) -> Self {
        Self {
            bench,
            session: None,
            stopped: None,
        }
    }

    /// A session that does this, and leaves its transaction open.
    pub fn lock(bench: &'a Bench, sql: &str) -> Self {
        let mut session = bench.server.connect("postgres");
        session
            .batch_execute(&format!("BEGIN; {sql}"))
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let mut hold = Self::nothing(bench);
        hold.session = Some(session);
        hold
    }

    fn stop(bench: &'a Bench, backend_type: &str) -> Self {
        let pid = bench.pid_of(backend_type);
        bench.server.hold(pid);
        let mut hold = Self::nothing(bench);
        hold.stopped = Some(pid);
        hold
    }

    /// Let the run go on.
    pub fn release(&mut self) {
        if let Some(pid) = self.stopped.take() {
            self.bench.server.signal(pid, Signal::CONT);
        }
        // Its end rolls the session's transaction back. After a crash it is gone already.
        drop(self.session.take());
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Make a run with this statement, and bring it to the phase.
pub fn bring_to<'a>(
    bench: &'a Bench,
    phase: Phase,
    begin: impl FnOnce() -> Background,
) -> (Hold<'a>, Background) {
    let directories = database_directories(&bench.server);
    let mut hold = match phase {
        Phase::Begin => Hold::lock(bench, "LOCK TABLE fsbench.run_log IN EXCLUSIVE MODE"),
        Phase::Provision => Hold::lock(bench, "COMMENT ON DATABASE template0 IS 'held'"),
        Phase::Checkpoint => Hold::stop(bench, "checkpointer"),
        Phase::Collect | Phase::Cleanup => {
            Hold::lock(bench, "LOCK TABLE fsbench.environment IN EXCLUSIVE MODE")
        }
        _ => Hold::nothing(bench),
    };
    let caller = begin();
    match phase {
        Phase::Begin => {}
        Phase::Cleanup => bench.wait_for_phase(Phase::Collect),
        _ => bench.wait_for_phase(phase),
    }
    match phase {
        Phase::Begin | Phase::Provision | Phase::Collect => wait_for_lock(bench),
        Phase::Creating => wait_until("CREATE DATABASE has begun", LONG, || {
            (database_directories(&bench.server) != directories).then_some(())
        }),
        Phase::Cleanup => {
            wait_for_lock(bench);
            let name =
                bench.value("SELECT datname FROM pg_database WHERE datname LIKE 'fsbench_work%'");
            // Only from here on can the work database be locked; its drop waits for that.
            hold = Hold::lock(bench, &format!("COMMENT ON DATABASE {name} IS 'held'"));
            bench.wait_for_phase(Phase::Cleanup);
            wait_for_lock(bench);
        }
        _ => {}
    }
    (hold, caller)
}

/// Wait until the coordinator waits for a lock.
pub fn wait_for_lock(bench: &Bench) {
    bench.server.wait_for(
        "postgres",
        "SELECT count(*) = 1 FROM pg_stat_activity \
         WHERE backend_type = 'fsbench coordinator' AND wait_event_type = 'Lock'",
        LONG,
    );
}
