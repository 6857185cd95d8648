//! The root part of serving databases: for each of them a process that has become the servers' user, speaks with the database,
//! and sends typed orders over a socket pair. Here they are carried out, one at a time.

use crate::config::Database;
use crate::connection;
use crate::engine::{Cleared, Engine};
use pgfsbench_core::helper::Name;
use pgfsbench_core::helper::protocol::{Answer, Hello, Order, Reply, read, write};
use pgfsbench_core::refusal::{Kind, Refusal};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::env;
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a database process may leave an answer unread.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long after its end it is started again.
const PAUSE: Duration = Duration::from_secs(5);

/// What the threads share.
struct Shared {
    engine: Mutex<Engine>,
    stopping: AtomicBool,
    /// The user and group that database processes become.
    ids: (u32, u32),
    once: bool,
}

/// Serves all databases until SIGTERM; or, once, until no job is left.
pub fn serve(engine: Engine, once: bool) -> Result<(), Refusal> {
    let databases = engine.config().database.clone();
    if databases.is_empty() {
        return Err(
            Refusal::new(Kind::NotInThisState, "the configuration names no database")
                .hint("Run: pgfsbench-helper setup --database NAME."),
        );
    }
    let ids = crate::engine::ids(&engine.config().server_user)?;
    if ids.0 == 0 {
        return Err(Refusal::new(
            Kind::NotAllowed,
            "server_user must not be root",
        ));
    }
    // What did not come to its end is undone; targets that were ready stay, since servers may run on them.
    for Cleared { place, outcome } in engine.cleanup(false, &mut |_| {})? {
        match outcome {
            Ok(()) => eprintln!("pgfsbench-helper: cleared up {place}"),
            Err(refusal) => eprintln!("pgfsbench-helper: could not clear up {place}: {refusal}"),
        }
    }
    let shared = Arc::new(Shared {
        engine: Mutex::new(engine),
        stopping: AtomicBool::new(false),
        ids,
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
    if !once {
        wait_for_signal()?;
        shared.stopping.store(true, Ordering::SeqCst);
        // Whatever is being done comes to its end, and its answer is sent; then the database processes see the end.
        let _engine = lock(&shared.engine);
        for (_, stream) in lock(&open).iter() {
            let stream: &UnixStream = stream;
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    let began = Instant::now();
    let mut complete = true;
    for thread in threads {
        while !once && !thread.is_finished() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
        if once || thread.is_finished() {
            complete &= thread.join().unwrap_or(false);
        }
    }
    match complete || !once {
        true => Ok(()),
        false => Err(Refusal::new(
            Kind::System,
            "not every database could be served",
        )),
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

/// The streams to the processes that serve, one a database: shut down, they end.
type Open = Vec<(Name, UnixStream)>;

/// Keeps a process for this database; once: says whether it came to its end without trouble.
fn supervise(database: &Database, shared: &Shared, open: &Mutex<Open>) -> bool {
    loop {
        let served = serve_one(database, shared, open);
        match &served {
            Ok(true) => {}
            Ok(false) => eprintln!(
                "pgfsbench-helper: the process for database \"{}\" has failed",
                database.name
            ),
            Err(e) => eprintln!(
                "pgfsbench-helper: the process for database \"{}\": {e}",
                database.name
            ),
        }
        if shared.once {
            return served.unwrap_or(false);
        }
        let ended = Instant::now();
        while ended.elapsed() < PAUSE {
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
    let mut child = start(theirs, shared.ids)?;
    {
        let mut open = lock(open);
        open.retain(|(name, _)| *name != database.name);
        open.push((database.name.clone(), ours.try_clone()?));
    }
    let talked = converse(database, shared, &ours);
    // Without this an offender would wait for an answer.
    let _ = ours.shutdown(Shutdown::Both);
    let status = end(&mut child)?;
    talked?;
    Ok(status.success())
}

/// Waits for a process whose stream is closed; one that does not end by itself is ended.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let closed = Instant::now();
    while closed.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()
}

/// The process that speaks with a database: this program again, as the servers' user, without further groups and without
/// this process's environment but for where services and passwords are.
fn start(theirs: UnixStream, (uid, gid): (u32, u32)) -> io::Result<Child> {
    Command::new("/proc/self/exe")
        .arg("_database")
        .env_clear()
        .env("LC_ALL", "C")
        .envs(
            connection::ENVIRONMENT
                .iter()
                .filter_map(|&name| Some((name, env::var_os(name)?))),
        )
        .current_dir("/")
        .uid(uid)
        .gid(gid)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()
}

/// Takes orders until the other side has gone. What is no order ends the conversation.
fn converse(database: &Database, shared: &Shared, stream: &UnixStream) -> io::Result<()> {
    let mut to = stream;
    write(
        &mut to,
        &Hello {
            connection: database.connection.clone(),
            once: shared.once,
        },
    )?;
    let mut from = BufReader::new(stream);
    while let Some(Order { job, request }) = read::<Order>(&mut from)? {
        let engine = lock(&shared.engine);
        if shared.stopping.load(Ordering::SeqCst) {
            break;
        }
        // Whether somebody still listens does not matter to the work.
        let mut tell = |report| {
            let _ = write(
                &mut to,
                &Answer {
                    job,
                    reply: Reply::Step(report),
                },
            );
        };
        let reply = match engine.handle(&database.name, &request, &mut tell) {
            Ok(result) => Reply::Finished(result),
            Err(refusal) => {
                let target = request.target().map_or("", |name| name.as_str());
                eprintln!("pgfsbench-helper: {}@{target}: {refusal}", database.name);
                Reply::Refused(refusal)
            }
        };
        write(&mut to, &Answer { job, reply })?;
    }
    Ok(())
}
