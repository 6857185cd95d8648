//! Kills of each process of a run on a filesystem of its own, at random moments: after each nothing of it is left, and the
//! next run works.

use super::machine::Machine;
use super::processes;
use super::scene::{READ_AHEAD, Scene};
use crate::common::execute;
use pgfsbench_core::random::{Purpose, Stream};
use pgfsbench_tests::{LONG, Leaves, Signal, Stop, kills, wait_until};
use rustix::process::{Pid, kill_process};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const RUN: &str = "scale => 1, clients => 2, transactions => 60, warmup => '0'";
const NEXT_RUN: &str = "scale => 1, clients => 1, transactions => 10, warmup => '0'";
const OPTIONS: &str = r#"{"wait_for_helper_ms": 600000}"#;
/// Options of a run that crashes its server of its own accord.
const CRASH: &str = r#"{"wait_for_helper_ms": 600000, "crash": true}"#;
const SETTINGS: &str =
    r#"{"max_wal_size": "64MB", "min_wal_size": "32MB", "shared_buffers": "16MB"}"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    /// The part of the helper that is root.
    Helper,
    /// Process that speaks with the database.
    HelpersDatabaseProcess,
    CoordinatorTerminated,
    /// Which makes the asking server start anew.
    CoordinatorKilled,
    TargetPostmaster,
    /// Any other process of the target server's.
    TargetBackend,
    /// The asking server is stopped at once, and started again.
    AskingServer,
    /// As the power does it.
    AskingPostmaster,
    /// A program that the helper or the coordinator has started: mkfs, mount, initdb, cp, ...
    Program,
}

use Victim::*;

const VICTIMS: [Victim; 9] = [
    Helper,
    HelpersDatabaseProcess,
    CoordinatorTerminated,
    CoordinatorKilled,
    TargetPostmaster,
    TargetBackend,
    AskingServer,
    AskingPostmaster,
    Program,
];

/// Who is killed, in a run on which target, and when: in percent of how long a run takes.
#[derive(Clone, Copy, Debug)]
struct Strike {
    victim: Victim,
    target: &'static str,
    percent: u64,
    /// Whether the run ends with a crash of its own.
    crashes: bool,
}

struct Killer {
    scene: Scene,
    random: Stream,
}

impl Killer {
    fn new(test: &str, seed: u64) -> Option<Self> {
        let scene = Scene::new(test, &[], "kernel_settings = true\n")?;
        let mut client = scene.bench.client();
        for filesystem in scene.bench.lab.filesystems() {
            execute(
                &mut client,
                &format!(
                    "SELECT fsbench.create_target('{filesystem}', filesystem => '{filesystem}', image_size => '1800MB', \
                       image_sparse => true, settings => '{SETTINGS}', block_settings => '{{\"read_ahead_kb\": {READ_AHEAD}}}', \
                       kernel_settings => '{{\"dirty_expire_centisecs\": 2900}}')"
                ),
            );
        }
        Some(Self {
            scene,
            random: Stream::new(seed, 0, Purpose::Measure),
        })
    }

    fn any(&mut self, below: usize) -> usize {
        self.random.range(0, below as i64 - 1) as usize
    }

    fn start(&self, target: &str, options: &str) -> String {
        let arguments = format!("target => '{target}', {RUN}, options => '{options}'");
        self.scene.start_run(&arguments)
    }

    fn helper(&self) -> i32 {
        let serving = self.scene.serving.as_ref().expect("a helper");
        serving.child.id() as i32
    }

    fn pid_of(&mut self, victim: Victim) -> Option<i32> {
        let root = self.helper();
        let mut candidates = match victim {
            Helper => return Some(root),
            CoordinatorTerminated | CoordinatorKilled => return self.scene.coordinator(),
            TargetPostmaster => return self.scene.target_postmaster(),
            AskingServer | AskingPostmaster => return Some(self.scene.bench.server.postmaster()),
            HelpersDatabaseProcess | Program => {
                let coordinator = self.scene.coordinator();
                let ancestors: Vec<i32> = coordinator.into_iter().chain([root]).collect();
                processes::descendants(&ancestors)
            }
            TargetBackend => self.scene.target_processes(),
        };
        candidates.retain(|p| match victim {
            HelpersDatabaseProcess => p.parent == root && p.name == "exe",
            Program => !p.is_server() && p.name != "exe",
            _ => p.is_server() && !p.is_postmaster(),
        });
        let index = self.any(candidates.len().max(1));
        candidates.get(index).map(|p| p.pid)
    }

    fn is_over(&self, run: &str) -> bool {
        let over = format!("SELECT NOT EXISTS (SELECT FROM fsbench.progress WHERE run_id = {run})");
        self.scene.value(&over) == "t"
    }

    /// How long a run takes here and now, until nothing of it is left.
    fn whole(&self, options: &str) -> Duration {
        let _machine = Machine::new();
        let began = Instant::now();
        let run = self.start("ext4", options);
        let told = self.scene.ending(&run);
        assert_eq!(told, "done");
        self.scene.nothing_is_left("a run without any kill");
        began.elapsed()
    }

    fn strike(&mut self, victim: Victim, pid: i32) -> bool {
        let send = |signal| Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, signal).is_ok());
        let server = &self.scene.bench.server;
        match victim {
            Helper => {
                self.scene.end_helper(Signal::KILL);
                self.scene.serve_with(&[]);
                true
            }
            CoordinatorTerminated => send(Signal::TERM),
            CoordinatorKilled => {
                let postmaster = server.postmaster();
                let sent = send(Signal::KILL);
                // Until then the postmaster still takes connections that it will break.
                wait_until("the postmaster has seen it", LONG, || {
                    (!Path::new(&format!("/proc/{pid}")).exists()).then_some(())
                });
                server.settle(postmaster);
                sent
            }
            AskingServer => {
                server.stop(Stop::Immediate);
                server.start_again();
                true
            }
            AskingPostmaster => {
                server.kill();
                server.start_again();
                true
            }
            HelpersDatabaseProcess | TargetPostmaster | TargetBackend | Program => {
                send(Signal::KILL)
            }
        }
    }

    /// How the run has ended; None if it was over before the victim was there.
    fn round(&mut self, strike: Strike, whole: Duration) -> Option<String> {
        let Strike {
            victim,
            target,
            percent,
            crashes,
        } = strike;
        // The kernel's settings are there once: other tests have their turns between the rounds.
        let machine = Machine::new();
        let options = if crashes { CRASH } else { OPTIONS };
        let run = self.start(target, options);
        let moment = Instant::now() + whole * percent as u32 / 100;
        while let Some(left) = moment.checked_duration_since(Instant::now()) {
            sleep(left);
        }
        let began = Instant::now();
        let pid = loop {
            if let Some(pid) = self.pid_of(victim) {
                break Some(pid);
            }
            if self.is_over(&run) {
                break None;
            }
            assert!(began.elapsed() < LONG, "run {run} does not end");
        };
        let traces = self.scene.traces();
        let struck = pid.is_some_and(|pid| self.strike(victim, pid));
        let after = format!("{strike:?}");
        self.scene.nothing_is_left_of(&traces, &after);
        machine.assert_as_before(&after);
        let told = self.scene.told(&run);
        self.next_run(target, &after);
        self.scene.nothing_is_left(format!("the run after {after}"));
        machine.assert_as_before(&after);
        let status = told.split(';').next().unwrap_or_default();
        struck.then(|| status.to_owned())
    }

    fn next_run(&self, target: &str, after: &str) {
        let next = format!("target => '{target}', {NEXT_RUN}, options => '{OPTIONS}'");
        let run = self.scene.start_run(&next);
        let told = self.scene.ending(&run);
        assert_eq!(told, "done", "after {after}\n{}", self.scene.bench.log());
    }
}

#[test]
#[ignore = "`make soak` has it"]
fn whoever_is_killed_at_whatever_moment_nothing_is_left_and_the_next_run_works() {
    let (count, seed) = kills();
    let test = "whoever_is_killed_at_whatever_moment_nothing_is_left_and_the_next_run_works";
    let Some(mut killer) = Killer::new(test, seed) else {
        return;
    };
    let filesystems = killer.scene.bench.lab.filesystems();
    println!("{count} kills, seed {seed}, on {}", filesystems.join(", "));
    let (fresh, copied) = (killer.whole(OPTIONS), killer.whole(OPTIONS));
    let crashed = killer.whole(CRASH).saturating_sub(copied);
    let mut kills: BTreeMap<Victim, BTreeMap<String, u64>> = BTreeMap::new();
    let (mut done, mut missed, mut failed) = (0, 0, 0);
    let first = killer.any(VICTIMS.len());
    // Length of a run now, in percent of a run at the start: the machine may have become slower or faster.
    let mut share = 100u32;
    while done < count {
        let strike = Strike {
            victim: VICTIMS[(first + done as usize) % VICTIMS.len()],
            target: filesystems[killer.any(filesystems.len())],
            percent: killer.any(110) as u64,
            crashes: killer.any(3) == 0,
        };
        // Sometimes the data have to be loaded before.
        let is_fresh = killer.any(5) == 0;
        if is_fresh {
            killer.scene.value("SELECT fsbench.drop_prepared_data()");
        }
        let usual = if is_fresh { fresh } else { copied };
        let whole = (usual + crashed * u32::from(strike.crashes)) * share / 100;
        match killer.round(strike, whole) {
            Some(status) => {
                done += 1;
                let is_in_time = status.starts_with("failed");
                failed += u64::from(is_in_time);
                share = match is_in_time {
                    true => (share * 5 / 4).min(100),
                    false => share * 4 / 5,
                };
                println!("{done}: {strike:?}: {status}");
                *kills
                    .entry(strike.victim)
                    .or_default()
                    .entry(status)
                    .or_default() += 1;
            }
            None => {
                missed += 1;
                share = share * 4 / 5;
            }
        }
        assert!(missed <= 10 + 2 * count, "the victims are never there");
    }
    for (victim, endings) in &kills {
        println!(
            "{victim:?}: {} kills {endings:?}",
            endings.values().sum::<u64>()
        );
    }
    println!("{missed} more came too late");
    // Otherwise it is no test of anything.
    assert!(failed * 4 >= count, "{kills:?}");
}
