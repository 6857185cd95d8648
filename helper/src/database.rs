//! The process that speaks with one database, as the servers' user: takes jobs from fsbench.helper_job, has them done over the
//! socket pair that is its standard input, and writes into their rows what has become of them.
//!
//! While it serves its session is the one in fsbench.helper_session: so the extension sees whether a helper is connected, and two
//! helpers do not serve the same database.

mod helper_session;
mod job;
mod unreleased;
mod watch;

pub use helper_session::check_tables;

use crate::backoff::Backoff;
use crate::client::{self, Client, Failure, describe};
use crate::output::log;
use helper_session::MissingTable;
use job::{Job, Outcome};
use pgfsbench_core::helper::protocol::{Answer, Hello, Message, Order, Reply, read, write};
use pgfsbench_core::helper::{Name, Request};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};
use unreleased::Unreleased;
use watch::limited;

/// The period for checking that root's process is there, and for jobs whose notification was missed.
const TICK: Duration = Duration::from_millis(500);
/// The longest pause between attempts to connect while something waits for the server.
const SOON: Duration = Duration::from_secs(1);
/// The time for recording how a job has ended while the server cannot be reached. After that, what the job prepared is released.
const UNTIL_RECORDED: Duration = Duration::from_secs(60);

/// Serves the database that the first line names. Ends when root does.
pub fn main() -> Result<(), Refusal> {
    let failed = |e: Failure| {
        Refusal::new(Kind::System, "the process for a database has failed")
            .detail(format!("{}.", describe(&e)))
    };
    let root = rustix::stdio::stdin()
        .try_clone_to_owned()
        .map_err(|e| failed(e.into()))?;
    let root = UnixStream::from(root);
    let mut from = BufReader::new(root.try_clone().map_err(|e| failed(e.into()))?);
    let Some(hello) = read::<Hello>(&mut from).map_err(|e| failed(e.into()))? else {
        return Ok(());
    };
    let mut worker = Worker {
        root,
        from,
        unrecorded: None,
        unreleased: Unreleased::default(),
        backoff: Backoff::default(),
        has_served: false,
    };
    worker.serve(&hello).map_err(failed)
}

struct Worker {
    root: UnixStream,
    from: BufReader<UnixStream>,
    /// The outcome of a job that ended while the database could not be reached.
    unrecorded: Option<Unrecorded>,
    unreleased: Unreleased,
    backoff: Backoff,
    /// Whether it was once connected.
    has_served: bool,
}

struct Unrecorded {
    job: i64,
    outcome: Outcome,
    since: Instant,
}

enum Ended {
    /// Root has gone.
    Root,
    /// No job is left.
    Queue,
}

impl Worker {
    fn serve(&mut self, hello: &Hello) -> Result<(), Failure> {
        let mut last = String::new();
        loop {
            match self.session(hello) {
                Ok(Ended::Root | Ended::Queue) => return Ok(()),
                Err(e) => {
                    // One line for each trouble, however long it lasts.
                    let said = describe(&e);
                    if said != last && hello.once {
                        log!(None; "{said}");
                    } else if said != last {
                        log!(None; "{said}; waiting until that is over, and looking ever more rarely, once a minute in the end");
                    }
                    last = said;
                    let is_over = |u: &Unrecorded| u.since.elapsed() > UNTIL_RECORDED;
                    if let Some(Unrecorded { job, .. }) = self.unrecorded.take_if(|u| is_over(u)) {
                        self.tell_root(job, false)?;
                    }
                    if hello.once && self.unrecorded.is_none() {
                        return Err(e);
                    }
                    if has_no_runs(&e)
                        && self.unreleased.is_to_be_described()
                        && self.release_all()?
                    {
                        return Ok(());
                    }
                    // Then root releases targets whose end could not be reported.
                    let pause = self.pause();
                    if self.root_is_gone(pause)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The pause until the next attempt to connect. It is short while an outcome waits to be recorded.
    fn pause(&mut self) -> Duration {
        let pause = self.backoff.next();
        match self.unrecorded.is_some() || self.unreleased.may_be_some() {
            true => pause.min(SOON),
            false => pause,
        }
    }

    /// One connection, to its end.
    fn session(&mut self, hello: &Hello) -> Result<Ended, Failure> {
        let mut client = limited(|| client::connect(&hello.connection))?;
        limited(|| helper_session::settle_in(&mut client))?;
        if self.backoff.has_waited() {
            log!(None; "serving again");
        } else if !self.has_served && !hello.once {
            log!(None; "serving");
        }
        self.has_served = true;
        self.backoff = Backoff::default();
        if let Some(Unrecorded {
            job,
            outcome,
            since,
        }) = self.unrecorded.take()
        {
            self.record(&mut client, job, outcome, since)?;
        }
        limited(|| job::fail_stale(&mut client))?;
        let mut is_published = false;
        // Jobs that cannot even be claimed block no others.
        let mut refractory = Vec::new();
        loop {
            loop {
                // No job is claimed that could not be done.
                if self.root_is_gone(Duration::ZERO)? {
                    return Ok(Ended::Root);
                }
                let Some(next) = limited(|| job::claim(&mut client, &mut refractory))? else {
                    break;
                };
                is_published = next.request == Ok(Request::Describe);
                if self.carry_out(&mut client, next)? {
                    return Ok(Ended::Root);
                }
            }
            // Jobs first: no session waits for this.
            if !is_published {
                if self.publish(&mut client)? {
                    return Ok(Ended::Root);
                }
                is_published = true;
            }
            if limited(|| self.unreleased.ask(&mut client))? {
                continue;
            }
            if hello.once && !self.unreleased.is_undecided() {
                return Ok(Ended::Queue);
            }
            match client.is_notified(TICK)? {
                // Jobs that will not be done are ended now, and not by the next session.
                true => limited(|| job::fail_stale(&mut client))?,
                // An extension that was dropped and created again knows nothing.
                false => {
                    is_published = limited(|| job::knows_us(&mut client))?;
                    if !is_published {
                        limited(|| helper_session::settle_in(&mut client))?;
                    }
                }
            }
        }
    }

    /// Has one job done and records it. Whether root has gone meanwhile.
    fn carry_out(&mut self, client: &mut Client, job: Job) -> Result<bool, Failure> {
        let request = match job.request {
            Ok(request) => request,
            Err(refusal) => {
                let outcome = Outcome::refused(Vec::new(), refusal);
                limited(|| job::record(client, job.id, &outcome))?;
                return Ok(false);
            }
        };
        let is_for_all = request == Request::Describe;
        if !is_for_all {
            self.unreleased.no_longer_know();
        }
        match self.ask_root(Some(client), job.id, job.run, request) {
            Ok(outcome) => {
                if is_for_all {
                    self.unreleased.know(outcome.result());
                    // Published before the job is done, so that a session that waits for the job sees it. The job does not fail when this cannot be
                    // stored.
                    let _ = limited(|| job::publish(client, &outcome));
                }
                self.record(client, job.id, outcome, Instant::now())?;
                Ok(false)
            }
            Err(e) => {
                let refusal =
                    Refusal::new(Kind::System, "pgfsbench-helper has ended during the job")
                        .detail(format!("{e}."))
                        .hint("It clears up when it is started again; look at its log.");
                let outcome = Outcome::refused(Vec::new(), refusal);
                limited(|| job::record(client, job.id, &outcome))?;
                Ok(true)
            }
        }
    }

    /// Writes what has become of a job that root has done, and tells root whether that is written. While the server cannot be
    /// reached it is kept, for a while.
    fn record(
        &mut self,
        client: &mut Client,
        job: i64,
        outcome: Outcome,
        since: Instant,
    ) -> Result<(), Failure> {
        match limited(|| job::record(client, job, &outcome)) {
            Ok(is_recorded) => self.tell_root(job, is_recorded),
            Err(e) => {
                self.unrecorded = Some(Unrecorded {
                    job,
                    outcome,
                    since,
                });
                Err(e)
            }
        }
    }

    /// If root's process has gone, that is found out later.
    fn tell_root(&mut self, job: i64, recorded: bool) -> Result<(), Failure> {
        let _ = write(&mut self.root, &Message::Told { job, recorded });
        Ok(())
    }

    /// Has root describe this machine, and stores the description. True if root's process has gone.
    fn publish(&mut self, client: &mut Client) -> Result<bool, Failure> {
        let Ok(outcome) = self.ask_root(None, 0, None, Request::Describe) else {
            return Ok(true);
        };
        self.tell_root(0, true)?;
        self.unreleased.know(outcome.result());
        match limited(|| job::publish(client, &outcome)) {
            Err(e) if client.is_closed() => Err(e),
            // A table that takes nothing is no reason to stop serving.
            Ok(()) | Err(_) => Ok(false),
        }
    }

    /// Has what was made for runs released where there are no runs any more. Whether root has gone meanwhile.
    fn release_all(&mut self) -> Result<bool, Failure> {
        let Ok(outcome) = self.ask_root(None, 0, None, Request::Describe) else {
            return Ok(true);
        };
        self.tell_root(0, true)?;
        self.unreleased.know(outcome.result());
        for target in self.unreleased.all() {
            log!(None; "releasing target {target}: there are no runs any more");
            let target = Name::new(&target)?;
            let release = Request::Release { target };
            self.unreleased.no_longer_know();
            if self.ask_root(None, 0, None, release).is_err() {
                return Ok(true);
            }
            self.tell_root(0, true)?;
        }
        Ok(false)
    }

    /// Steps are recorded in the job's row as they are taken.
    fn ask_root(
        &mut self,
        mut client: Option<&mut Client>,
        job: i64,
        run: Option<i64>,
        request: Request,
    ) -> io::Result<Outcome> {
        let order = Order { job, run, request };
        write(&mut self.root, &Message::Order(order))?;
        let mut steps = Vec::new();
        loop {
            let answer: Answer = read(&mut self.from)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            match answer.reply {
                Reply::Step(report) => {
                    steps.push(report);
                    // The whole comes with the end.
                    if let Some(client) = client.as_mut() {
                        let _ = limited(|| job::record_steps(client, job, &steps));
                    }
                }
                Reply::Finished(result) => return Ok(Outcome::done(steps, result)),
                Reply::Refused(refusal) => return Ok(Outcome::refused(steps, refusal)),
            }
        }
    }

    /// Between jobs root says nothing: when there is something to read, it is the end.
    fn root_is_gone(&self, wait: Duration) -> Result<bool, Failure> {
        let mut fds = [PollFd::new(&self.root, PollFlags::IN)];
        let wait = Timespec::try_from(wait)?;
        match poll(&mut fds, Some(&wait)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {
                thread::yield_now();
                Ok(false)
            }
            Err(e) => Err(io::Error::from(e).into()),
        }
    }
}

/// True if the database or the extension is missing: then there is no run either.
fn has_no_runs(error: &Failure) -> bool {
    let no_database = |error: &tokio_postgres::Error| {
        error.code() == Some(&tokio_postgres::error::SqlState::INVALID_CATALOG_NAME)
    };
    error.is::<MissingTable>() || error.downcast_ref().is_some_and(no_database)
}
