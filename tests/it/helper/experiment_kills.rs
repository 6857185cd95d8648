//! Kills of the processes that an experiment needs, at random moments: it goes on by itself, counts no run twice, and loses no block.

use super::scene::Scene;
use crate::common::{execute, row, rows};
use pgfsbench_core::random::{Purpose, Stream};
use pgfsbench_tests::{LONG, Leaves, Signal, kills, wait_until};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const TEST: &str = "after_kills_at_random_moments_an_experiment_goes_on_and_counts_no_run_twice";

/// Two targets: each block has two runs.
const EXPERIMENT: &str = r#"max_blocks => 12, scale => 1, clients => 1, transactions => 20, warmup => '0',
    options => '{"wait_for_helper_ms": 600000}'"#;

const MEASURED: &str = "SELECT count(*) FROM fsbench.experiment_run WHERE outcome = 'measured'";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Postmaster,
    Helper,
    Coordinator,
    Conductor,
    Janitor,
}

use Victim::*;

const VICTIMS: [Victim; 5] = [Postmaster, Helper, Coordinator, Conductor, Janitor];

impl Victim {
    /// As the process is called; none is a child of the server otherwise.
    fn title(self) -> Option<&'static str> {
        match self {
            Postmaster | Helper => None,
            Coordinator => Some("postgres: fsbench coordinator"),
            Conductor => Some("postgres: fsbench conductor"),
            Janitor => Some("postgres: fsbench janitor"),
        }
    }
}

/// Kills it; false if it is not there at this moment.
fn kill(scene: &mut Scene, victim: Victim) -> bool {
    let server = &scene.bench.server;
    match victim {
        Postmaster => {
            server.kill();
            server.start_again();
            true
        }
        Helper => {
            scene.end_helper(Signal::KILL);
            scene.serve_with(&[]);
            true
        }
        Coordinator | Conductor | Janitor => {
            let title = victim.title().expect("a child of the server");
            // A conductor is there for the moments between two runs only.
            let patience = match victim {
                Conductor => Duration::from_secs(5),
                _ => Duration::ZERO,
            };
            let since = Instant::now();
            let found = loop {
                let mut processes = server.processes().into_iter();
                let found = processes.find(|process| process.title.starts_with(title));
                match found {
                    None if since.elapsed() < patience => sleep(Duration::from_millis(1)),
                    found => break found,
                }
            };
            let Some(found) = found else {
                return false;
            };
            let postmaster = server.postmaster();
            if !server.try_signal(found.pid, Signal::KILL) {
                return false;
            }
            // Until then the postmaster still takes connections that it will break.
            wait_until("the postmaster has seen it", LONG, || {
                (!Path::new(&format!("/proc/{}", found.pid)).exists()).then_some(())
            });
            server.settle(postmaster);
            true
        }
    }
}

/// An experiment that was cut off ten times in one place says so, and is paused until a user resumes it. Whether it was.
fn goes_on(scene: &Scene, name: &str) -> bool {
    let told = scene.value(&format!(
        "SELECT status || '|' || coalesce(status_reason, '') FROM fsbench.experiments WHERE experiment = '{name}'"
    ));
    let is_cut_off = told.starts_with("paused|") && told.contains("were cut off");
    if is_cut_off {
        println!("{name}: {told}");
        scene.value(&format!("SELECT fsbench.resume_experiment('{name}')"));
    }
    is_cut_off
}

/// A finished experiment has each run of each block measured once, whatever was interrupted.
fn is_whole(scene: &Scene, name: &str) {
    let mut client = scene.bench.client();
    execute(
        &mut client,
        &format!("CALL fsbench.wait_experiment('{name}')"),
    );
    let told = row(
        &mut client,
        &format!(
            "SELECT status, block, coalesce(status_reason, '') FROM fsbench.experiments WHERE experiment = '{name}'"
        ),
    );
    let made = rows(
        &mut client,
        &format!(
            "SELECT x.outcome, count(*), string_agg(DISTINCT coalesce(x.why, ''), '; ') \
             FROM fsbench.experiment_run x JOIN fsbench.experiment USING (experiment_id) \
             WHERE experiment = '{name}' GROUP BY x.outcome ORDER BY 1"
        ),
    );
    let blocks = told
        .strip_prefix("done|")
        .and_then(|rest| rest.split('|').next()?.parse::<u32>().ok())
        .unwrap_or_else(|| panic!("{told}; {made:#?}"));
    let measured = rows(
        &mut client,
        &format!(
            "SELECT x.block, x.target_number FROM fsbench.experiment_run x JOIN fsbench.experiment USING (experiment_id) \
             WHERE experiment = '{name}' AND x.outcome = 'measured' ORDER BY 1, 2"
        ),
    );
    let wanted: Vec<String> = (1..=blocks)
        .flat_map(|block| (0..2).map(move |number| format!("{block}|{number}")))
        .collect();
    assert!(blocks >= 3, "{told}");
    assert_eq!(measured, wanted, "{told}; {made:#?}");
}

#[test]
#[ignore = "`make soak` has it"]
fn after_kills_at_random_moments_an_experiment_goes_on_and_counts_no_run_twice() {
    let (count, seed) = kills();
    let Some(mut scene) = Scene::new(TEST, &[("restart_after_crash", "on")], "") else {
        return;
    };
    let mut client = scene.bench.client();
    for target in ["a", "b"] {
        execute(
            &mut client,
            &format!(
                "SELECT fsbench.create_target('{target}', filesystem => 'ext4', image_size => '1GB', image_sparse => true)"
            ),
        );
    }
    drop(client);
    let mut random = Stream::new(seed, 0, Purpose::Measure);
    println!("{count} kills, seed {seed}");
    let mut killed: BTreeMap<Victim, u64> = BTreeMap::new();
    // When the helper was killed for the last time.
    let mut measured = None;
    let (mut done, mut experiments) = (0, 0);
    while done < count {
        experiments += 1;
        let name = format!("e{experiments}");
        let begin = format!("SELECT fsbench.experiment('{name}', '{{a,b}}', {EXPERIMENT})");
        scene.value(&begin);
        let on = format!(
            "SELECT status IN ('queued', 'running') FROM fsbench.experiments WHERE experiment = '{name}'"
        );
        while done < count && (scene.value(&on) == "t" || goes_on(&scene, &name)) {
            // Any moment will do.
            sleep(Duration::from_millis(random.range(0, 2000) as u64));
            let victim = VICTIMS[random.range(0, VICTIMS.len() as i64 - 1) as usize];
            if victim == Helper {
                // A run that has failed is made again once: the helper does not die in both.
                let now = scene.value(MEASURED);
                if measured.replace(now.clone()) == Some(now) {
                    continue;
                }
            }
            if kill(&mut scene, victim) {
                done += 1;
                *killed.entry(victim).or_default() += 1;
                println!("{done}: {victim:?} in {name}");
            }
        }
        goes_on(&scene, &name);
        is_whole(&scene, &name);
        scene.nothing_is_left(&name);
    }
    println!("{killed:?} in {experiments} experiments");
}
