//! The one place that runs programs: by absolute path, without a shell, with a clean environment, nothing to read, a
//! deadline, and what they print kept up to a limit.

use pgfsbench_core::helper::error_excerpt::error_excerpt;
use pgfsbench_core::helper::filesystem::DIRECTORIES;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The bytes that are kept of a program's output.
const LONGEST_OUTPUT: usize = 8 << 10;

/// The deadline of programs that take a moment unless the system is in trouble.
pub const SHORT: Duration = Duration::from_secs(120);
/// The deadline of mkfs, which may discard a large device first.
pub const LONG: Duration = Duration::from_secs(3600);

/// The absolute path of a program of the system.
pub fn find(name: &str) -> Option<PathBuf> {
    DIRECTORIES
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.is_file())
}

/// The absolute path of a program; the refusal names the package that has it.
pub fn require(name: &str, package: &str) -> Result<PathBuf, Refusal> {
    find(name).ok_or_else(|| {
        Refusal::new(Kind::NotInThisState, format!("there is no program {name}"))
            .detail(format!("It was looked for in {}.", DIRECTORIES.join(", ")))
            .hint(format!("Install the package {package}."))
    })
}

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Outcome {
    pub argv: Vec<String>,
    pub ms: f64,
    /// None if it was killed by a signal.
    pub exit_code: Option<i32>,
    /// Both its outputs.
    pub output: String,
    /// Why it was killed, and what has become of it then.
    pub killed: Option<String>,
}

impl Outcome {
    pub fn succeeded(&self) -> bool {
        self.exit_code == Some(0)
    }

    pub fn report(&self, step: &str) -> Report {
        Report {
            step: step.to_owned(),
            argv: self.argv.clone(),
            ms: self.ms,
            exit_code: self.exit_code,
            output: self.with_killed(&self.output),
        }
    }

    /// Words of the program, and why it was killed behind them.
    fn with_killed(&self, words: &str) -> String {
        match &self.killed {
            Some(why) if words.is_empty() => why.clone(),
            Some(why) => format!("{}\n{why}", words.trim_end_matches('\n')),
            None => words.to_owned(),
        }
    }

    /// Why it failed, in the program's own words; all of them are in the report.
    pub fn refusal(&self) -> Refusal {
        let name = self.argv[0].rsplit('/').next().unwrap_or("");
        let how = match self.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "killed".to_owned(),
        };
        Refusal::new(Kind::System, format!("{name} failed ({how})")).detail(format!(
            "{}\n{}",
            self.argv.join(" "),
            self.with_killed(&error_excerpt(&self.output))
        ))
    }
}

/// After SIGKILL a program ends at once, unless it is in the kernel and waits for a device.
const GRACE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// True once the helper must end: programs that make something are not waited for any more.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// From now on programs that make something are killed; those that undo it are not.
pub fn stop() {
    STOPPING.store(true, Ordering::SeqCst);
}

/// True once the helper must end.
pub fn is_stopping() -> bool {
    STOPPING.load(Ordering::SeqCst)
}

/// When a program may be killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    AtDeadline,
    /// At its deadline, or when the helper must end.
    OrStopping,
}

/// Runs a program that only tells something to its end. Only that it could not be started is an error.
pub fn run(argv: &[String], deadline: Duration) -> Result<Outcome, Refusal> {
    run_with(argv, deadline, Stdio::null(), When::AtDeadline)
}

/// Runs a program that changes something. It has the lock of the state directory as its input, an empty file. So no other process gets the lock
/// before the program has ended, even when this process is killed.
pub fn run_locked(argv: &[String], deadline: Duration, lock: &File) -> Result<Outcome, Refusal> {
    run_with(argv, deadline, shared(argv, lock)?, When::AtDeadline)
}

/// Runs a program that makes something, with the lock. It is killed when the helper must end.
pub fn run_making(argv: &[String], deadline: Duration, lock: &File) -> Result<Outcome, Refusal> {
    run_with(argv, deadline, shared(argv, lock)?, When::OrStopping)
}

fn shared(argv: &[String], lock: &File) -> Result<Stdio, Refusal> {
    lock.try_clone().map(Stdio::from).map_err(|e| {
        Refusal::new(Kind::System, format!("could not run {}", argv[0])).detail(format!("{e}."))
    })
}

fn run_with(
    argv: &[String],
    deadline: Duration,
    input: Stdio,
    when: When,
) -> Result<Outcome, Refusal> {
    assert!(argv[0].starts_with('/'), "programs have absolute paths");
    let began = Instant::now();
    let could_not = |e: std::io::Error| {
        Refusal::new(Kind::System, format!("could not run {}", argv[0])).detail(format!("{e}."))
    };
    let (reader, writer) = std::io::pipe().map_err(could_not)?;
    let mut command = Command::new(&argv[0]);
    command
        .args(&argv[1..])
        .env_clear()
        .env("PATH", DIRECTORIES.join(":"))
        .env("LC_ALL", "C")
        .current_dir("/")
        .process_group(0)
        .stdin(input)
        .stdout(writer.try_clone().map_err(could_not)?)
        .stderr(writer);
    let mut child = command.spawn().map_err(could_not)?;
    // The command holds the pipe's other end open.
    drop(command);
    let output = keep(reader);

    let is_stopping = || when == When::OrStopping && STOPPING.load(Ordering::SeqCst);
    let mut killed = None;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(could_not)? {
            break Some(status);
        }
        match killed {
            None if began.elapsed() > deadline || is_stopping() => {
                if let Some(group) = Pid::from_raw(child.id() as i32) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                killed = Some(Instant::now());
            }
            Some(at) if at.elapsed() > GRACE => break None,
            _ => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    // Something that it left in the background may hold the pipe open. This process may have stood still: that is one of these waits.
    let waits = if status.is_some() { 100 } else { 0 };
    let output = (0..=waits)
        .find_map(|_| output.recv_timeout(Duration::from_millis(20)).ok())
        .unwrap_or_default();
    let why = killed.map(|_| match is_stopping() {
        true => "killed: pgfsbench-helper is being stopped".to_owned(),
        false => format!("killed after {} s", deadline.as_secs()),
    });
    // A program that has not ended keeps the lock, so no other process touches the device meanwhile.
    let killed = why.map(|why| match status {
        Some(_) => why,
        None => format!(
            "{why}\nprocess {} has not ended since: it waits in the kernel, for a device that does not answer",
            child.id()
        ),
    });
    Ok(Outcome {
        argv: argv.to_vec(),
        ms: began.elapsed().as_secs_f64() * 1000.0,
        exit_code: status.and_then(|status| status.code()),
        output,
        killed,
    })
}

/// Reads everything, so that the program never waits, and keeps the beginning.
fn keep(mut reader: PipeReader) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = reader.read(&mut buffer) {
            let room = LONGEST_OUTPUT - kept.len();
            kept.extend_from_slice(&buffer[..n.min(room)]);
        }
        // A NUL cannot be stored in a database.
        let text = String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}");
        let _ = sender.send(text);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, deadline: Duration) -> Outcome {
        run(&["/bin/sh", "-c", script].map(String::from), deadline).unwrap()
    }

    #[test]
    fn output_exit_code_and_environment() {
        let outcome = sh("env; pwd; echo oops >&2; exit 3", SHORT);
        assert_eq!(outcome.exit_code, Some(3));
        let mut lines: Vec<&str> = outcome.output.lines().collect();
        lines.retain(|line| {
            !["PWD=", "SHLVL=", "_=", "OLDPWD="]
                .iter()
                .any(|v| line.starts_with(v))
        });
        assert_eq!(lines.len(), 4, "{lines:?}");
        for line in [
            "LC_ALL=C",
            "PATH=/usr/sbin:/sbin:/usr/bin:/bin",
            "/",
            "oops",
        ] {
            assert!(lines.contains(&line), "{lines:?}");
        }
        assert_eq!(outcome.refusal().message, "sh failed (exit code 3)");
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let outcome = sh("sleep 60 | sleep 60", Duration::from_millis(100));
        assert_eq!(outcome.exit_code, None);
        assert_eq!(outcome.killed.as_deref(), Some("killed after 0 s"));
        let argv = outcome.argv.join(" ");
        let detail = outcome.refusal().detail;
        assert_eq!(detail, Some(format!("{argv}\nkilled after 0 s")));
        assert_eq!(outcome.report("step").output, "killed after 0 s");
        assert!(outcome.ms < 30_000.0);
    }

    /// A writer to a frozen filesystem waits in the kernel, where no signal reaches it.
    #[test]
    fn what_cannot_be_killed_is_not_waited_for_and_keeps_the_lock() {
        use rustix::fs::{FlockOperation, flock};
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/loop-control").exists() {
            // Past the harness, for tools/check, which counts such lines.
            let line = "\nskipped: what_cannot_be_killed_is_not_waited_for_and_keeps_the_lock: needs root and loop devices\n";
            let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), line.as_bytes());
            return;
        }
        let place = tempfile::TempDir::with_prefix("pgfsbench-frozen.").unwrap();
        let (image, below) = (place.path().join("image"), place.path().join("below"));
        std::fs::create_dir(&below).unwrap();
        // Whatever becomes of this test: what stays frozen holds everybody who looks.
        let script = "cat > /dev/null; fsfreeze -u \"$0\"; umount --lazy \"$0\"";
        let mut thaw = Command::new("setsid");
        thaw.args(["sh", "-c", script]).arg(&below);
        let mut thaw = thaw.stdin(Stdio::piped()).spawn().unwrap();
        let (image, below) = (image.display(), below.display());
        let prepared = sh(
            &format!(
                "truncate -s 32M {image} && mkfs.ext4 -q {image} && mount -o loop {image} {below} && fsfreeze -f {below}"
            ),
            SHORT,
        );
        assert!(prepared.succeeded(), "{}", prepared.output);
        let file = tempfile::NamedTempFile::new().unwrap();
        let lock = File::open(file.path()).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        let argv = ["/bin/sh", "-c", &format!("exec touch {below}/x")].map(String::from);
        let outcome = run_locked(&argv, Duration::from_millis(100), &lock).unwrap();
        drop(lock);
        let try_lock = || {
            flock(
                File::open(file.path()).unwrap(),
                FlockOperation::NonBlockingLockExclusive,
            )
        };
        let kept = try_lock();
        drop(thaw.stdin.take());
        assert!(thaw.wait().unwrap().success());
        let began = Instant::now();
        while try_lock().is_err() && began.elapsed() < SHORT {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(kept, Err(rustix::io::Errno::WOULDBLOCK));
        assert_eq!(outcome.exit_code, None);
        let killed = outcome.killed.unwrap_or_default();
        assert!(killed.contains("has not ended"), "{killed}");
        assert_eq!(try_lock(), Ok(()));
    }

    #[test]
    fn long_output_is_cut_and_stops_nobody() {
        let outcome = sh("head -c 1000000 /dev/zero", SHORT);
        assert!(outcome.succeeded());
        assert_eq!(outcome.output.chars().count(), LONGEST_OUTPUT);
    }

    #[test]
    fn the_lock_is_held_until_the_last_program_has_ended() {
        use rustix::fs::{FlockOperation, flock};
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut gate = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(file.path()).unwrap();
        let lock = open();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        // The program leaves a process in the background, which lives until the gate is opened.
        let script = format!(
            "exec 3<&0; (until [ -s {} ]; do sleep 0.01; done) >/dev/null 2>&1 &",
            gate.path().display()
        );
        let argv = ["/bin/sh", "-c", &script].map(String::from);
        assert!(run_locked(&argv, SHORT, &lock).unwrap().succeeded());
        // As if this process had been killed.
        drop(lock);
        let try_lock = || flock(open(), FlockOperation::NonBlockingLockExclusive);
        assert_eq!(try_lock(), Err(rustix::io::Errno::WOULDBLOCK));
        std::io::Write::write_all(&mut gate, b"open").unwrap();
        let began = Instant::now();
        while try_lock().is_err() {
            assert!(began.elapsed() < SHORT);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
