//! Runs on filesystems that the helper makes: a server with the extension, a helper beside it, and all that may not be left.

use super::bench::{Bench, Serving};
use super::processes::{self, Process};
use crate::common::{row, rows};
use crate::luck::bench::leftovers;
use crate::luck::target::shared_memory_of;
use pgfsbench_tests::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long clearing up may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of disks whose block settings are changed, in kilobytes: nobody's default.
pub const READ_AHEAD: &str = "72";

pub struct Scene {
    pub bench: Bench,
    pub serving: Option<Serving>,
}

/// What outlives a target server that is killed, if nobody takes it away; and its disks.
#[derive(Default)]
pub struct Traces {
    segments: BTreeSet<String>,
    files: BTreeSet<String>,
    devices: BTreeSet<String>,
}

fn read_ahead(device: &str) -> String {
    let name = device.trim_start_matches("/dev/");
    let path = format!("/sys/block/{name}/queue/read_ahead_kb");
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn segments() -> BTreeSet<String> {
    let table = fs::read_to_string("/proc/sysvipc/shm").expect("the kernel's table");
    let numbers = table.lines().filter_map(|l| l.split_whitespace().nth(1));
    numbers.map(str::to_owned).collect()
}

impl Scene {
    /// With a helper that serves, and these lines before the others of its configuration.
    pub fn new(test: &str, settings: &[(&str, &str)], configuration: &str) -> Option<Self> {
        let bench = Bench::with_extension(test, settings)?;
        let usual = bench.usual("postgres");
        bench.lab.configure(&format!("{configuration}{usual}"));
        let serving = Some(bench.serve_now());
        Some(Self { bench, serving })
    }

    /// Ends the helper.
    pub fn end_helper(&mut self, signal: Signal) {
        if let Some(mut serving) = self.serving.take() {
            serving.end(signal);
        }
    }

    /// Another helper, with these options.
    pub fn serve_with(&mut self, options: &[&str]) {
        self.end_helper(Signal::TERM);
        self.serving = Some(self.bench.serve_with(options));
    }

    pub fn value(&self, sql: &str) -> String {
        row(&mut self.bench.client(), sql)
    }

    /// `start` with these arguments; the run's number.
    pub fn start(&self, arguments: &str) -> String {
        self.value(&format!("SELECT fsbench.start({arguments})"))
    }

    /// How a run has ended, once it has.
    pub fn ending(&self, run: &str) -> String {
        let mut client = self.bench.client();
        crate::common::execute(&mut client, &format!("CALL fsbench.wait({run})"));
        self.told(run)
    }

    /// What its row says.
    pub fn told(&self, run: &str) -> String {
        let told = "concat_ws('; ', status || coalesce(' ' || error_code, ''), error, error_detail, error_hint)";
        self.value(&format!(
            "SELECT {told} FROM fsbench.run_log WHERE run_id = {run}"
        ))
    }

    pub fn wait_for_phase(&self, phase: &str) {
        let is_there =
            format!("SELECT coalesce(bool_and(phase = '{phase}'), false) FROM fsbench.progress");
        self.bench.server.wait_for("postgres", &is_there, PATIENCE);
    }

    /// Processes of target servers, those that load too.
    pub fn target_processes(&self) -> Vec<Process> {
        let places: [PathBuf; 2] = [
            self.bench.lab.path("mnt"),
            self.bench.server.data().join("pgfsbench"),
        ];
        places
            .iter()
            .flat_map(|place| processes::below(place))
            .collect()
    }

    pub fn target_postmaster(&self) -> Option<i32> {
        let mut there = self.target_processes().into_iter();
        there.find(Process::is_postmaster).map(|p| p.pid)
    }

    pub fn coordinator(&self) -> Option<i32> {
        let mut processes = self.bench.server.processes().into_iter();
        let coordinator =
            processes.find(|p| p.title.starts_with("postgres: fsbench coordinator"))?;
        Some(coordinator.pid)
    }

    /// What is there now that could be left.
    pub fn traces(&self) -> Traces {
        let mut traces = Traces::default();
        traces.devices.extend(self.bench.lab.loops());
        for pid in self.target_processes().iter().map(|p| p.pid) {
            let Ok(data) = fs::read_link(format!("/proc/{pid}/cwd")) else {
                continue;
            };
            if let Some((segment, files)) = shared_memory_of(&data, pid) {
                traces.segments.insert(segment);
                traces.files.extend(files);
            }
        }
        traces
    }

    /// In words; nothing is waited for.
    pub fn left(&self, traces: &Traces) -> Vec<String> {
        let lab = &self.bench.lab;
        let config = self.bench.server.config("postgres", "postgres");
        let Ok(mut client) = config.connect(postgres::NoTls) else {
            return vec!["the asking server takes no connection".into()];
        };
        let mut left = leftovers(&self.bench.server, &mut client, &[]);
        left.extend(lab.mounts().iter().map(|mount| format!("mount {mount}")));
        left.extend(
            lab.loops()
                .iter()
                .map(|device| format!("loop device {device}")),
        );
        for directory in ["images", "mnt", "state/journal"] {
            let names = lab.list(directory);
            left.extend(names.iter().map(|name| format!("{directory}/{name}")));
        }
        for process in self.target_processes() {
            left.push(format!("process {} {}", process.name, process.title));
        }
        let is_there = segments();
        let segments = traces.segments.intersection(&is_there);
        left.extend(segments.map(|segment| format!("segment {segment}")));
        let files = traces.files.iter().filter(|file| Path::new(file).exists());
        left.extend(files.cloned());
        for device in &traces.devices {
            if read_ahead(device) == READ_AHEAD {
                left.push(format!("read_ahead_kb of {device}"));
            }
        }
        left
    }

    pub fn nothing_is_left(&self, after: &str) {
        self.nothing_is_left_of(&Traces::default(), after);
    }

    pub fn nothing_is_left_of(&self, traces: &Traces, after: &str) {
        let began = Instant::now();
        loop {
            let left = self.left(traces);
            if left.is_empty() {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "after {after}, these are left: {left:#?}\nlog of the helper:\n{}\njobs: {:#?}",
                self.bench.log(),
                rows(
                    &mut self.bench.client(),
                    "SELECT job_id, run_id, target, action, status, error, error_detail \
                     FROM fsbench.helper_job ORDER BY job_id DESC LIMIT 6"
                )
            );
            sleep(Duration::from_millis(20));
        }
    }
}
