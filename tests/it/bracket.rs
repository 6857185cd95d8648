//! Readings of others while a run goes on: what they counted surely in its measured window, and surely around it. What the run
//! tells lies between.

use crate::common::{ending, row};
use pgfsbench_tests::{LONG, wait_until};
use postgres::Client;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Readings at four moments of a run.
pub struct Bracket<T> {
    /// Before its measured window.
    pub before: T,
    /// Inside of it, not at its very edges: a busy machine lets the sampler come late.
    pub inside: (T, T),
    /// After it.
    pub after: T,
    /// When the window began and ended, seconds since 1970.
    pub window: (f64, f64),
}

/// Seconds around the edges of the window in which an event may be on either side.
pub const EDGE: f64 = 1.0;

pub fn epoch() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a time after 1970").as_secs_f64()
}

/// Reads again and again while a run goes on, and keeps what is surely before, in, and after its measured window. Where no read fell into the window
/// of a busy machine, another run is made.
pub fn bracket<T: Copy>(
    client: &mut Client,
    start: &str,
    mut read: impl FnMut(&mut Client) -> T,
) -> (String, Bracket<T>) {
    wait_until("somebody looks into the window", LONG, || {
        try_bracket(client, start, &mut read)
    })
}

fn try_bracket<T: Copy>(
    client: &mut Client,
    start: &str,
    read: &mut impl FnMut(&mut Client) -> T,
) -> Option<(String, Bracket<T>)> {
    let first = read(client);
    let run = row(client, &format!("SELECT fsbench.start({start})"));
    let mut readings = Vec::new();
    let began = Instant::now();
    let is_over = format!("SELECT ended_at IS NOT NULL FROM fsbench.run_log WHERE run_id = {run}");
    let mut over = false;
    while !over {
        assert!(began.elapsed() < LONG, "the run has no end");
        over = row(client, &is_over) == "t";
        let from = epoch();
        let value = read(client);
        readings.push((from, value, epoch()));
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = ending(client, &run);
    assert_eq!(ended, "done");
    let window = row(
        client,
        &format!(
            "SELECT extract(epoch FROM measured_from), extract(epoch FROM measured_from) + \
               (SELECT sum(interval_ms) / 1000 FROM fsbench.sample s WHERE s.run_id = r.run_id) \
             FROM fsbench.result r WHERE run_id = {run}"
        ),
    );
    let (from, to) = window.split_once('|').expect("two times");
    let (from, to): (f64, f64) = (from.parse().expect("a time"), to.parse().expect("a time"));
    let mut before = readings.iter().filter(|r| r.2 < from - EDGE);
    let inside = |r: &&(f64, T, f64)| r.0 > from + EDGE && r.2 < to;
    let bracket = Bracket {
        before: before.next_back().map_or(first, |reading| reading.1),
        inside: (
            readings.iter().find(inside)?.1,
            readings.iter().rfind(inside)?.1,
        ),
        after: readings.last()?.1,
        window: (from, to),
    };
    Some((run, bracket))
}

/// Asserts that the reported figures lie between the counts inside the window and those around it, and that something happened.
pub fn assert_between<const N: usize>(
    names: [&str; N],
    told: [f64; N],
    seen: &Bracket<[u64; N]>,
    tolerance: f64,
) {
    for (i, what) in names.into_iter().enumerate() {
        let inside = (seen.inside.1[i] - seen.inside.0[i]) as f64;
        let outside = (seen.after[i] - seen.before[i]) as f64;
        let told = told[i];
        assert!(told > 0.0, "{what}: nothing told; {outside} around it");
        assert!(
            inside * (1.0 - tolerance) <= told && told <= outside * (1.0 + tolerance),
            "{what}: {inside} in the window, {outside} around it, {told} told"
        );
    }
}
