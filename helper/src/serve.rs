//! The root part of serving databases: for each of them a process that has become the servers' user, speaks with the database,
//! and sends typed orders over a socket pair. Here they are carried out, one at a time.

mod answers;
mod conversation;

use crate::backoff::Backoff;
use crate::child::{self, ChildSetup, Part};
use crate::config::Database;
use crate::engine::{Cleared, Engine, Hook};
use crate::exec;
use crate::output::{self, log};
use conversation::converse;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which a database process may leave an answer unread.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time for reading the last output of a process that has ended.
const UNTIL_SILENT: Duration = Duration::from_secs(2);
/// One that has lived for so long has had no trouble that lasts.
const LASTING: Duration = Duration::from_secs(120);

/// The time in which programs that were killed, and processes whose streams were closed, must end.
const GRACE: Duration = Duration::from_secs(15);

/// The time for telling the databases how jobs ended, when the helper must end.
const UNTIL_TOLD: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How many seconds a job may go on when the helper is to end, before what it runs is killed and what it made is undone
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    patience: u64,
    #[command(flatten)]
    pub hook: Hook,
    /// For tests: the program that speaks with the databases.
    #[arg(long, hide = true, default_value = child::OWN_PROGRAM)]
    database_program: PathBuf,
}

struct Shared {
    engine: Engine,
    /// Jobs that are being done.
    doing: AtomicUsize,
    /// Jobs that are over, and whose databases are being told.
    telling: AtomicUsize,
    stopping: AtomicBool,
    /// The user and group that database processes become.
    ids: (u32, u32),
    program: PathBuf,
    once: bool,
}

/// Counts as long as it lives.
struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    fn new(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves all databases until SIGTERM; or, once, until no job is left.
pub fn serve(engine: Engine, once: bool, options: &Options) -> Result<(), Refusal> {
    let databases = engine.config().database.clone();
    if databases.is_empty() {
        return Err(
            Refusal::new(Kind::NotInThisState, "the configuration names no database")
                .hint("Run: pgfsbench-helper setup --database NAME."),
        );
    }
    let ids = crate::probe::user::ids(&engine.config().server_user)?;
    if ids.0 == 0 {
        return Err(Refusal::new(
            Kind::NotAllowed,
            "server_user must not be root",
        ));
    }
    undo_interrupted(&engine)?;
    let shared = Arc::new(Shared {
        engine,
        doing: AtomicUsize::new(0),
        telling: AtomicUsize::new(0),
        stopping: AtomicBool::new(false),
        ids,
        program: options.database_program.clone(),
        once,
    });
    let open = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = databases
        .into_iter()
        .map(|database| {
            let (shared, open) = (shared.clone(), open.clone());
            thread::spawn(move || supervise(&database, &shared, &open))
        })
        .collect();
    if once {
        // Wait for all threads, even if one of them fails.
        let ends = threads.into_iter().map(|t| t.join().unwrap_or(false));
        let ends: Vec<bool> = ends.collect();
        return match ends.into_iter().all(|has_ended_well| has_ended_well) {
            true => Ok(()),
            false => Err(Refusal::new(
                Kind::System,
                "not every database could be served",
            )),
        };
    }
    wait_for_signal()?;
    shared.stopping.store(true, Ordering::SeqCst);
    let patience = Duration::from_secs(options.patience);
    end_all(&shared, &open, &threads, patience);
    Ok(())
}

/// Undoes jobs that were interrupted. Targets that were ready stay, since servers may run on them.
fn undo_interrupted(engine: &Engine) -> Result<(), Refusal> {
    for Cleared { place, outcome } in engine.cleanup(false, &mut |_| {})? {
        match outcome {
            Ok(()) => log!(None; "cleared up {place}"),
            Err(refusal) => log!(None; "could not clear up {place}: {refusal}"),
        }
    }
    Ok(())
}

/// Ends the threads and the processes of all databases. Jobs may finish if that is soon, and are reported to their databases.
///
/// A program that has not ended then waits in the kernel for a device. The next start undoes what is left.
fn end_all(
    shared: &Shared,
    open: &Mutex<Open>,
    threads: &[thread::JoinHandle<bool>],
    patience: Duration,
) {
    let all_ended = || threads.iter().all(thread::JoinHandle::is_finished);
    let grace = GRACE.min(patience);
    let is_zero = |counter: &AtomicUsize| counter.load(Ordering::SeqCst) == 0;
    let is_idle = || is_zero(&shared.doing);
    let mut has_come_to_its_end = wait(patience, is_idle);
    if !has_come_to_its_end {
        exec::stop();
        has_come_to_its_end = wait(grace, is_idle);
    }
    // The database processes see that no answer will come, say what they have to say, and end.
    if has_come_to_its_end {
        wait(grace.min(UNTIL_TOLD), || is_zero(&shared.telling));
        shutdown(open, Shutdown::Write);
        has_come_to_its_end = wait(grace, all_ended);
    }
    if !has_come_to_its_end {
        shutdown(open, Shutdown::Both);
        if !wait(grace, all_ended) {
            for served in lock(open).iter() {
                let _ = kill_process(served.pid, Signal::KILL);
            }
        }
    }
}

/// True if the condition became true in time.
fn wait(patience: Duration, is_true: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !is_true() {
        if began.elapsed() > patience {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

fn shutdown(open: &Mutex<Open>, how: Shutdown) {
    for served in lock(open).iter() {
        let _ = served.stream.shutdown(how);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait_for_signal() -> Result<(), Refusal> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|e| {
        Refusal::new(Kind::System, "could not wait for signals").detail(format!("{e}."))
    })?;
    signals.forever().next();
    Ok(())
}

/// A process that serves a database. When its stream is shut down, it ends; or is killed.
struct Served {
    stream: UnixStream,
    pid: Pid,
}

/// One a database. A process leaves the list in the moment in which it is waited for: its number may be another's from then on.
type Open = Vec<Served>;

/// Keeps a process for this database; once: says whether it came to its end without trouble.
fn supervise(database: &Database, shared: &Shared, open: &Mutex<Open>) -> bool {
    let mut backoff = Backoff::default();
    loop {
        let began = Instant::now();
        let served = serve_one(database, shared, open);
        if began.elapsed() > LASTING {
            backoff = Backoff::default();
        }
        match &served {
            Ok(true) => {}
            Ok(false) => {
                log!(Some(&database.name); "the process for database \"{}\" has failed", database.name)
            }
            Err(e) => {
                log!(Some(&database.name); "the process for database \"{}\": {e}", database.name)
            }
        }
        if shared.once {
            return served.unwrap_or(false);
        }
        let (ended, pause) = (Instant::now(), backoff.next());
        while ended.elapsed() < pause {
            if shared.stopping.load(Ordering::SeqCst) {
                return true;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn serve_one(database: &Database, shared: &Shared, open: &Mutex<Open>) -> io::Result<bool> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_write_timeout(Some(PATIENCE))?;
    let setup = ChildSetup {
        stream: theirs,
        program: &shared.program,
        ids: shared.ids,
    };
    let name = database.name.clone();
    let (mut child, silent) = child::start(Part::Database, setup, move |said| {
        output::forward(&name, said)
    })?;
    lock(open).push(Served {
        stream: ours.try_clone()?,
        pid: Pid::from_child(&child),
    });
    let talked = converse(database, shared, &ours);
    // Without this an offender would wait for an answer.
    let _ = ours.shutdown(Shutdown::Both);
    let status = end(&mut child, open);
    // Waits until all its output is in the log. A process that it has started may hold its end of the pipe open.
    let _ = silent.recv_timeout(UNTIL_SILENT);
    let status = status?;
    talked?;
    Ok(status.success())
}

/// Waits for a process whose stream is closed, and kills it if it does not end. The list is locked while the process is waited for, so
/// that `end_all` never signals a number that the kernel has given to another process.
fn end(child: &mut Child, open: &Mutex<Open>) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(child);
    for may_be_killed in [true, false] {
        let began = Instant::now();
        while began.elapsed() < GRACE {
            let mut listed = lock(open);
            if let Some(status) = child.try_wait()? {
                listed.retain(|served| served.pid != pid);
                return Ok(status);
            }
            drop(listed);
            thread::sleep(Duration::from_millis(10));
        }
        if may_be_killed {
            child.kill()?;
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_listed_until_it_is_waited_for_and_no_longer() {
        let served = |child: &Child| Served {
            stream: UnixStream::pair().unwrap().0,
            pid: Pid::from_child(child),
        };
        let mut other = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        let open = Mutex::new(vec![served(&child), served(&other)]);
        assert!(end(&mut child, &open).unwrap().success());
        let listed: Vec<Pid> = lock(&open).iter().map(|served| served.pid).collect();
        assert_eq!(listed, [Pid::from_child(&other)]);
        // Nothing is waited for while another thread goes through the list.
        drop(other.stdin.take());
        let held = lock(&open);
        thread::scope(|scope| {
            let ending = scope.spawn(|| end(&mut other, &open));
            let stat = format!("/proc/{}/stat", held[0].pid.as_raw_pid());
            let is_zombie = || std::fs::read_to_string(&stat).is_ok_and(|s| s.contains(") Z "));
            assert!(wait(GRACE, is_zombie));
            drop(held);
            assert!(ending.join().unwrap().unwrap().success());
        });
        assert!(lock(&open).is_empty());
    }
}
