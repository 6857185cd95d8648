//! Brings a run to a phase and keeps it there: by an injection point, or by a length that does not end.

use pgfsbench_tests::{LONG, Point, TestServer, value, wait_until};

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
            Self::Warmup => "scale => 1, duration => '5 min', warmup => '5 min'",
            Self::Verify | Self::Collect | Self::Cleanup => {
                "scale => 1, transactions => 20, warmup => '0'"
            }
            _ => "scale => 1, duration => '1 h', warmup => '0'",
        };
        format!("clients => 2, label => '{label}', {rest}")
    }

    /// The injection point that holds a process of the run in this phase, and how many arrivals pass before. None for phases that last.
    fn point(self) -> Option<(&'static str, u32)> {
        match self {
            Self::Begin => Some(("coordinator before the row", 0)),
            Self::Provision | Self::Creating => Some(("before CREATE", 0)),
            // After some rows.
            Self::Load => Some(("worker at work in load", 1)),
            Self::Vacuum => Some(("worker at work in vacuum", 0)),
            Self::Checkpoint => Some(("pgfsbench worker in checkpoint", 0)),
            Self::Warmup | Self::Measure => None,
            Self::Verify => Some(("pgfsbench worker in verify", 0)),
            Self::Collect => Some(("coordinator in collect", 0)),
            Self::Cleanup => Some(("before DROP", 0)),
        }
    }
}

/// Begins a run, and brings it to this phase. The point that holds it there, where the phase has one.
pub fn bring_to<T>(
    server: &TestServer,
    phase: Phase,
    begin: impl FnOnce() -> T,
) -> (Option<Point>, T) {
    let directories = server.database_directories();
    let point = phase.point();
    let mut point = point.map(|(point, passing)| server.hold_at_after(point, passing));
    let caller = begin();
    match &mut point {
        Some(point) => {
            point.wait_for(1);
        }
        None => server.wait_for_phase(phase.name()),
    }
    if phase == Phase::Creating {
        point = None;
        wait_until("CREATE DATABASE has begun", LONG, || {
            (server.database_directories() != directories).then_some(())
        });
    }
    (point, caller)
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
