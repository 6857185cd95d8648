//! The targets of an experiment: looked up and checked.

use std::{collections::BTreeSet, fs, path::Path};

use pgfsbench_core::{
    doctor::target as judge,
    experiment::{
        arguments::{Checked, ExperimentArguments},
        devices, plan, variants,
    },
    refusal::{Refusal, quoted},
    spec::{DEFAULT_TARGET, Spec},
};

use super::parameters::object;
use crate::{
    api::{
        doctor,
        guard::{self, Ready},
    },
    errors::{Fault, sqlstate},
    host::location::{self, Location},
    pg::{report, session, xact},
    run::preflight,
    target::{self, helper_job},
};

/// How long a run waits for the helper.
const HELPER_MS: u64 = 3_600_000;

/// The error for a target that is not there.
pub fn unknown(name: &str) -> Fault {
    Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("target {} does not exist", quoted(name)),
    )
    .detail("An experiment compares targets of fsbench.target.")
    .hint("Create it with fsbench.create_target(), or give filesystems with device or image_size.")
}

/// All of them are there, and what is asked for can be done with them.
pub fn check_targets(ready: &Ready, checked: &Checked) -> Result<(), Fault> {
    for candidate in &checked.candidates {
        let name = &candidate.target;
        let row = session::with_rights_of(ready.owner, || target::read(name))?;
        let kind = row.as_ref().map(target::Row::kind).transpose()?;
        if kind.is_none() && name != DEFAULT_TARGET {
            return Err(unknown(name));
        }
        let settings = row.as_ref().and_then(|row| row.settings.as_ref());
        variants::check_settings(&candidate.own, name, settings)?;
        let is_of_another = kind == Some(target::Kind::Connection) || kind.is_none();
        if checked.cycle_seconds.is_some() && is_of_another {
            return Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("cycle cannot be set for target {}", quoted(name)),
            )
            .detail("That server is there already, and its checkpoint_timeout is its own.")
            .hint("Leave cycle out, or leave the target out."));
        }
    }
    Ok(())
}

/// Why the helper that serves cannot make them, of each that it cannot. Where none serves, nothing is known.
pub fn not_made(ready: &Ready, checked: &Checked) -> Result<Vec<Refusal>, Fault> {
    let look = || {
        let version = helper_job::helper_version()?;
        let serves = version.as_deref() == Some(guard::VERSION);
        let described = match serves {
            true => doctor::description()?,
            false => None,
        };
        let Some((helper, _)) = described else {
            return Ok(Vec::new());
        };
        let place = doctor::place()?;
        // Several candidates may be on one target.
        let names: BTreeSet<&String> = checked.candidates.iter().map(|c| &c.target).collect();
        let rows: Result<Vec<_>, Fault> =
            names.into_iter().map(|name| target::read(name)).collect();
        let rows = rows?.into_iter().flatten();
        Ok(rows
            .filter_map(|row| judge::refusal(&helper, &row, &place))
            .collect())
    };
    // Among them are those that were made just now.
    xact::seeing_own_changes(|| session::with_rights_of(ready.owner, look))
}

/// At night a helper that is down is not noticed: runs wait for it, `HELPER_MS` long unless the caller has said how long.
pub fn wait_for_helper(
    ready: &Ready,
    arguments: &ExperimentArguments,
    checked: &mut Checked,
) -> Result<(), Fault> {
    let option = "wait_for_helper_ms";
    let is_given = arguments
        .run
        .options
        .as_ref()
        .is_some_and(|o| o.get(option).is_some());
    for candidate in checked.candidates.iter_mut().filter(|_| !is_given) {
        let kind = session::with_rights_of(ready.owner, || target::kind_of(&candidate.target))?;
        if kind.is_some_and(target::Kind::is_made) {
            let mut options = object(candidate.own.remove("options"));
            options.insert(option.into(), HELPER_MS.into());
            candidate.own.insert("options".into(), options.into());
        }
    }
    Ok(())
}

/// The runs on this server together, which may take more transaction ids than one of them.
pub fn check_transaction_ids(
    ready: &Ready,
    checked: &Checked,
    specs: &[Spec],
    forced: bool,
) -> Result<(), Fault> {
    let here = specs
        .iter()
        .filter(|spec| spec.is_here() && spec.workload.writes());
    let of_block: f64 = here
        .map(|spec| spec.transactions_at(plan::ASSUMED_TPS))
        .sum();
    let needed = of_block * f64::from(checked.max_blocks);
    if forced || needed == 0.0 {
        return Ok(());
    }
    let state = session::with_rights_of(ready.owner, preflight::server_state)?;
    let checked = state.check_transaction_ids(needed);
    checked.map_err(|refusal| Fault::from(refusal).context("all runs of the experiment together"))
}

/// Warns beforehand if the targets are on different devices, whose differences will pass for theirs.
pub fn warn_of_devices(ready: &Ready, checked: &Checked, forced: bool) -> Result<(), Fault> {
    let mut places = Vec::new();
    for candidate in &checked.candidates {
        let row = session::with_rights_of(ready.owner, || target::read(&candidate.target))?;
        let location = match &row {
            None => location::data_location(),
            Some(row) => (row.directory.as_deref()).and_then(|path| Location::of(Path::new(path))),
        };
        let source = location.and_then(|l| l.mount().map(|mount| mount.source.clone()));
        places.push(devices::of_target(row.as_ref(), source, resolved));
    }
    if devices::are_different(&places) && !forced {
        report::log_warning(
            &Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the targets are on different devices or servers",
            )
            .detail("What the devices do cannot be told from what the filesystems do: the verdicts will be inconclusive (device confounded).")
            .hint("Let the targets take turns on one device, or use force => true if the devices are what you compare."),
        );
    }
    Ok(())
}

/// A path in /dev without symbolic links; what is no such path stays as it is.
fn resolved(path: &str) -> String {
    match fs::canonicalize(path) {
        Ok(node) if path.starts_with("/dev/") => node.display().to_string(),
        _ => path.to_owned(),
    }
}
