//! From what was asked to a full specification. What each workload chooses when it is not given is said in its folder. The seed is a
//! random one.

use super::{
    check_parameters, check_rate, named,
    options::{check_place, options},
};
use crate::{
    refusal::Refusal,
    spec::{Facts, Given, Names, Options, RunArguments, Spec, Workload, check, json},
};

/// Within which a quick look should end: a minute, less what cleaning up may take.
const QUICK_WITHIN_MS: u64 = 55_000;
/// Parameters that every workload has, of those that can be chosen.
const OF_ALL: [&str; 1] = ["seed"];

/// Checks every argument and chooses what was not given. Refuses with `InvalidArgument`, or `NoWorkerSlot` when the server
/// has too few free worker slots for the clients.
pub fn resolve(arguments: &RunArguments, facts: &Facts) -> Result<Spec, Refusal> {
    let target = check::target(arguments.target.as_deref(), &facts.targets)?;
    check::keep(arguments.keep, &target)?;
    let workload = named(arguments.workload.as_deref())?;
    check_rate(workload, arguments)?;
    check_parameters(workload, arguments)?;
    let mut options = options(arguments.options.as_ref(), workload)?;
    check::search(&options, arguments)?;
    if let (Some(scale), Some(size)) = (arguments.scale, arguments.size.as_deref()) {
        return Err(check::scale_and_size(scale, size));
    }
    let scale = workload.scale(arguments, &options, facts)?;
    let bound = check::bound(arguments.duration_us, arguments.transactions)?;
    let warmup_ms = check::warmup(arguments.warmup_us)?;
    let rate = check::rate(arguments.rate)?;
    let latency_limit_ms = check::latency_limit(arguments.latency_limit_ms)?;
    let settings = json::settings(arguments.settings.as_ref())?;
    check_place(&options, workload, &target)?;
    check::crash(&options, &target, arguments, facts)?;
    check::instances(&options, &target, arguments, facts)?;
    check::wal_segments(&options, &target, arguments, facts)?;
    check::power_cuts(workload, &target, arguments, facts)?;
    let own_database = check::own_database(&options, &target, arguments, facts)?;
    let label = check::label(arguments.label.as_deref())?;
    let mut names = Names {
        chosen: chosen_names(workload, arguments),
        there: chosen_there(workload, arguments, &options, facts),
    };
    let given = Given {
        facts,
        stage: &arguments.stage,
        is_on_own: own_database.is_some() || arguments.stage.is_on_own(),
        settings: &settings,
        scale,
        clients: check::clients(arguments.clients, facts)?,
        bound,
        warmup_ms,
        rate,
        script: &arguments.script,
    };
    let chosen = workload.choose(&given, &mut options, &mut names)?;
    let open = bound.is_none()
        && warmup_ms.is_none()
        && scale.is_none()
        && !options.maintenance
        && options.sustain == 0.0
        && options.instances == 1;
    Ok(Spec {
        target,
        workload,
        scale: chosen.scale,
        clients: chosen.clients,
        bound: chosen.bound,
        warmup_ms: chosen.warmup_ms,
        rate,
        latency_limit_ms,
        seed: arguments.seed.unwrap_or(facts.random_seed),
        settings,
        options,
        stage: arguments.stage.clone(),
        own_database,
        label,
        keep: arguments.keep,
        force: arguments.force,
        chosen: names.chosen,
        within_ms: (open && workload.takes("duration")).then_some(QUICK_WITHIN_MS),
        chosen_there: names.there,
    })
}

/// The values that depend on the machine, if that is not this one.
fn chosen_there(
    workload: Workload,
    arguments: &RunArguments,
    options: &Options,
    facts: &Facts,
) -> Vec<String> {
    // The checkpoint cycle of a server of a target is its own.
    let cycle =
        (options.sustain > 0.0 && facts.server_is_another && arguments.duration_us.is_none())
            .then(|| "duration".to_owned());
    let open = [
        // A size can be one in terms of its RAM.
        ("scale", arguments.scale.is_none()),
        ("clients", arguments.clients.is_none()),
    ];
    open.into_iter()
        .filter(|(name, open)| facts.by_connection && *open && workload.takes(name))
        .map(|(name, _)| name.to_owned())
        .chain(cycle)
        .collect()
}

fn chosen_names(workload: Workload, arguments: &RunArguments) -> Vec<String> {
    let given = [
        (
            "scale",
            arguments.scale.is_some() || arguments.size.is_some(),
        ),
        ("clients", arguments.clients.is_some()),
        (
            "duration",
            arguments.duration_us.is_some() || arguments.transactions.is_some(),
        ),
        ("warmup", arguments.warmup_us.is_some()),
        ("seed", arguments.seed.is_some()),
    ];
    given
        .into_iter()
        .filter(|(name, given)| !given && (OF_ALL.contains(name) || workload.takes(name)))
        .map(|(name, _)| name.to_owned())
        .collect()
}
