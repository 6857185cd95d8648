//! iostat of sysstat during a run: its reports of a device, and when each of them was seen.

use crate::bracket::{EDGE, epoch};
use pgfsbench_tests::{LONG, wait_until};
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// One report each second. It ends with the test, also with one that fails.
pub struct Iostat {
    child: Child,
    reader: Option<JoinHandle<()>>,
    /// When it was started.
    began: f64,
    /// The times at which bytes had come, each with the byte.
    seen: Arc<Mutex<Vec<(f64, u8)>>>,
}

/// A report: when it came, and its columns.
type Report = (f64, Value);

impl Iostat {
    /// Starts iostat for this device; None where there is no iostat.
    pub fn start(device: &str) -> Option<Self> {
        // stdbuf starts where iostat is missing.
        Command::new("iostat").arg("-V").output().ok()?;
        let began = epoch();
        let mut child = Command::new("stdbuf")
            .args(["-o0", "iostat", "-x", "-y", "-o", "JSON", "-d", device, "1"])
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut stdout = child.stdout.take().expect("a pipe");
        let seen: Arc<Mutex<Vec<(f64, u8)>>> = Arc::default();
        let sink = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut buffer) {
                let now = epoch();
                let mut sink = sink.lock().expect("no other writer");
                sink.extend(buffer[..n].iter().map(|byte| (now, *byte)));
            }
        });
        Some(Self {
            child,
            reader: Some(reader),
            began,
            seen,
        })
    }

    /// Ends it once it has reported on all that was until now: all that it has reported.
    pub fn end(mut self) -> Reports {
        let before = self.reports().len();
        wait_until("iostat reports once more", LONG, || {
            (self.reports().len() > before).then_some(())
        });
        self.kill();
        let reader = self.reader.take().expect("it reads until now");
        reader.join().expect("its output ends");
        Reports {
            began: self.began,
            reports: self.reports(),
        }
    }

    /// Those that are complete.
    fn reports(&self) -> Vec<Report> {
        let seen = self.seen.lock().expect("the other writer does not panic");
        let bytes: Vec<u8> = seen.iter().map(|(_, byte)| *byte).collect();
        let text = String::from_utf8(bytes).expect("text");
        // Each device's line is an object of its own.
        let starts = text.match_indices("{\"disk_device\"");
        let reports = starts.filter_map(|(start, _)| {
            let length = text[start..].find('}')? + 1;
            let report = serde_json::from_str(&text[start..start + length]).expect("an object");
            Some((seen[start + length - 1].0, report))
        });
        reports.collect()
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Iostat {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Rounding error of a column of two decimals.
const ROUNDED: f64 = 0.005;

pub struct Reports {
    /// When iostat was started.
    began: f64,
    reports: Vec<Report>,
}

impl Reports {
    /// The least and the greatest count in the window, by whole reports; the count of a report's second is the product of these
    /// columns, which are rounded: of many short flushes by some per cent.
    pub fn counted(&self, window: (f64, f64), columns: &[&str]) -> (f64, f64) {
        let (mut least, mut most) = (0.0, 0.0);
        let mut seen = self.began;
        for (before, (end, report)) in self.reports.iter().enumerate() {
            // It is of a second; on a busy machine of more, or of less where the one before was late. That one was made no later than it was seen, and no
            // sooner than a second after the one before it.
            let shortest = f64::min(end - seen, 1.0);
            let longest = f64::max(end - self.began - before as f64, 1.0);
            seen = *end;
            let column = |name: &str| {
                let value = &report[name];
                value
                    .as_f64()
                    .unwrap_or_else(|| panic!("no {name} in {report}"))
            };
            let product = |by: f64| -> f64 {
                let factors = columns.iter().map(|name| (column(name) + by).max(0.0));
                factors.product()
            };
            if *end > window.0 - EDGE && *end - longest < window.1 + EDGE {
                most += product(ROUNDED) * longest;
            }
            if *end - longest > window.0 + EDGE && *end < window.1 {
                least += product(-ROUNDED) * shortest;
            }
        }
        (least, most)
    }
}
