//! A request in shared memory: its place, and why there is none.

use std::{
    sync::atomic::Ordering::{Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    spec::{RunArguments, Spec},
    units::{format_count, format_ids},
};

use crate::{
    api::guard::Ready,
    board::{self, Board, Cancel, CoordinatorTask, Phase, Request, RequestState},
    errors::{Fault, sqlstate, to_json_text},
    pg::{process, segment::Segment, session, settings, shmem, sql},
    process::janitor,
    run::cancellation,
    store,
};

/// Bytes of a text of arguments in shared memory.
const LONGEST: usize = 8192;
/// How long a waiting session waits for a run that is over but for clearing up.
pub const CLEARING_UP: Duration = Duration::from_secs(10);

/// A request that this session has made.
pub struct Ticket {
    /// The request in shared memory.
    pub request: &'static Request,
    /// Tells this use of the place from the next.
    pub number: u64,
    /// The texts of its scripts, until the coordinator has stored them.
    script: Option<Segment>,
}

impl Ticket {
    /// Whether the place holds another request by now.
    pub fn is_gone(&self) -> bool {
        self.request.ticket.load(Relaxed) != self.number
            || self.request.state() == RequestState::Free
    }
}

/// Texts of the arguments, JSON, as they go through shared memory.
fn in_shared_memory(arguments: &impl serde::Serialize) -> Result<String, Fault> {
    let text = to_json_text(arguments)?;
    if text.len() > LONGEST {
        return Err(
            Fault::new(sqlstate::INVALID_PARAMETER, "the arguments are too long")
                .detail(format!(
                    "They take {} bytes, and at most {LONGEST} fit.",
                    text.len()
                ))
                .hint("Use fewer settings or a shorter label."),
        );
    }
    Ok(text)
}

/// Puts the request where the janitor finds it. A run that is just ending is waited for; another one is an error unless
/// the request may queue.
pub fn submit(
    ready: &Ready,
    arguments: &RunArguments,
    spec: &Spec,
    queue: bool,
) -> Result<Ticket, Fault> {
    let board = ready.board;
    let texts = spec.workload.document(arguments)?;
    let arguments = &RunArguments {
        script: arguments.script.without_texts(),
        ..arguments.clone()
    };
    let (spec_json, asked_json) = (in_shared_memory(spec)?, in_shared_memory(arguments)?);
    let mut ticket = claim_in_time(ready, queue)?;
    let request = ticket.request;
    request.reset();
    request
        .extension_database
        .store(session::database(), Relaxed);
    request.role.store(session::role(), Relaxed);
    request.owner.store(ready.owner, Relaxed);
    request.extension.store(ready.extension, Relaxed);
    ticket.script = texts.as_deref().map(Segment::publish);
    let handle = ticket.script.as_ref().map_or(0, Segment::handle);
    request.document.store(handle, Relaxed);
    let of_experiment = board::starts_for_experiment();
    request.of_experiment.store(of_experiment, Relaxed);
    request.waiter.store(process::my_pid(), Relaxed);
    if spec.is_here() {
        request.lease_ms.store(spec.options.lease_ms, Relaxed);
        request.renew_lease();
    }
    if let Some(texts) = board.texts(request) {
        texts.spec.set(&spec_json);
        texts.arguments.set(&asked_json);
    }
    request.set_state(RequestState::Submitted);
    shmem::announce();
    janitor::wake(board);
    Ok(ticket)
}

fn claim_in_time(ready: &Ready, queue: bool) -> Result<Ticket, Fault> {
    let board = ready.board;
    let patience = Instant::now() + CLEARING_UP;
    let most = queue.then(settings::max_queued);
    loop {
        let is_late = Instant::now() > patience;
        match shmem::locked(|| claim(board, most)) {
            Claim::Claimed(ticket) => return Ok(ticket),
            Claim::Busy(request) => return Err(busy(ready, request)),
            Claim::Experiment => return Err(experiment_is_on(ready)),
            Claim::Ending(request) if is_late => return Err(busy(ready, request)),
            Claim::Full => return Err(full(board)),
            Claim::Crowded if is_late => return Err(crowded()),
            Claim::Ending(_) | Claim::Crowded => {
                shmem::wait_for_change(Duration::from_secs(1), || false);
            }
        }
    }
}

enum Claim {
    Claimed(Ticket),
    /// An experiment is within a block.
    Experiment,
    Ending(&'static Request),
    Busy(&'static Request),
    /// The queue is full.
    Full,
    /// Too many are being made at this moment.
    Crowded,
}

/// Claims a place; `most_queued` for a request that may wait.
fn claim(board: &'static Board, most_queued: Option<usize>) -> Claim {
    if let Some(claim) = match most_queued {
        None => in_the_way(board),
        Some(most) => (board.queued() >= most).then_some(Claim::Full),
    } {
        return claim;
    }
    let number = board.tickets.load(Relaxed) + 1;
    if !board.give_texts_to_caller(number) {
        return Claim::Crowded;
    }
    let free = board
        .requests
        .iter()
        .find(|request| request.advance(RequestState::Free, RequestState::Filling));
    let Some(request) = free else {
        board.take_texts_back(number);
        return Claim::Crowded;
    };
    board.tickets.store(number, Relaxed);
    request.ticket.store(number, Release);
    Claim::Claimed(Ticket {
        request,
        number,
        script: None,
    })
}

/// The condition that keeps a run from being made at once.
fn in_the_way(board: &'static Board) -> Option<Claim> {
    let others = || {
        board
            .requests
            .iter()
            .filter(|request| !matches!(request.state(), RequestState::Free | RequestState::Ended))
    };
    let ending = |request: &&Request| {
        // The waiter of one that is being filled in may still be that of the request before.
        (request.state() != RequestState::Filling && cancellation::is_cancelled(request))
            || request.task() == CoordinatorTask::Recover
            || (request.state() == RequestState::Working && board.run.phase() == Phase::Cleanup)
    };
    let is_in_block = board.experiment_slots.block_is_running();
    others()
        .find(|request| !ending(request))
        .map(Claim::Busy)
        .or_else(|| is_in_block.then_some(Claim::Experiment))
        .or_else(|| others().next().map(Claim::Ending))
}

/// The experiment that is on, if it is one of this database.
fn running_experiment(ready: &Ready) -> Option<String> {
    let extension_database = ready.board.experiment_slots.database_of_holder();
    let name = || store::experiment::name_of_running().ok().flatten();
    (extension_database == Some(session::database()))
        .then(|| session::with_rights_of(ready.owner, name))?
}

fn experiment_is_on(ready: &Ready) -> Fault {
    let name = running_experiment(ready);
    Fault::new(sqlstate::NOT_IN_THIS_STATE, "an experiment is in progress")
        .detail(match name {
            Some(name) => format!("It is \"{name}\", within one of its blocks."),
            None => "It is in another database, within one of its blocks.".into(),
        })
        .hint("Queue the run, and it is made between two blocks: with fsbench.start(), or options => '{\"wait_turn\": true}'. Or wait for the experiment, see fsbench.experiments, or pause it with fsbench.pause_experiment().")
}

fn full(board: &Board) -> Fault {
    let (extension_database, role) = (session::database(), session::role());
    let is_own = |request: &Request| {
        request.extension_database.load(Relaxed) == extension_database
            && request.role.load(Relaxed) == role
    };
    // All that are counted, also one whose coordinator has not put it into the queue yet.
    let mut own: Vec<i64> = board
        .requests
        .iter()
        .filter(|request| request.waits_for_its_turn() && request.cancel() == Cancel::No)
        .filter(|request| is_own(request))
        .map(|request| request.run_id.load(Relaxed))
        .filter(|run_id| *run_id != 0)
        .collect();
    own.sort_unstable();
    let own = match own.as_slice() {
        [] => "none of them yours in this database".to_owned(),
        ids => format!("of them in this database yours: {}", format_ids(ids)),
    };
    Fault::new(
        sqlstate::LIMIT_REACHED,
        "too many benchmark runs are queued",
    )
    .detail(format!(
        "{} wait for their turn, {own}. pgfsbench.max_queued is {}.",
        format_count(board.queued() as u64, "run"),
        settings::max_queued()
    ))
    .hint("Wait for some of them, or cancel them with fsbench.cancel().")
}

fn crowded() -> Fault {
    Fault::new(
        sqlstate::NO_RESOURCES,
        "too many benchmark runs are being started at the same time",
    )
    .hint("Start the run again.")
}

fn busy(ready: &Ready, request: &Request) -> Fault {
    let board = ready.board;
    let run_id = request.run_id.load(Relaxed);
    let extension_database = request.extension_database.load(Relaxed);
    let here = extension_database == session::database();
    let name = if here {
        Ok(None)
    } else {
        sql::read(
            "SELECT datname FROM pg_catalog.pg_database WHERE oid = $1::oid",
            &[Some(&extension_database.to_string())],
        )
    };
    let place = match name {
        Ok(Some(name)) => format!(" in database \"{name}\""),
        _ => String::new(),
    };
    let phase = if request.state() == RequestState::Queued {
        "queued"
    } else {
        board.run.phase().as_str()
    };
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "another benchmark run is in progress",
    )
    .detail(match run_id {
        0 => format!("It is about to start{place}."),
        _ => {
            let experiment = (request.of_experiment.load(Relaxed) != 0)
                .then(|| running_experiment(ready))
                .flatten();
            let of = experiment.map_or_else(String::new, |name| format!(" of experiment \"{name}\""));
            format!("It is run {run_id}{of}{place}, phase {phase}.")
        }
    })
    .hint(if here {
        "Wait for it with fsbench.wait(), cancel it with fsbench.cancel(), or queue this one: with fsbench.start(), or options => '{\"wait_turn\": true}'."
    } else {
        "Wait for it or cancel it in that database, or queue this one: with fsbench.start(), or options => '{\"wait_turn\": true}'."
    })
}
