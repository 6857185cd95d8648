//! Brings a run to a phase and, where that takes no hook, keeps it there: by a lock that the phase needs, by stopping the
//! checkpointer, or by a length that does not end. Where a phase cannot be held it is made long enough to be caught; a run that
//! was not caught is taken back, and made again.

use pgfsbench_tests::{
    Background, LONG, Leaves, Signal, TestServer, pause_briefly, value, wait_until, wait_with,
};
use postgres::Client;

/// The phase in which a run is hit.
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
    /// Name in `fsbench.progress`.
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
            // The clients leave branches alone, so that these can be locked while they are on.
            Self::Verify => {
                "scale => 1, transactions => 20, warmup => '0', workload => 'tpcb-simple-update'"
            }
            Self::Collect | Self::Cleanup => "scale => 1, transactions => 20, warmup => '0'",
            _ => "scale => 1, duration => '1 h', warmup => '0'",
        };
        format!("clients => 2, label => '{label}', {rest}")
    }
}

/// Keeps a run in its phase until it is released or dropped.
pub struct Hold<'a> {
    server: &'a TestServer,
    session: Option<Client>,
    stopped: Option<i32>,
}

impl<'a> Hold<'a> {
    fn nothing(server: &'a TestServer) -> Self {
        Self {
            server,
            session: None,
            stopped: None,
        }
    }

    /// A session that does this, and leaves its transaction open.
    pub fn lock(server: &'a TestServer, sql: &str) -> Self {
        Self::lock_in(server, "postgres", sql)
    }

    fn lock_in(server: &'a TestServer, database: &str, sql: &str) -> Self {
        let mut session = server.connect(database);
        session
            .batch_execute(&format!("BEGIN; {sql}"))
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let mut hold = Self::nothing(server);
        hold.session = Some(session);
        hold
    }

    fn stop(server: &'a TestServer, backend_type: &str) -> Self {
        let pid = server.pid_of(backend_type);
        server.hold(pid);
        let mut hold = Self::nothing(server);
        hold.stopped = Some(pid);
        hold
    }

    /// Let the run go on.
    pub fn release(&mut self) {
        if let Some(pid) = self.stopped.take() {
            self.server.signal(pid, Signal::CONT);
        }
        // The end of the block rolls the session's transaction back. After a crash the transaction is gone already.
        drop(self.session.take());
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Waits until the run that is on is in this phase, or past it, since nothing keeps it there: false then.
pub fn comes_to(client: &mut Client, phase: Phase) -> bool {
    const WHERE: &str =
        "SELECT string_agg(phase, ',') FROM fsbench.progress WHERE phase <> 'queued'";
    let place = |name: &str| PHASES.iter().rposition(|phase| phase.name() == name);
    wait_with(
        LONG,
        pause_briefly,
        || {
            let now = value(client, WHERE);
            let is_there = place(&now) >= place(phase.name());
            if is_there {
                Ok(now == phase.name())
            } else {
                Err(now)
            }
        },
        |now| format!("no run came to {phase:?}, and is in phase \"{now}\""),
    )
}

/// Takes back a run that was over with something before somebody had looked: its row goes, too.
pub fn take_back(server: &TestServer, caller: Background) {
    let all = "SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress";
    server.value(all);
    let _ = caller.join();
    server.nothing_is_left("a run that was too fast");
    server.value(
        "DELETE FROM fsbench.run_log WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log)",
    );
}

/// Make a run with this statement, and bring it to the phase.
pub fn bring_to<'a>(
    server: &'a TestServer,
    phase: Phase,
    begin: impl Fn() -> Background,
) -> (Hold<'a>, Background) {
    let directories = server.database_directories();
    let mut hold = match phase {
        Phase::Begin => Hold::lock(server, "LOCK TABLE fsbench.run_log IN EXCLUSIVE MODE"),
        Phase::Provision | Phase::Creating => {
            Hold::lock(server, "COMMENT ON DATABASE template0 IS 'held'")
        }
        Phase::Checkpoint | Phase::Verify => Hold::stop(server, "checkpointer"),
        Phase::Collect | Phase::Cleanup => {
            Hold::lock(server, "LOCK TABLE fsbench.environment IN EXCLUSIVE MODE")
        }
        _ => Hold::nothing(server),
    };
    let mut caller = begin();
    match phase {
        Phase::Begin => {}
        Phase::Cleanup => server.wait_for_phase(Phase::Collect.name()),
        Phase::Verify => server.wait_for_phase(Phase::Checkpoint.name()),
        Phase::Load | Phase::Vacuum => {
            while !comes_to(&mut server.connect("postgres"), phase) {
                take_back(server, caller);
                caller = begin();
            }
        }
        _ => server.wait_for_phase(phase.name()),
    }
    match phase {
        Phase::Begin | Phase::Provision | Phase::Collect => {
            wait_for_lock(server);
        }
        Phase::Creating => {
            wait_for_lock(server);
            hold.release();
            wait_until("CREATE DATABASE has begun", LONG, || {
                (server.database_directories() != directories).then_some(())
            });
        }
        Phase::Verify => {
            let rows = instead(server, hold, "SELECT FROM pgbench_accounts FOR UPDATE");
            // By then the clients have prepared what they do, which takes locks on all tables.
            server.wait_for_phase(Phase::Measure.name());
            let name = work_database(server);
            hold = Hold::lock_in(server, &name, "LOCK TABLE pgbench_branches");
            drop(rows);
            server.wait_for_phase(phase.name());
        }
        Phase::Cleanup => {
            wait_for_lock(server);
            let name = work_database(server);
            // Only from here on can the work database be locked; its drop waits for that.
            hold = Hold::lock(server, &format!("COMMENT ON DATABASE {name} IS 'held'"));
            server.wait_for_phase(Phase::Cleanup.name());
            wait_for_lock(server);
        }
        _ => {}
    }
    (hold, caller)
}

/// Makes a run of transactions, none of which comes to its end before this is released: it is measured until then.
pub fn hold_in_measure<'a>(
    server: &'a TestServer,
    begin: impl Fn() -> Background,
) -> (Hold<'a>, Background) {
    let (hold, caller) = bring_to(server, Phase::Checkpoint, begin);
    let hold = instead(server, hold, "SELECT FROM pgbench_branches FOR UPDATE");
    server.wait_for_phase(Phase::Measure.name());
    (hold, caller)
}

/// Instead of the checkpointer, for which a run waits, something in its work database holds it, later.
fn instead<'a>(server: &'a TestServer, mut checkpointer: Hold, sql: &str) -> Hold<'a> {
    let name = work_database(server);
    let open = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true");
    server
        .connect("postgres")
        .batch_execute(&open)
        .expect(&open);
    let hold = Hold::lock_in(server, &name, sql);
    checkpointer.release();
    hold
}

fn work_database(server: &TestServer) -> String {
    server.value("SELECT datname FROM pg_database WHERE datname LIKE 'fsbench_work%'")
}

/// Wait until a coordinator waits for a lock: its pid.
pub fn wait_for_lock(server: &TestServer) -> i32 {
    wait_for_lock_of(server, "fsbench coordinator")
}

/// Wait until a process of this backend_type waits for a lock: its pid.
pub fn wait_for_lock_of(server: &TestServer, backend_type: &str) -> i32 {
    let waits = format!(
        "SELECT min(pid) FROM pg_stat_activity WHERE backend_type = '{backend_type}' AND wait_event_type = 'Lock'"
    );
    let mut client = server.connect("postgres");
    wait_until(&format!("{backend_type} waits for a lock"), LONG, || {
        value(&mut client, &waits).parse().ok()
    })
}
