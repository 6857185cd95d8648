//! The circumstances in which an experiment was made: in others something else may come out.

use super::{Facts, ThisServer, nothing_durable};
use crate::{
    experiment::{
        answer::{Row, Warning, plain, warning::Found},
        plan::{self, percent},
        state::{Experiment, State},
    },
    finding::{Code, Durability, device_reads, fits_memory},
    spec::Workload,
    sys::cgroup::Limits,
    units::{format_bytes, format_seconds},
};

/// The finding that figures rose or fell within a window.
const DRIFT: &str = "drift";

/// In what circumstances it was measured: others may say something else.
pub fn regime(state: &State, answers: &[Row], facts: &[Facts], here: &ThisServer) -> Vec<String> {
    let Some(f) = facts.first() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if let (Some(data), Some(memory)) = (f.data_bytes, f.memory_bytes) {
        let reads = f.device_read_bytes.zip(f.server_read_bytes);
        let reads = reads.filter(|(device, server)| device_reads(*device, *server));
        parts.push(match fits_memory(data, memory) {
            true => match reads {
                Some((device, server)) => format!(
                    "the data fit into memory, but the device read {} in a window; the server's processes read {}{}",
                    format_bytes(device as u64),
                    format_bytes(server as u64),
                    match device > 2.0 * server {
                        true => ", so that other programs or read-ahead read the rest",
                        false => "",
                    }
                ),
                None => {
                    "the data fit into memory, so that reads hardly reach the filesystem".to_owned()
                }
            },
            false => format!(
                "the data are {} times as large as memory",
                percent(data / memory / 100.0)
            ),
        });
    }
    parts.extend(with_small_buffers(state, facts));
    parts.extend(with_short_cycles(&state.experiment, f));
    parts.extend(forced_checkpoints(state, facts));
    parts.extend(unsteady(answers));
    parts.extend(robbed_by_host(answers));
    parts.extend(unlike_in_checksums(facts, here));
    if let Some(reason) = nothing_durable(facts) {
        // Where they were flushed, but to memory.
        let mut codes = f.durability.iter().flat_map(Durability::codes);
        let is_in_memory = codes.any(|code| matches!(code, Code::InMemory { .. }));
        let were_flushed = is_in_memory && f.flushes_per_transaction.is_some();
        let beside = match were_flushed {
            true => "; how often each flushes is among the figures",
            false => "",
        };
        parts.push(format!(
            "no commit of any of them was durable ({reason}): where commits are, they take longer, and may tell them apart differently{beside}"
        ));
    }
    if facts.iter().any(|f| f.kind.as_deref() == Some("image")) {
        parts.push("on images, that is, on top of another filesystem: a real device may tell them apart differently".into());
    }
    parts.extend(on_loop_devices(state, facts));
    if let Some(kind) = f.virtualization.as_deref().filter(|kind| *kind != "none") {
        parts.push(format!(
            "in a virtual machine ({kind}), whose disk is what its host makes of it"
        ));
    }
    parts.extend(in_container(f));
    parts
}

/// The container of the server, and the limits of its cgroup, which may have decided.
fn in_container(f: &Facts) -> Option<String> {
    let container = f.container.as_deref().filter(|kind| *kind != "none");
    let container = container.map(|kind| format!("in a container ({kind})"));
    let limits = f.limits.as_ref().map(Limits::without_names);
    let limits = limits.and_then(|limits| limits.in_words());
    let limits = limits.map(|limits| {
        format!("with no more than {limits} (limits of the server's cgroup): without them another ratio is possible")
    });
    let parts: Vec<String> = [container, limits].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Targets that name a device, or a directory, which is a file of another filesystem.
fn on_loop_devices(state: &State, facts: &[Facts]) -> Option<String> {
    let is_one = |f: &&Facts| f.is_on_loop == Some(true) && f.kind.as_deref() != Some("image");
    let named = facts.iter().filter(is_one);
    let names: Vec<&str> = named
        .map(|f| state.targets.get(f.number).map_or("", |t| t.name.as_str()))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} on a loop device, which is a file of another filesystem: a real device may tell them apart differently",
            names.join(", ")
        )
    })
}

/// The length of a cycle that was given, where the workload has something written at checkpoints.
fn given_cycle(e: &Experiment, f: &Facts) -> Option<f64> {
    let workload = f.workload.as_deref().and_then(Workload::parse);
    let writes = workload.is_none_or(|w| w.writes() && w.runs_transactions());
    e.cycle_seconds.filter(|_| e.cycle_is_given && writes)
}

/// A cycle that is shorter than servers have it by default.
pub(super) fn with_short_cycles(e: &Experiment, f: &Facts) -> Option<String> {
    let seconds = given_cycle(e, f)?;
    let provisional = match plan::is_provisional(seconds) {
        true => "; so the answer is provisional, and a night without cycle gives a lasting one",
        false => "",
    };
    (seconds < plan::DEFAULT_CYCLE_SECONDS).then(|| {
        format!(
            "a checkpoint every {}: after each one pages are written whole into WAL, so that more is written than with PostgreSQL's {}{provisional}",
            format_seconds(seconds),
            format_seconds(plan::DEFAULT_CYCLE_SECONDS)
        )
    })
}

/// Where WAL has forced checkpoints: who commits more has more of them, so that two targets do not work under the same ones.
fn forced_checkpoints(state: &State, facts: &[Facts]) -> Option<String> {
    let name = |f: &Facts| state.targets.get(f.number).map_or("", |t| t.name.as_str());
    let of = |f: &Facts| {
        let forced = f.forced_checkpoints.unwrap_or(0.0);
        let all = f.checkpoints.unwrap_or(0.0);
        format!("{} {} of {} a run", name(f), plain(forced), plain(all))
    };
    let each: Vec<String> = facts.iter().map(of).collect();
    facts.iter().any(Facts::has_forced).then(|| {
        format!(
            "WAL forced checkpoints before their time ({}): who commits more has more of them; with a larger max_wal_size, and room for that much WAL, all come by the clock",
            each.join(", ")
        )
    })
}

/// shared_buffers that are smaller than data which fit into memory.
fn small_buffers(f: &Facts) -> Option<f64> {
    let (data, memory) = f.data_bytes.zip(f.memory_bytes)?;
    let buffers = f.shared_buffers_bytes?;
    (fits_memory(data, memory) && buffers < data).then_some(buffers)
}

/// A finding of this code that is a warning about a target's runs.
fn found_of<'a>(row: &'a Row, code: &str) -> Option<&'a Found> {
    row.warnings.iter().find_map(|warning| match warning {
        Warning::Found(found) if found.code == code => Some(found),
        _ => None,
    })
}

/// Targets whose shared_buffers were smaller than their data: others may have had more, where that is what was compared.
fn with_small_buffers(state: &State, facts: &[Facts]) -> Option<String> {
    let name = |f: &Facts| state.targets.get(f.number).map_or("", |t| t.name.as_str());
    let small = facts.iter().filter_map(|f| Some((f, small_buffers(f)?)));
    let small: Vec<(&Facts, f64)> = small.collect();
    let (f, buffers) = small.first()?;
    let names: Vec<&str> = small.iter().map(|(f, _)| name(f)).collect();
    let of = match small.len() == facts.len() {
        true => String::new(),
        false => format!(" of {}", names.join(", ")),
    };
    Some(format!(
        "shared_buffers{of} ({}) are smaller than the data ({}): the server reads and writes its pages through the kernel's cache all the time, which with larger ones happens at checkpoints, and may give another ratio",
        format_bytes(*buffers as u64),
        format_bytes(f.data_bytes.unwrap_or(0.0) as u64)
    ))
}

/// Targets with a warning of this code, and in which of their runs; None if there are none.
fn each_with(answers: &[Row], code: &str) -> Option<String> {
    let found = |row: &Row| {
        Some(format!(
            "{} in {}",
            row.target,
            found_of(row, code)?.in_which()
        ))
    };
    let each: Vec<String> = answers.iter().filter_map(found).collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// Where figures rose or fell within the windows: what they are depends on how long these are.
fn unsteady(answers: &[Row]) -> Option<String> {
    let each = each_with(answers, DRIFT)?;
    Some(format!(
        "tps rose or fell within the windows ({each}), so that a longer warm-up or longer windows may give another ratio; the findings have the direction"
    ))
}

/// Runs from which the host took processors.
fn robbed_by_host(answers: &[Row]) -> Option<String> {
    let each = each_with(answers, "steal")?;
    Some(format!(
        "the host took processors' time away ({each}): for that alone no run is made again, since on such a host all may have it; the findings have how much"
    ))
}

/// Where all servers that were measured had data checksums and this one has none, or the other way round.
fn unlike_in_checksums(facts: &[Facts], here: &ThisServer) -> Option<String> {
    let are_all = |on: bool| facts.iter().all(|f| f.data_checksums == Some(on));
    match here.data_checksums {
        false if are_all(true) => Some("the servers that were measured had data checksums, which this server has not: what they cost is in all figures; factors => '{\"data_checksums\": [true, false]}' beside one filesystem tells how much"),
        true if are_all(false) => Some("the servers that were measured had no data checksums, which this server has: what they cost is in no figure"),
        _ => None,
    }
    .map(str::to_owned)
}

/// The regime in a few words, to stand behind a choice.
pub fn in_short(state: &State, answers: &[&Row], facts: &[Facts]) -> String {
    let Some(f) = facts.first() else {
        return String::new();
    };
    let data = f.data_bytes.zip(f.memory_bytes);
    let data = data.map(|(data, memory)| match fits_memory(data, memory) {
        true => "with data in memory".to_owned(),
        false => "with data larger than memory".to_owned(),
    });
    let durable = nothing_durable(facts).map(|reason| format!("with nothing durable: {reason}"));
    let has = |code: &str| answers.iter().any(|row| found_of(row, code).is_some());
    let disturbed = has("noisy_neighbour").then(|| "beside others on the machine".to_owned());
    // Where that is what was compared, the choice has its own.
    let is_small = facts.iter().all(|f| small_buffers(f).is_some());
    let small = is_small.then(|| "with shared_buffers smaller than the data".to_owned());
    let drift = has(DRIFT).then(|| "with tps that were not steady".to_owned());
    let is_image = |f: &Facts| f.kind.as_deref() == Some("image");
    let images = match facts.iter().any(is_image) {
        true => Some("on images".to_owned()),
        false => {
            let is_on_loop = facts.iter().any(|f| f.is_on_loop == Some(true));
            is_on_loop.then(|| "on a loop device".to_owned())
        }
    };
    let kind = f.virtualization.as_deref().filter(|kind| *kind != "none");
    let machine = kind.map(|kind| format!("in a virtual machine ({kind})"));
    let cycle = given_cycle(&state.experiment, f);
    let cycle = cycle.filter(|seconds| plan::is_provisional(*seconds));
    let cycles = cycle.map(|s| format!("with a checkpoint every {}", format_seconds(s)));
    let provisional = match cycle {
        Some(_) => "provisional, ",
        None => "",
    };
    let has_forced = facts.iter().any(Facts::has_forced);
    let forced = has_forced.then(|| "with checkpoints forced by WAL".to_owned());
    let parts: Vec<String> = [
        data, small, cycles, durable, forced, drift, images, machine, disturbed,
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" ({provisional}measured {})", parts.join(", ")),
    }
}
