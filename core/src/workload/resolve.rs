//! From what was asked to a full specification. What each workload chooses when it is not given is said in its folder. The seed is a
//! random one.

use super::{
    check_parameters, check_rate, named,
    options::{check_place, options},
};
use crate::{
    refusal::Refusal,
    spec::{Asked, Facts, Given, Names, Options, Spec, Workload, check, json},
};

/// Within which a quick look should end: a minute, less what cleaning up may take.
const QUICK_WITHIN_MS: u64 = 55_000;
/// Parameters that every workload has, of those that can be chosen.
const OF_ALL: [&str; 1] = ["seed"];

/// Checks every argument and chooses what was not given. Refuses with `InvalidArgument`, or `NoWorkerSlot` when the server
/// has too few free worker slots for the clients.
pub fn resolve(asked: &Asked, facts: &Facts) -> Result<Spec, Refusal> {
    let target = check::target(asked.target.as_deref(), &facts.targets)?;
    check::keep(asked.keep, &target)?;
    let workload = named(asked.workload.as_deref())?;
    check_rate(workload, asked)?;
    check_parameters(workload, asked)?;
    let mut options = options(asked.options.as_ref(), workload)?;
    check::search(&options, asked)?;
    if let (Some(scale), Some(size)) = (asked.scale, asked.size.as_deref()) {
        return Err(check::scale_and_size(scale, size));
    }
    let scale = workload.scale(asked, &options, facts)?;
    let bound = check::bound(asked.duration_us, asked.transactions)?;
    let warmup_ms = check::warmup(asked.warmup_us)?;
    let rate = check::rate(asked.rate)?;
    let latency_limit_ms = check::latency_limit(asked.latency_limit_ms)?;
    let settings = json::settings(asked.settings.as_ref())?;
    check_place(&options, workload, &target)?;
    check::crash(&options, &target, asked, facts)?;
    check::wal_segments(&options, &target, asked, facts)?;
    check::power_cuts(workload, &target, asked, facts)?;
    let label = check::label(asked.label.as_deref())?;
    let mut names = Names {
        chosen: chosen_names(workload, asked),
        there: chosen_there(workload, asked, &options, facts),
    };
    let given = Given {
        facts,
        stage: &asked.stage,
        settings: &settings,
        scale,
        clients: check::clients(asked.clients, facts)?,
        bound,
        warmup_ms,
        rate,
        script: &asked.script,
    };
    let chosen = workload.choose(&given, &mut options, &mut names)?;
    let open = bound.is_none()
        && warmup_ms.is_none()
        && scale.is_none()
        && !options.maintenance
        && options.sustain == 0.0;
    Ok(Spec {
        target,
        workload,
        scale: chosen.scale,
        clients: chosen.clients,
        bound: chosen.bound,
        warmup_ms: chosen.warmup_ms,
        rate,
        latency_limit_ms,
        seed: asked.seed.unwrap_or(facts.random_seed),
        settings,
        options,
        stage: asked.stage.clone(),
        label,
        keep: asked.keep,
        force: asked.force,
        chosen: names.chosen,
        within_ms: (open && workload.takes("duration")).then_some(QUICK_WITHIN_MS),
        chosen_there: names.there,
    })
}

/// The values that depend on the machine, if that is not this one.
fn chosen_there(
    workload: Workload,
    asked: &Asked,
    options: &Options,
    facts: &Facts,
) -> Vec<String> {
    // The checkpoint cycle of a server of a target is its own.
    let cycle = (options.sustain > 0.0 && facts.server_is_another && asked.duration_us.is_none())
        .then(|| "duration".to_owned());
    let open = [
        // A size can be one in terms of its RAM.
        ("scale", asked.scale.is_none()),
        ("clients", asked.clients.is_none()),
    ];
    open.into_iter()
        .filter(|(name, open)| facts.by_connection && *open && workload.takes(name))
        .map(|(name, _)| name.to_owned())
        .chain(cycle)
        .collect()
}

fn chosen_names(workload: Workload, asked: &Asked) -> Vec<String> {
    let given = [
        ("scale", asked.scale.is_some() || asked.size.is_some()),
        ("clients", asked.clients.is_some()),
        (
            "duration",
            asked.duration_us.is_some() || asked.transactions.is_some(),
        ),
        ("warmup", asked.warmup_us.is_some()),
        ("seed", asked.seed.is_some()),
    ];
    given
        .into_iter()
        .filter(|(name, given)| !given && (OF_ALL.contains(name) || workload.takes(name)))
        .map(|(name, _)| name.to_owned())
        .collect()
}
