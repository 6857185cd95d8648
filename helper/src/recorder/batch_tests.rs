//! Whole batches without a filesystem: clients write to a recorded device themselves, and each cut is judged by the rows that a recovery would find
//! there. What the recorder, the choice of cuts and the verdict make of it is as in a run.

use super::device::Device;
use pgfsbench_core::helper::record::{Cut, CutStop, Point as At, Window};
use pgfsbench_core::workload::power_cut::{
    Batch, Filesystem, History, PAGES, Pages, Part, Point, Survivors, judge, judge_pages,
};

/// Bytes of a record of the log: a sector, so that no cut tears it.
const RECORD: usize = 512;
/// Commits of a client.
const COMMITS: usize = 120;
/// Bytes of a page of the table.
const PAGE: usize = 8192;
/// Pages of the table. The verdict counts more rows, of which these pages stand for the last.
const TABLE: u64 = 16;
/// Transactions that write all pages.
const UPDATES: u8 = 3;
/// The log of each part is this far from the next one.
const LOG_BYTES: u64 = (4 * COMMITS * RECORD) as u64;
/// The number of the last transaction that wrote pages, as its log has it.
const NUMBER_AT: u64 = 8 * LOG_BYTES;
/// The pages of the table.
const PAGES_AT: u64 = NUMBER_AT + PAGE as u64;
/// Copies of the pages for each transaction, which flushes them before its number.
const COPIES_AT: u64 = PAGES_AT + TABLE * PAGE as u64;
const DEVICE_BYTES: u64 = COPIES_AT + (UPDATES as u64 + 1) * TABLE * PAGE as u64;

/// A device that is recorded, with a clock that runs with its operations.
struct Scene {
    device: Device,
    now_ns: u64,
}

impl Scene {
    fn new() -> Self {
        let image = tempfile::tempfile().unwrap();
        image.set_len(DEVICE_BYTES).unwrap();
        let record = tempfile::tempfile().unwrap();
        Self {
            device: Device::new(vec![image], record, 1 << 30).unwrap(),
            now_ns: 0,
        }
    }

    fn tick(&mut self) -> u64 {
        self.now_ns += 1;
        self.now_ns
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let ns = self.tick();
        self.device.write(0, offset, data, ns).unwrap();
    }

    fn flush(&mut self) {
        let ns = self.tick();
        self.device.flush(0, ns).unwrap();
    }

    fn read(&self, offset: u64, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        assert_eq!(self.device.read(0, offset, &mut data), Ok(bytes));
        data
    }

    /// Two clients commit in turn to one log. Without a flush nothing of it is durable.
    fn commit(&mut self, part: Part, has_flushes: bool) -> History {
        let mut times = vec![Vec::new(), Vec::new()];
        for place in 0..2 * COMMITS {
            let client = place % 2;
            let record = [client as u8 + 1; RECORD];
            self.write(log_at(part) + (place * RECORD) as u64, &record);
            if has_flushes {
                self.flush();
            }
            times[client].push(self.tick());
        }
        History::of(times)
    }

    /// A recovery reads the log up to the first record that is not there.
    fn survivors(&self, part: Part, acknowledged: &[u64]) -> Vec<Survivors> {
        let log = self.read(log_at(part), 2 * COMMITS * RECORD);
        let there = log.chunks(RECORD).take_while(|record| record[0] != 0);
        let clients: Vec<u8> = there.map(|record| record[0] - 1).collect();
        let of_client = |client: u32| {
            let rows = clients.iter().filter(|c| u32::from(**c) == client).count() as u64;
            let acknowledged = acknowledged[client as usize];
            Survivors {
                client,
                rows,
                numbers: rows,
                highest: rows,
                kept: rows.min(acknowledged),
                first_missing: (rows < acknowledged).then_some(rows + 1),
            }
        };
        (0..2).map(of_client).collect()
    }

    /// Each transaction writes all pages in place, after its log. With copies, these are in the log, too.
    fn update(&mut self, has_copies: bool) -> History {
        let mut times = Vec::new();
        for number in 1..=UPDATES {
            if has_copies {
                self.write_table(copies_at(number), number);
                self.flush();
            }
            self.write(NUMBER_AT, &[number; RECORD]);
            self.flush();
            times.push(self.tick());
            self.write_table(PAGES_AT, number);
            self.flush();
        }
        History::of(vec![times])
    }

    fn write_table(&mut self, at: u64, number: u8) {
        for place in 0..TABLE {
            self.write(at + place * PAGE as u64, &[number; PAGE]);
        }
    }

    /// A recovery repeats the last transaction of the log: on its copies, or on the pages, of which those that are torn lose their rows.
    fn pages(&self, has_copies: bool) -> Pages {
        let number = self.read(NUMBER_AT, RECORD)[0];
        let at = match has_copies {
            true => copies_at(number),
            false => PAGES_AT,
        };
        let table = self.read(at, TABLE as usize * PAGE);
        let is_torn = |page: &&[u8]| page.iter().step_by(RECORD).any(|byte| *byte != page[0]);
        let torn = table.chunks(PAGE).filter(is_torn).count() as u64;
        Pages {
            rows: PAGES - torn,
            lowest: number.into(),
            highest: number.into(),
        }
    }
}

fn copies_at(number: u8) -> u64 {
    COPIES_AT + u64::from(number) * TABLE * PAGE as u64
}

fn log_at(part: Part) -> u64 {
    part as u64 * LOG_BYTES
}

/// A batch of four parts with this many cuts of the first one. `keeps_promise`: whether the device of the tests is flushed.
fn batch(seed: u64, cuts: u32, keeps_promise: bool) -> Batch {
    let mut scene = Scene::new();
    let mut made = Vec::new();
    for part in [
        Part::Commits,
        Part::Pages,
        Part::FsyncOff,
        Part::FullPageWritesOff,
    ] {
        // Nothing of the part before is unflushed.
        scene.flush();
        if part == Part::FullPageWritesOff {
            // The log begins anew.
            scene.write(NUMBER_AT, &[0; RECORD]);
            scene.flush();
        }
        let from_ns = scene.now_ns;
        let history = match part {
            Part::Commits => scene.commit(part, keeps_promise),
            Part::FsyncOff => scene.commit(part, false),
            Part::Pages => scene.update(true),
            _ => scene.update(false),
        };
        let window = Window {
            cuts: part.cuts(cuts),
            from_ns: history.window().map_or(from_ns, |(first, _)| first),
            to_ns: scene.now_ns,
        };
        made.push((part, history, window));
    }
    let stop = CutStop {
        seed,
        windows: made.iter().map(|(.., window)| *window).collect(),
    };
    let end_ns = scene.tick();
    let recorded = scene.device.stop(&stop, end_ns);
    let mut points = recorded.points.into_iter();
    let mut batch = Batch::default();
    for (part, history, window) in &made {
        for (number, at) in (1..=window.cuts).zip(&mut points) {
            batch
                .points
                .push(cut(&mut scene, *part, history, (seed, number), at));
        }
    }
    batch
}

fn cut(
    scene: &mut Scene,
    part: Part,
    history: &History,
    (seed, number): (u64, u32),
    at: At,
) -> Point {
    let tear = part.tear(number);
    let cut = Cut {
        number,
        seed,
        entry: at.entry,
        tear,
    };
    scene.device.cut(&cut).expect("the recording has ended");
    let judged = match part {
        Part::Commits | Part::FsyncOff => {
            let survivors = scene.survivors(part, &history.before(at.ns));
            judge(history, at.ns, &survivors)
        }
        Part::Pages => judge_pages(history, at.ns, scene.pages(true)),
        _ => judge_pages(history, at.ns, scene.pages(false)),
    };
    scene.device.end_cut().unwrap();
    let mut point = Point {
        part: part.as_str(),
        number,
        entry: at.entry,
        unflushed: at.unflushed,
        tear: tear.unit(),
        acknowledged: judged.acknowledged,
        ..Point::default()
    };
    point.take(judged);
    point
}

/// Outcomes of the parts on a filesystem that overwrites in place, and has no option for barriers.
fn outcomes(batch: &Batch) -> Vec<&'static str> {
    let xfs = Filesystem {
        name: "xfs".into(),
        mount_options: String::new(),
        is_logged: false,
    };
    let summaries = batch.summaries(&xfs).into_iter();
    summaries.map(|summary| summary.outcome).collect()
}

#[test]
fn in_a_hundred_batches_tests_pass_and_controls_fail() {
    for seed in 1..=100 {
        let batch = batch(seed, 20, true);
        assert_eq!(
            outcomes(&batch),
            ["passed", "passed", "failed", "failed"],
            "seed {seed}: {:?}",
            batch.points
        );
    }
}

#[test]
fn a_device_that_is_not_flushed_loses_commits_in_every_batch() {
    for seed in 1..=20 {
        assert_eq!(
            outcomes(&batch(seed, 20, false))[0],
            "failed",
            "seed {seed}"
        );
    }
}

#[test]
fn a_cut_is_repeated_by_its_number() {
    let shown = |batch: Batch| -> Vec<String> {
        let points = batch.points.iter();
        points.map(|point| format!("{point:?}")).collect()
    };
    assert_eq!(shown(batch(7, 30, true)), shown(batch(7, 30, true)));
    assert_ne!(shown(batch(7, 30, true)), shown(batch(8, 30, true)));
}
