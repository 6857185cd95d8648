//! Runs on filesystems that the helper makes: a server with the extension, a helper beside it, and all that may not be left.

use super::bench::{Bench, Serving};
use super::lab::Lab;
use super::processes::{self, Process};
use crate::common::rows;
use crate::directory_target::shared_memory_of;
use pgfsbench_tests::{LONG, Leaves, Signal, TestServer};
use std::collections::BTreeSet;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Read-ahead of disks whose block settings are changed, in kilobytes: no kernel's default.
pub const READ_AHEAD: &str = "72";

pub struct Scene {
    pub bench: Bench,
    pub serving: Option<Serving>,
}

/// Things that outlive a target server that is killed, unless they are removed; and its disks.
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
        Self::of(Lab::new(test)?, settings, configuration)
    }

    pub fn of(lab: Lab, settings: &[(&str, &str)], configuration: &str) -> Option<Self> {
        let bench = Bench::of(lab, settings)?;
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

    /// Another helper, which is connected when this returns.
    pub fn serve_anew(&mut self) {
        let before = self.value("SELECT coalesce(max(pid), 0) FROM fsbench.helper_session");
        self.end_helper(Signal::TERM);
        self.serving = Some(self.bench.serve());
        let is_there = format!(
            "SELECT EXISTS (SELECT FROM fsbench.helper_session s JOIN pg_stat_activity USING (pid, backend_start) WHERE s.pid <> {before})"
        );
        self.bench.server.wait_for("postgres", &is_there, LONG);
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

    /// The things there now that could be left.
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

    /// Nor anything of what was there when these traces were taken.
    pub fn nothing_is_left_of(&self, traces: &Traces, after: &str) {
        Traced(self, traces).nothing_is_left(after);
    }
}

impl Deref for Scene {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.bench.server
    }
}

impl Leaves for Scene {
    fn left(&self) -> Vec<String> {
        let mut left = [self.bench.server.left(), self.bench.lab.left()].concat();
        let processes = self.target_processes();
        left.extend(
            processes
                .iter()
                .map(|p| format!("process {} {}", p.name, p.title)),
        );
        left
    }

    fn more_about_it(&self) -> String {
        const JOBS: &str = "SELECT job_id, run_id, target, action, status, error, error_detail \
             FROM fsbench.helper_job ORDER BY job_id DESC LIMIT 6";
        let jobs = rows(&mut self.bench.client(), JOBS);
        format!("log of the helper:\n{}\njobs: {jobs:#?}", self.bench.log())
    }
}

/// A scene with what outlives a target server that is killed.
struct Traced<'a>(&'a Scene, &'a Traces);

impl Leaves for Traced<'_> {
    fn left(&self) -> Vec<String> {
        let Self(scene, traces) = self;
        let mut left = scene.left();
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

    fn more_about_it(&self) -> String {
        self.0.more_about_it()
    }
}
