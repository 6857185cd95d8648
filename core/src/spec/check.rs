//! Each argument by itself: what it may be, and the error when it is not.

use super::{
    Bound, DEFAULT_TARGET, Data, Facts, OVERHEAD_WORKERS, Options, OwnDatabase, RunArguments,
    Stage, Workload,
};
use crate::escape::is_refused;
use crate::refusal::{Kind, Refusal, quoted};
use crate::units;

const DAY_US: i64 = 86_400_000_000;
/// Longest duration and warm-up: 30 days.
const LONGEST_US: i64 = 30 * DAY_US;
pub const LONGEST_MS: u64 = LONGEST_US.unsigned_abs() / 1000;
/// Most transactions per client: 2^40.
const MOST_TRANSACTIONS: i64 = 1 << 40;
/// Highest rate in transactions a second.
const HIGHEST_RATE: f64 = 1e9;
/// Highest latency limit: 30 days.
const HIGHEST_LIMIT_MS: f64 = (LONGEST_US / 1000) as f64;
/// Shortest cycle of a search for a rate.
const SHORTEST_CYCLE_US: i64 = 1_000_000;
const LONGEST_LABEL: usize = 200;
/// The database of a target's server that has the extension.
const EXTENSION_DATABASE: &str = "postgres";

pub fn target(name: Option<&str>, targets: &[String]) -> Result<String, Refusal> {
    let name = name.unwrap_or(DEFAULT_TARGET);
    if name == DEFAULT_TARGET || targets.iter().any(|target| target == name) {
        return Ok(name.to_owned());
    }
    let versioned = name.split_once('#').map(|(target, _)| target);
    if let Some(target) = versioned.filter(|name| targets.iter().any(|target| target == name)) {
        return Err(
            Refusal::argument(format!("target {} does not exist", quoted(name)))
                .detail(format!("Such a name is one of results: of those that {} has from one of its definitions.", quoted(target)))
                .hint(format!("Give {}: a run measures it as it is defined now.", quoted(target))),
        );
    }
    let others = match targets {
        [] => String::new(),
        names => format!(" The others are {}.", names.join(", ")),
    };
    Err(
        Refusal::argument(format!("target {} does not exist", quoted(name)))
            .detail(format!("The target \"default\" is the filesystem of this server's own data directory.{others}"))
            .hint("Leave out the argument \"target\", or create it with fsbench.create_target()."),
    )
}

/// WAL is written by the gigabyte only into a server of a target's own.
pub fn wal_segments(
    options: &Options,
    target: &str,
    arguments: &RunArguments,
    facts: &Facts,
) -> Result<(), Refusal> {
    let is_own = target != DEFAULT_TARGET && !facts.by_connection;
    if options.wal_segments == 0 || is_own || arguments.stage != Stage::Whole {
        return Ok(());
    }
    Err(
        Refusal::argument("option \"wal_segments\" needs a target with a server of its own")
            .detail("Segments of WAL are made ready by writing as much WAL, which on a server that others use would go to its standbys and its archive.")
            .hint("Leave out the option, or give a target on a device, an image or a directory (fsbench.create_target())."),
    )
}

/// Only a server of a target's own is crashed; that server gets the option, too.
pub fn crash(
    options: &Options,
    target: &str,
    arguments: &RunArguments,
    facts: &Facts,
) -> Result<(), Refusal> {
    if !options.crash || arguments.stage != Stage::Whole {
        return Ok(());
    }
    if options.maintenance {
        return Err(Refusal::argument(
            "options \"crash\" and \"maintenance\" cannot both be given",
        )
        .detail("Maintenance ends with a CHECKPOINT, after which there is nothing to recover.")
        .hint("Make two runs."));
    }
    let hint = "Leave out the option, or give a target on a device, an image or a directory (fsbench.create_target()).";
    if target == DEFAULT_TARGET {
        return Err(
            Refusal::argument("this server is not crashed by a run of its own")
                .detail("The target \"default\" is this server itself, and others may use it.")
                .hint(hint),
        );
    }
    if facts.by_connection {
        return Err(
            Refusal::argument("a server that is reached by a connection is not crashed")
                .detail(format!(
                    "Target {} is a server of its own: pgfsbench neither stops nor starts it.",
                    quoted(target)
                ))
                .hint(hint),
        );
    }
    if options.unlogged {
        return Err(
            Refusal::argument("options \"crash\" and \"unlogged\" cannot both be given")
                .detail(
                    "Unlogged tables are empty after a crash, so that nothing could be verified.",
                )
                .hint("Leave one of them out."),
        );
    }
    Ok(())
}

/// Several servers are made where one can be, and have one window that begins and ends with the clock.
pub fn instances(
    options: &Options,
    target: &str,
    arguments: &RunArguments,
    facts: &Facts,
) -> Result<(), Refusal> {
    if options.instances == 1 || arguments.stage != Stage::Whole {
        return Ok(());
    }
    if target == DEFAULT_TARGET || facts.by_connection {
        return Err(Refusal::argument(
            "option \"instances\" needs a target with servers of its own",
        )
        .detail("The run copies its data once for each server, and starts all of them on one filesystem.")
        .hint("Give a target on a device, an image or a directory (fsbench.create_target())."));
    }
    if arguments.transactions.is_some() {
        return Err(
            Refusal::argument("several instances take no number of transactions")
                .detail("A fast server would end before the others, which would then have the storage to themselves.")
                .hint("Give the argument \"duration\"."),
        );
    }
    let given = [
        (
            "crash",
            options.crash,
            "Which server recovers first would decide how long the others take.",
        ),
        (
            "maintenance",
            options.maintenance,
            "The servers would not begin a step of maintenance together.",
        ),
        (
            "sustain",
            options.sustain > 0.0,
            "Each server would search for a rate of its own while the others change theirs.",
        ),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        None => Ok(()),
        Some((name, _, detail)) => Err(Refusal::argument(format!(
            "options \"instances\" and \"{name}\" cannot both be given"
        ))
        .detail(detail)
        .hint("Make two runs.")),
    }
}

/// Only a server of a target's own has its power cut.
pub fn power_cuts(
    workload: Workload,
    target: &str,
    arguments: &RunArguments,
    facts: &Facts,
) -> Result<(), Refusal> {
    let is_own = target != DEFAULT_TARGET && !facts.by_connection;
    if !workload.cuts_power() || is_own || arguments.stage != Stage::Whole {
        return Ok(());
    }
    Err(
        Refusal::argument("workload \"power-cut\" needs a target with an image or a device")
            .detail("The helper records what the filesystem of the target writes, and mounts it as a power cut would have left it.")
            .hint("Give a target with image_size or device (fsbench.create_target())."),
    )
}

/// A copy of a user's server is made on a target of its own, and its database has a name.
pub fn own_database(
    options: &Options,
    target: &str,
    arguments: &RunArguments,
    facts: &Facts,
) -> Result<Option<OwnDatabase>, Refusal> {
    let (data, database) = match (&arguments.data, &arguments.database) {
        (None, None) => return Ok(None),
        (Some(data), Some(database)) => (data, database),
        (Some(data), None) => {
            return Err(Refusal::argument("the argument \"database\" is missing")
                .detail(format!(
                    "The data {} are a copy of a whole server.",
                    quoted(data)
                ))
                .hint("Give the name of the database that the run is to work in."));
        }
        (None, Some(_)) => {
            return Err(Refusal::argument("the argument \"data\" is missing")
                .detail(
                    "A run works in a copy of a user's database, and never in the database itself.",
                )
                .hint("Give the name of data that fsbench.prepare_data() has copied."));
        }
    };
    if target == DEFAULT_TARGET || facts.by_connection {
        return Err(Refusal::argument(
            "the argument \"data\" needs a target with a server of its own",
        )
        .detail("The run copies the data to the target, and starts a server on them.")
        .hint("Give a target on a device, an image or a directory (fsbench.create_target())."));
    }
    if options.data == Data::Loaded {
        return Err(Refusal::argument(
            "the argument \"data\" and the option \"data\" contradict each other",
        )
        .detail("The option says that the run loads its data on the target.")
        .hint("Leave one of them out."));
    }
    if database == EXTENSION_DATABASE {
        return Err(Refusal::argument(format!(
            "a run cannot work in the database {}",
            quoted(database)
        ))
        .detail("The copied server has the tables of pgfsbench in it.")
        .hint("Give another database of the data."));
    }
    let own = facts.own_data.as_ref().ok_or_else(|| {
        Refusal::argument(format!("data {} do not exist", quoted(data)))
            .detail("The view fsbench.prepared_data has the names in its column data.")
            .hint("Make the data with fsbench.prepare_data().")
    })?;
    if let Some(known) = &own.databases
        && !known.contains(database)
    {
        return Err(no_database(data, database, known));
    }
    Ok(Some(OwnDatabase {
        data: data.clone(),
        database: database.clone(),
        bytes: own.bytes,
    }))
}

fn no_database(data: &str, database: &str, known: &[String]) -> Refusal {
    let names: Vec<String> = known.iter().take(10).map(|name| quoted(name)).collect();
    let has = match known.len() - names.len() {
        _ if known.is_empty() => "The copied server had none that a run can work in.".to_owned(),
        0 => format!("A run can work in {}.", names.join(", ")),
        more => format!("A run can work in {} and {more} more.", names.join(", ")),
    };
    Refusal::argument(format!(
        "database {} does not exist in the data {}",
        quoted(database),
        quoted(data)
    ))
    .detail(has)
    .hint("Give the name of another database, or copy the server again.")
}

/// A search for the highest rate takes a limit, and chooses rates and times by itself.
pub fn search(options: &Options, arguments: &RunArguments) -> Result<(), Refusal> {
    if options.sustain == 0.0 {
        return Ok(());
    }
    let refusal = |message: &str, detail: &str, hint: &str| {
        Err(Refusal::argument(message).detail(detail).hint(hint))
    };
    if arguments.latency_limit_ms.is_none() {
        return refusal(
            "a search for the sustainable rate needs a latency limit",
            "It is the highest rate at which the percentile of latency stays under the limit.",
            "Give latency_limit_ms, such as 20.",
        );
    }
    if arguments.rate.is_some() {
        return refusal(
            "a search for the sustainable rate takes no rate",
            "It tries one rate after the other.",
            "Leave out the argument \"rate\".",
        );
    }
    if arguments.transactions.is_some() {
        return refusal(
            "a search for the sustainable rate takes no number of transactions",
            "Each of its cycles takes a time: a checkpoint cycle, or the duration that is given.",
            "Leave out the argument \"transactions\".",
        );
    }
    if options.crash {
        return refusal(
            "options \"crash\" and \"sustain\" cannot both be given",
            "A search leaves the server at a rate of its own choice.",
            "Make two runs.",
        );
    }
    match arguments.duration_us {
        Some(us) if us < SHORTEST_CYCLE_US => refusal(
            "the cycles of a search are too short",
            &format!(
                "The duration is that of one cycle; it is {}, and at least {} are needed.",
                units::format_seconds(us as f64 / 1e6),
                units::format_seconds(SHORTEST_CYCLE_US as f64 / 1e6)
            ),
            "Leave out the argument \"duration\": a cycle is then as long as checkpoint_timeout.",
        ),
        _ => Ok(()),
    }
}

/// On a target the whole server goes with the run.
pub fn keep(keep: bool, target: &str) -> Result<(), Refusal> {
    if keep && target != DEFAULT_TARGET {
        return Err(Refusal::argument(format!(
            "the work database on target {} cannot be kept",
            quoted(target)
        ))
        .detail("A run on a target has a server of its own there, which is removed with it.")
        .hint("Leave out the argument \"keep\", or use the target \"default\"."));
    }
    Ok(())
}

/// The HINT on the unit of scale of pgbench's tables.
pub const UNIT_OF_ACCOUNTS: &str = "One unit of scale is 100000 accounts, about 15 MB.";

pub fn scale(scale: i32, unit: &str) -> Result<u32, Refusal> {
    let most = units::MAX_SCALE;
    u32::try_from(scale)
        .ok()
        .filter(|s| (1..=most).contains(s))
        .ok_or_else(|| {
            Refusal::argument(format!("scale {scale} is out of range"))
                .detail(format!("The scale must be between 1 and {most}."))
                .hint(unit)
        })
}

pub fn scale_and_size(scale: i32, size: &str) -> Refusal {
    Refusal::argument("scale and size cannot both be given")
        .detail(format!(
            "Scale is {scale} and size is {}; each of them says how much data is loaded.",
            quoted(size)
        ))
        .hint("Give one of them, or neither and let pgfsbench choose.")
}

pub fn clients(clients: Option<i32>, facts: &Facts) -> Result<Option<u32>, Refusal> {
    let Some(clients) = clients else {
        return Ok(None);
    };
    match u32::try_from(clients) {
        Ok(n) if n > 0 => slots("clients", n, facts).map(|()| Some(n)),
        _ => Err(
            Refusal::argument(format!("number of clients {clients} is out of range"))
                .detail(format!(
                    "The number must be between 1 and {}.",
                    facts.max_clients
                ))
                .hint("Give at least one client, or none and let pgfsbench choose."),
        ),
    }
}

/// Refuses more of some than there are slots of clients.
pub fn slots(what: &str, n: u32, facts: &Facts) -> Result<(), Refusal> {
    if n <= facts.max_clients {
        return Ok(());
    }
    Err(Refusal::argument(format!("number of {what} {n} is out of range"))
        .detail(format!("The setting \"pgfsbench.max_clients\" allows at most {}.", facts.max_clients))
        .hint(format!("Raise \"pgfsbench.max_clients\" to at least {n} and restart the server, or ask for fewer.")))
}

/// Refuses a run that takes more worker slots than are free: these and the run's own. The error names the takers in words, and another
/// remedy, by the slots that are free after the run's own.
pub fn worker_slots(
    workers: u32,
    own: u32,
    who: &str,
    or: impl FnOnce(u32) -> String,
    facts: &Facts,
) -> Result<(), Refusal> {
    let free = facts.free_worker_slots;
    let needed = workers.saturating_add(own);
    let missing = needed.saturating_sub(free);
    if missing == 0 {
        return Ok(());
    }
    let enough = facts.max_worker_processes.saturating_add(missing);
    let or = or(free.saturating_sub(own));
    Err(Refusal::new(Kind::NoWorkerSlot, "could not register background processes")
        .detail(format!(
            "The run needs {needed} worker slots ({who}, its own: {own}); {free} are free, {missing} are missing."
        ))
        .hint(format!("Increase \"max_worker_processes\" to at least {enough} and restart the server{or}.")))
}

/// [`worker_slots`] of clients, or of writers.
pub fn client_slots(clients: u32, what: &str, facts: &Facts) -> Result<(), Refusal> {
    let or = |free| match free {
        0 => String::new(),
        1 => format!(", or ask for 1 {what}"),
        _ => format!(", or ask for at most {free} {what}s"),
    };
    worker_slots(
        clients,
        OVERHEAD_WORKERS,
        &format!("{what}s: {clients}"),
        or,
        facts,
    )
}

pub fn bound(
    duration_us: Option<i64>,
    transactions: Option<i64>,
) -> Result<Option<Bound>, Refusal> {
    match (duration_us, transactions) {
        (Some(us), Some(n)) => Err(Refusal::argument(
            "duration and transactions cannot both be given",
        )
        .detail(format!(
            "Duration is {} and transactions is {n}; each of them says when the run ends.",
            units::format_seconds(us as f64 / 1e6)
        ))
        .hint("Give one of them, or neither and let pgfsbench choose.")),
        (Some(us), None) if (1..=LONGEST_US).contains(&us) => {
            Ok(Some(Bound::DurationMs(whole_ms(us))))
        }
        (Some(us), None) => Err(time("duration", us, "above zero, and at most 30 days")),
        (None, Some(n)) if (1..=MOST_TRANSACTIONS).contains(&n) => {
            Ok(Some(Bound::Transactions(n.unsigned_abs())))
        }
        (None, Some(n)) => Err(Refusal::argument(format!(
            "number of transactions {n} is out of range"
        ))
        .detail(format!(
            "The number must be between 1 and {MOST_TRANSACTIONS}."
        ))
        .hint("It is the number of transactions of each client.")),
        (None, None) => Ok(None),
    }
}

pub fn warmup(us: Option<i64>) -> Result<Option<u64>, Refusal> {
    match us {
        Some(us) if !(0..=LONGEST_US).contains(&us) => {
            Err(time("warmup", us, "zero or more, and at most 30 days"))
        }
        us => Ok(us.map(whole_ms)),
    }
}

pub fn rate(rate: Option<f64>) -> Result<Option<f64>, Refusal> {
    in_range(
        "rate",
        rate,
        HIGHEST_RATE,
        "transactions per second of all clients together",
    )
}

pub fn latency_limit(ms: Option<f64>) -> Result<Option<f64>, Refusal> {
    in_range("latency_limit_ms", ms, HIGHEST_LIMIT_MS, "milliseconds")
}

pub fn label(label: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(label) = label else { return Ok(None) };
    let characters = label.chars().count();
    let (message, detail) = if label.trim().is_empty() {
        ("label is empty", "It holds nothing but blanks.".into())
    } else if characters > LONGEST_LABEL {
        (
            "label is too long",
            format!("It has {characters} characters; at most {LONGEST_LABEL} are allowed."),
        )
    } else if label.chars().any(char::is_control) {
        (
            "label contains a control character",
            "Line breaks and tabs are control characters too.".into(),
        )
    } else if let Some(mark) = label.chars().find(|&c| is_refused(c)) {
        (
            "label contains a mark of direction",
            format!(
                "It is U+{:04X}, and would show the rest of the line in another order.",
                u32::from(mark)
            ),
        )
    } else {
        return Ok(Some(label.into()));
    };
    Err(Refusal::argument(message)
        .detail(detail)
        .hint("Give a short text in one line, or NULL for none."))
}

/// A number that must be above 0 and at most `most`.
fn in_range(name: &str, value: Option<f64>, most: f64, unit: &str) -> Result<Option<f64>, Refusal> {
    match value {
        Some(x) if !(x > 0.0 && x <= most) => {
            // No hundreds of digits.
            let shown = if x.abs() < 1e15 {
                format!("{x}")
            } else {
                format!("{x:?}")
            };
            Err(Refusal::argument(format!("{name} {shown} is out of range"))
                .detail(format!("It must be a number above 0 and at most {most}."))
                .hint(format!("It is in {unit}; leave it out for none.")))
        }
        value => Ok(value),
    }
}

/// Whole milliseconds, rounded up, so that nothing above zero becomes zero.
fn whole_ms(us: i64) -> u64 {
    us.unsigned_abs().div_ceil(1000)
}

fn time(name: &str, us: i64, allowed: &str) -> Refusal {
    let sign = if us < 0 { "-" } else { "" };
    let value = units::format_seconds(us.unsigned_abs() as f64 / 1e6);
    Refusal::argument(format!("{name} {sign}{value} is out of range"))
        .detail(format!("It must be {allowed}."))
        .hint("Give an interval such as '20 s' or '30 min'.")
}
