//! Each kind of death in each phase.

use crate::robustness::hold::{PHASES, Phase, bring_to};
use pgfsbench_tests::{Background, Leaves, Signal, Stop, TestServer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    StopFast,
    StopImmediate,
    KillPostmaster,
    KillCoordinator,
    TerminateCoordinator,
    CancelCoordinator,
    TerminateCaller,
    CancelCaller,
    CancelRun,
}

impl Death {
    fn takes_the_server_down(self) -> bool {
        matches!(
            self,
            Self::StopFast | Self::StopImmediate | Self::KillPostmaster
        )
    }

    fn is_of_the_caller(self) -> bool {
        matches!(
            self,
            Self::TerminateCaller | Self::CancelCaller | Self::CancelRun
        )
    }

    fn strike(self, server: &TestServer, caller: &Background, coordinator: i32) {
        let server = &server;
        match self {
            Self::StopFast => server.stop(Stop::Fast),
            Self::StopImmediate => server.stop(Stop::Immediate),
            Self::KillPostmaster => server.kill(),
            Self::KillCoordinator => server.crash(coordinator),
            Self::TerminateCoordinator => server.signal(coordinator, Signal::TERM),
            Self::CancelCoordinator => server.signal(coordinator, Signal::INT),
            Self::TerminateCaller => server.terminate(caller.pid),
            Self::CancelCaller => caller.cancel(),
            Self::CancelRun => {
                let all = "SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress";
                assert_eq!(server.value(all), "t");
            }
        }
    }

    /// Status and SQLSTATE that the run's row may have after it; none where there may be no row.
    fn endings(self, phase: Phase) -> &'static [(&'static str, &'static str)] {
        match (self, phase) {
            // The result is stored already.
            (_, Phase::Cleanup) => &[("done", "")],
            // It is stored as soon as the lock is gone; nobody looks for a reason to cancel any more.
            (_, Phase::Collect) if self.is_of_the_caller() => &[("done", "")],
            (Self::CancelCoordinator, _) => &[("cancelled", "57014")],
            (Self::TerminateCoordinator, _) => &[("failed", "57P01")],
            _ if self.is_of_the_caller() => &[("cancelled", "57014")],
            // A process that the server has terminated may be seen first.
            (Self::StopFast, _) => &[("failed", "57P02"), ("failed", "57P01")],
            _ => &[("failed", "57P02")],
        }
    }
}

/// Each phase is hit once, and each death strikes once at least: the sample of `make check`.
const SAMPLE: [(Death, Phase); 11] = [
    (Death::KillCoordinator, Phase::Begin),
    (Death::StopFast, Phase::Provision),
    (Death::KillPostmaster, Phase::Creating),
    (Death::CancelCoordinator, Phase::Load),
    (Death::TerminateCaller, Phase::Vacuum),
    (Death::StopImmediate, Phase::Checkpoint),
    (Death::CancelCaller, Phase::Warmup),
    (Death::CancelRun, Phase::Measure),
    (Death::TerminateCoordinator, Phase::Verify),
    (Death::StopFast, Phase::Collect),
    (Death::KillCoordinator, Phase::Cleanup),
];

fn in_every_phase(death: Death) {
    in_these(PHASES.into_iter().map(|phase| (death, phase)));
}

fn in_these(cases: impl IntoIterator<Item = (Death, Phase)>) {
    let server = TestServer::with_extension(&[]);
    for (death, phase) in cases {
        // It has no id yet; and that nothing was copied yet makes no difference to these.
        if death == Death::CancelRun && phase == Phase::Begin
            || death.is_of_the_caller() && phase == Phase::Creating
        {
            continue;
        }
        let what = format!("{death:?} in {phase:?}");
        eprintln!("{what}");
        let statement = format!("SELECT * FROM fsbench.run({})", phase.arguments(&what));
        let (mut hold, caller) =
            bring_to(&server, phase, || server.background("postgres", &statement));
        let coordinator = match (&mut hold, phase) {
            // Another one may clear up.
            (Some(point), Phase::Begin) => point.wait_for(1),
            _ => server.coordinator(),
        };
        death.strike(&server, &caller, coordinator);
        drop(hold);
        if death.takes_the_server_down() {
            server.start_again();
        }
        server.nothing_is_left(&what);
        let answer = caller.join();
        if phase < Phase::Collect || death.takes_the_server_down() {
            assert!(answer.is_err(), "{what}: the caller got {answer:?}");
        }
        match server.ending_where(&format!("label = '{}'", what)) {
            None => assert_eq!(phase, Phase::Begin, "{what}: the run has no row"),
            Some(ending) => assert!(
                death.endings(phase).iter().any(|(status, sqlstate)| {
                    ending.status == *status && ending.reason.starts_with(sqlstate)
                }),
                "{what}: {ending:?}"
            ),
        }
        server.a_run_works(&what);
    }
    server.every_slot_is_free();
    assert!(!server.log().contains("PANIC"), "a PANIC");
}

#[test]
fn each_death_in_a_phase_leaves_nothing() {
    in_these(SAMPLE);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_fast_stop_in_any_phase_leaves_nothing() {
    in_every_phase(Death::StopFast);
}

#[test]
#[ignore = "`make soak` has it"]
fn an_immediate_stop_in_any_phase_leaves_nothing() {
    in_every_phase(Death::StopImmediate);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_killed_postmaster_in_any_phase_leaves_nothing() {
    in_every_phase(Death::KillPostmaster);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_killed_child_in_any_phase_leaves_nothing() {
    in_every_phase(Death::KillCoordinator);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_terminated_coordinator_in_any_phase_leaves_nothing() {
    in_every_phase(Death::TerminateCoordinator);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_cancelled_coordinator_in_any_phase_leaves_nothing() {
    in_every_phase(Death::CancelCoordinator);
}

#[test]
#[ignore = "`make soak` has it"]
fn a_terminated_caller_in_any_phase_leaves_nothing() {
    in_every_phase(Death::TerminateCaller);
}

#[test]
#[ignore = "`make soak` has it"]
fn ctrl_c_in_any_phase_leaves_nothing() {
    in_every_phase(Death::CancelCaller);
}

#[test]
#[ignore = "`make soak` has it"]
fn cancel_in_any_phase_leaves_nothing() {
    in_every_phase(Death::CancelRun);
}
