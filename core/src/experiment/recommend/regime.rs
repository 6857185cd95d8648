//! The circumstances in which an experiment was made: in others something else may come out.

use super::{Facts, ThisServer, nothing_durable};
use crate::{
    experiment::{
        answer::{Row, Warning, warning::WarningCount},
        plan,
        state::{Experiment, State},
    },
    finding::{Code, Durability, device_reads, fits_memory},
    spec::Workload,
    sys::cgroup::Limits,
    texts::recommend::regime::{self as text, Circumstances},
};

/// The finding that figures rose or fell within a window.
const DRIFT: &str = "drift";

/// In what circumstances it was measured: others may say something else.
pub fn regime(state: &State, answers: &[Row], facts: &[Facts], here: &ThisServer) -> Vec<String> {
    let Some(f) = facts.first() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if let Some((data, memory)) = f.data_and_memory() {
        let reads = f.device_read_bytes.zip(f.server_read_bytes);
        let reads = reads.filter(|(device, server)| device_reads(*device, *server));
        parts.push(match fits_memory(data, memory) {
            true => text::data_in_memory(reads),
            false => text::data_beyond_memory(data / memory),
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
        parts.push(text::nothing_durable(&reason, were_flushed));
    }
    if facts.iter().any(|f| f.kind.as_deref() == Some("image")) {
        parts.push(text::on_images());
    }
    parts.extend(on_loop_devices(state, facts));
    if let Some(kind) = f.virtualization.as_deref().filter(|kind| *kind != "none") {
        parts.push(text::in_virtual_machine(kind));
    }
    parts.extend(in_container(f));
    parts
}

/// The container of the server, and the limits of its cgroup, which may have decided.
fn in_container(f: &Facts) -> Option<String> {
    let container = f.container.as_deref().filter(|kind| *kind != "none");
    let limits = f.limits.as_ref().map(Limits::without_names);
    let limits = limits.and_then(|limits| limits.in_words());
    text::in_container(container, limits.as_deref())
}

/// Targets that name a device, or a directory, which is a file of another filesystem.
fn on_loop_devices(state: &State, facts: &[Facts]) -> Option<String> {
    let is_one = |f: &&Facts| f.is_on_loop == Some(true) && f.kind.as_deref() != Some("image");
    let named = facts.iter().filter(is_one);
    let names: Vec<&str> = named
        .map(|f| state.targets.get(f.number).map_or("", |t| t.name.as_str()))
        .collect();
    (!names.is_empty()).then(|| text::on_loop_devices(&names))
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
    let default = plan::DEFAULT_CYCLE_SECONDS;
    (seconds < default).then(|| text::short_cycles(seconds, default, plan::is_provisional(seconds)))
}

/// Where WAL has forced checkpoints: who commits more has more of them, so that two targets do not work under the same ones.
fn forced_checkpoints(state: &State, facts: &[Facts]) -> Option<String> {
    let name = |f: &Facts| state.targets.get(f.number).map_or("", |t| t.name.as_str());
    let forced = |f: &Facts| f.forced_checkpoints.unwrap_or(0.0);
    let all = |f: &Facts| f.checkpoints.unwrap_or(0.0);
    facts.iter().any(Facts::has_forced).then(|| {
        let each = facts.iter().map(|f| (name(f), forced(f), all(f)));
        let each: Vec<_> = each.collect();
        text::forced_checkpoints(&each)
    })
}

/// shared_buffers that are smaller than data which fit into memory.
fn small_buffers(f: &Facts) -> Option<f64> {
    let (data, memory) = f.data_and_memory()?;
    let buffers = f.shared_buffers_bytes?;
    (fits_memory(data, memory) && buffers < data).then_some(buffers)
}

/// A finding of this code that is a warning about a target's runs.
fn found_of<'a>(row: &'a Row, code: &str) -> Option<&'a WarningCount> {
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
    let is_all = small.len() == facts.len();
    let data = f.data_bytes.unwrap_or(0.0);
    let names = (!is_all).then_some(&names[..]);
    Some(text::small_buffers(names, *buffers, data))
}

/// Targets with a warning of this code, and in which of their runs; None if there are none.
fn each_with<'a>(answers: &'a [Row], code: &str) -> Option<Vec<(&'a str, String)>> {
    let found = |row: &'a Row| Some((row.target.as_str(), found_of(row, code)?.in_which()));
    let each: Vec<_> = answers.iter().filter_map(found).collect();
    (!each.is_empty()).then_some(each)
}

/// Where figures rose or fell within the windows: what they are depends on how long these are.
fn unsteady(answers: &[Row]) -> Option<String> {
    each_with(answers, DRIFT).map(|each| text::unsteady(&each))
}

/// Runs from which the host took processors.
fn robbed_by_host(answers: &[Row]) -> Option<String> {
    each_with(answers, "steal").map(|each| text::robbed_by_host(&each))
}

/// Where all servers that were measured had data checksums and this one has none, or the other way round.
fn unlike_in_checksums(facts: &[Facts], here: &ThisServer) -> Option<String> {
    let are_all = |on: bool| facts.iter().all(|f| f.data_checksums == Some(on));
    let measured = !here.data_checksums;
    are_all(measured).then(|| text::checksums(measured))
}

/// The regime in a few words, to stand behind a choice.
pub fn in_short(state: &State, answers: &[&Row], facts: &[Facts]) -> String {
    let Some(f) = facts.first() else {
        return String::new();
    };
    let data = f.data_and_memory();
    let has = |code: &str| answers.iter().any(|row| found_of(row, code).is_some());
    let cycle = given_cycle(&state.experiment, f);
    let kind = f.virtualization.as_deref().filter(|kind| *kind != "none");
    let circumstances = Circumstances {
        data_in_memory: data.map(|(data, memory)| fits_memory(data, memory)),
        // Where that is what was compared, the choice has its own.
        has_small_buffers: facts.iter().all(|f| small_buffers(f).is_some()),
        provisional_cycle: cycle.filter(|seconds| plan::is_provisional(*seconds)),
        nothing_durable: nothing_durable(facts),
        has_forced_checkpoints: facts.iter().any(Facts::has_forced),
        is_unsteady: has(DRIFT),
        on_images: facts.iter().any(|f| f.kind.as_deref() == Some("image")),
        on_loop_device: facts.iter().any(|f| f.is_on_loop == Some(true)),
        virtual_machine: kind.map(str::to_owned),
        is_disturbed: has("noisy_neighbour"),
    };
    circumstances.words()
}
