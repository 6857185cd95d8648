//! What belongs to the workload `scan`: its options one by one, what is chosen of them, and what the server must allow.

use serde_json::Value;

use super::{Asked, Cache, Facts, Options, Stage, check, values};
use crate::{
    refusal::{Kind, Refusal, quoted},
    scan::{LONGEST_PAYLOAD, MOST_DEGREE, MOST_REPEATS, Named, Payload, REPEATS, chosen_degrees},
    units::{MAX_SCALE, format_bytes, parse_size},
};

/// Scale when neither that nor a size is given.
pub const CHOSEN_SCALE: u32 = 10;
/// Loaders that are chosen at most: more than that wait for each other to make the file longer.
const CHOSEN_LOADERS: u32 = 8;
/// Of shared buffers, other tables need some.
const BUFFERS_SHARE: f64 = 0.9;

/// The degrees, in ascending order.
pub fn degrees(name: &str, value: &Value) -> Result<Vec<u32>, Refusal> {
    values::numbers(name, value, 1, MOST_DEGREE)
}

/// Numbers of readers; there may be none.
pub fn readers(name: &str, value: &Value) -> Result<Vec<u32>, Refusal> {
    values::numbers(name, value, 0, MOST_DEGREE)
}

/// What a row is.
pub fn payload(name: &str, value: &Value) -> Result<Payload, Refusal> {
    let known = match value {
        Value::String(text) if text == "bit200" => Some(Payload::Named(Named::Bit200)),
        Value::String(text) if text == "accounts" => Some(Payload::Named(Named::Accounts)),
        value => value
            .as_u64()
            .filter(|n| (1..=u64::from(LONGEST_PAYLOAD)).contains(n))
            .map(|n| Payload::Bytes(n as u32)),
    };
    known.ok_or_else(|| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(match value {
                Value::String(text) => format!("It is {}.", quoted(text)),
                Value::Number(n) => format!("It is {n}."),
                other => format!("It is {}.", values::kind(other)),
            })
            .hint(format!(
                "Give \"bit200\", \"accounts\", or a number of random bytes between 1 and {LONGEST_PAYLOAD}."
            ))
    })
}

/// How often each degree is measured.
pub fn repeats(name: &str, value: &Value) -> Result<u32, Refusal> {
    values::whole_number(name, value, 1, MOST_REPEATS.into()).map(|n| n as u32)
}

/// How many load at the same time.
pub fn loaders(name: &str, value: &Value) -> Result<u32, Refusal> {
    values::whole_number(name, value, 1, MOST_DEGREE.into()).map(|n| n as u32)
}

/// Millions of rows, given as such or as the size of the table.
pub fn scale(asked: &Asked, payload: Payload, facts: &Facts) -> Result<Option<u32>, Refusal> {
    let most = || {
        let bytes = format_bytes(payload.bytes(MAX_SCALE));
        format!("The scale must be between 1 and {MAX_SCALE}, which takes {bytes}.")
    };
    let hint = format!(
        "One unit of scale is a million rows, {} of them.",
        format_bytes(payload.bytes(1))
    );
    if let Some(scale) = asked.scale {
        let given = u32::try_from(scale).ok();
        return match given.filter(|scale| (1..=MAX_SCALE).contains(scale)) {
            Some(scale) => Ok(Some(scale)),
            None => Err(Refusal::argument(format!("scale {scale} is out of range"))
                .detail(most())
                .hint(hint)),
        };
    }
    let Some(size) = asked.size.as_deref() else {
        return Ok(None);
    };
    let bytes = parse_size(size, facts.memory_bytes)?;
    match payload.scale_for(bytes).filter(|scale| *scale <= MAX_SCALE) {
        Some(scale) => Ok(Some(scale)),
        None => Err(
            Refusal::argument(format!("size {} is too large", format_bytes(bytes)))
                .detail(most())
                .hint(hint),
        ),
    }
}

/// Chooses what was not given, and gives the slots of clients that the run takes: those of its loaders, and of its readers.
pub fn choose(
    options: &mut Options,
    facts: &Facts,
    most_degree: u32,
    chosen: &mut Vec<String>,
    chosen_there: &mut Vec<String>,
) -> u32 {
    let mut choose = |name: &str, depends_on_machine: bool| {
        chosen.push(name.into());
        if depends_on_machine && facts.far {
            chosen_there.push(name.into());
        }
    };
    let free = facts
        .free_worker_slots
        .saturating_sub(own_workers(options))
        .max(1);
    if options.degrees.is_empty() {
        options.degrees = chosen_degrees(facts.processors, most_degree.min(free));
        choose("degrees", true);
    }
    if options.repeats.is_none() {
        options.repeats = Some(REPEATS);
        choose("repeats", false);
    }
    options.leader.get_or_insert(true);
    options.payload.get_or_insert_default();
    let slots = facts.max_clients.min(free).max(1);
    if options.loaders.is_none() {
        options.loaders = Some(facts.processors.clamp(1, CHOSEN_LOADERS).min(slots));
        choose("loaders", true);
    }
    if options.readers.is_none() {
        let largest = options.degrees.last().copied().unwrap_or(1);
        let mut readers: Vec<u32> = [1, facts.processors, largest]
            .into_iter()
            .filter(|n| (1..=slots).contains(n))
            .collect();
        readers.sort_unstable();
        readers.dedup();
        options.readers = Some(readers);
        choose("readers", true);
    }
    let readers = options.readers.iter().flatten().copied().max();
    readers.max(options.loaders).unwrap_or(1)
}

/// What `max_parallel_workers` is in the run's sessions: its own settings win.
pub fn most_degree(settings: &std::collections::BTreeMap<String, String>, facts: &Facts) -> u32 {
    let given = settings.get("max_parallel_workers");
    given
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(facts.max_parallel_workers)
}

/// Worker slots of the run beside those who scan or read: the coordinator, the worker whose scan it is or who prepares the table, and
/// the sampler.
fn own_workers(options: &Options) -> u32 {
    2 + u32::from(options.sample)
}

/// Worker slots that the run takes at its peak: of those who load, scan or read, and its own beside them.
pub fn workers(options: &Options) -> (u32, u32) {
    let readers = options.readers.iter().flatten().copied().max();
    let scanning = options.degrees.last().copied().max(readers).unwrap_or(1);
    let (loaders, own) = (options.loaders.unwrap_or(1), own_workers(options));
    // Beside loaders there is only the coordinator.
    match loaders + 1 > scanning + own {
        true => (loaders, 1),
        false => (scanning, own),
    }
}

/// Refuses what the server does not allow, or its memory cannot hold.
pub fn check(
    options: &Options,
    clients: u32,
    most_degree: u32,
    bytes: u64,
    stage: &Stage,
    facts: &Facts,
) -> Result<(), Refusal> {
    let largest = options.degrees.last().copied().unwrap_or(1);
    let readers = options.readers.iter().flatten().copied().max();
    check::slots("loaders", options.loaders.unwrap_or(0), facts)?;
    check::slots("readers", readers.unwrap_or(0), facts)?;
    if largest > most_degree {
        return Err(Refusal::new(
            Kind::NoWorkerSlot,
            format!("degree {largest} is above max_parallel_workers"),
        )
        .detail(format!(
            "The setting \"max_parallel_workers\" allows at most {most_degree}."
        ))
        .hint(format!(
            "Give settings => '{{\"max_parallel_workers\": {largest}}}', raise it in the server, or use a target: a server of its own gets what it needs."
        )));
    }
    let (workers, own) = workers(options);
    check::worker_slots(
        workers,
        own,
        &format!("degree {largest}, at most {clients} loaders or readers"),
        |_| {
            ", ask for a lower degree or fewer loaders and readers, or use a target: a server of its own gets what it needs"
                .into()
        },
        facts,
    )?;
    if *stage == Stage::LoadOnly || facts.far {
        return Ok(());
    }
    check_memory(options.cache, bytes, facts)
}

/// Filesystems whose pages the kernel cannot be asked to forget: in memory, or with a cache of their own.
const NEVER_COLD: [&str; 4] = ["tmpfs", "ramfs", "zfs", "bcachefs"];
/// Filesystems of whose cache the kernel's page cache knows nothing (the ARC of zfs).
const NOT_IN_PAGE_CACHE: [&str; 1] = ["zfs"];

/// Refuses a table that is to be cold, or in the page cache, on a filesystem where that cannot be had, or cannot be seen. `is_cached_below`:
/// it lies in an image that is read through the page cache of another filesystem.
pub fn check_cache(cache: Cache, filesystem: &str, is_cached_below: bool) -> Result<(), Refusal> {
    if cache == Cache::Cold && is_cached_below {
        return Err(Refusal::new(
            Kind::NotInThisState,
            "the cache of a table on an image without direct I/O cannot be emptied",
        )
        .detail("The page cache of the filesystem below the loop device keeps what was read, and nobody empties it before each scan.")
        .hint("Put the image where direct I/O is possible (not on tmpfs), use a device, or the option \"cache\": \"warm\"."));
    }
    let is_own = NOT_IN_PAGE_CACHE.contains(&filesystem);
    let (message, detail) = match cache {
        Cache::Cold if NEVER_COLD.contains(&filesystem) => (
            format!("the cache of a table on {filesystem} cannot be emptied"),
            "The kernel is asked to forget its pages, which does nothing for a filesystem in memory or with a cache of its own.",
        ),
        Cache::Warm if is_own => (
            format!("a table on {filesystem} is not kept in the page cache"),
            "The filesystem has a cache of its own, and the kernel does not tell what is in it.",
        ),
        Cache::Cold | Cache::Warm | Cache::SharedBuffers => return Ok(()),
    };
    let instead = if is_own { "shared_buffers" } else { "warm" };
    Err(Refusal::new(Kind::NotInThisState, message)
        .detail(detail)
        .hint(format!(
            "Use a target on another filesystem, or the option \"cache\": \"{instead}\"."
        )))
}

fn check_memory(cache: Cache, bytes: u64, facts: &Facts) -> Result<(), Refusal> {
    match cache {
        Cache::Cold => Ok(()),
        Cache::Warm => check_fits(cache, bytes, facts.memory_bytes),
        // A server on a target may have others.
        Cache::SharedBuffers if facts.server_is_another => Ok(()),
        Cache::SharedBuffers => check_fits(cache, bytes, facts.shared_buffers_bytes),
    }
}

/// Refuses a table that does not fit where it is to be: RAM or, so large are they, shared buffers. 0: not known.
pub fn check_fits(cache: Cache, bytes: u64, size: u64) -> Result<(), Refusal> {
    let (place, room) = match cache {
        Cache::Cold => return Ok(()),
        Cache::Warm => ("RAM", size),
        Cache::SharedBuffers => ("shared_buffers", (size as f64 * BUFFERS_SHARE) as u64),
    };
    if bytes <= room || room == 0 {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::NotInThisState,
        format!("the table does not fit in {place}"),
    )
    .detail(format!(
        "It takes {}, and {} can be used of {place}.",
        format_bytes(bytes),
        format_bytes(room)
    ))
    .hint(match cache {
        Cache::SharedBuffers => {
            "Raise shared_buffers, use a smaller scale or size, or options => '{\"cache\": \"warm\"}'."
        }
        Cache::Warm | Cache::Cold => {
            "Use a smaller scale or size, or options => '{\"cache\": \"cold\"}'."
        }
    }))
}
