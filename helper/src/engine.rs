//! Carries out requests: gathers facts, makes a plan, and takes its steps one by one, each in the journal before it is taken. When
//! one fails, all are undone.

mod array;
mod caches;
mod closed;
mod cut;
mod cut_storage;
mod describe;
mod erase;
mod facts;
mod log_writes;
mod outline;
mod refused_options;
mod remount;
mod settings;
mod steps;
mod undo;
mod zfs;

use crate::config::Config;
use crate::journal::{Entry, Journal, Layer, State, Turn};
use crate::layer::{Part, PlannedLeaf, Role, Step};
use crate::place::{DIRECTORY, Place};
use crate::plan::Plan;
use crate::probe;
use crate::probe::device::Access;
use crate::probe::queue::Queue;
use crate::secure;
use pgfsbench_core::helper::effective::{is_same_value, not_in_force};
use pgfsbench_core::helper::{Name, Prepare, Request};
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use steps::Work;

pub use crate::layer::{Hook, Tell};

/// The outcome of clearing up one place.
pub struct Cleared {
    pub place: String,
    pub outcome: Result<(), Refusal>,
}

pub struct Engine {
    config: Config,
    journal: Journal,
    hook: Hook,
}

impl Engine {
    pub fn new(config: Config, hook: Hook) -> Result<Self, Refusal> {
        if !rustix::process::geteuid().is_root() {
            return Err(Refusal::new(Kind::NotAllowed, "this needs root"));
        }
        let journal = Journal::open(&config)?;
        Ok(Self {
            config,
            journal,
            hook,
        })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The turn of one job at a time.
    pub fn turn(&self) -> &Turn {
        &self.journal.turn
    }

    /// Does what a job of this database asks for, which may be for a run.
    pub fn handle(
        &self,
        database: &Name,
        run: Option<i64>,
        request: &Request,
        tell: Tell,
    ) -> Result<Value, Refusal> {
        request.check()?;
        let place = |target: &Name| place_of(database, target);
        match request {
            Request::Prepare { target, prepare } => {
                self.prepare(&place(target), run, prepare, tell)
            }
            Request::Release { target } => self.release(&place(target), tell),
            Request::Remount { target } => self.remount(&place(target), tell),
            Request::Plan { target, prepare } => self.outline(&place(target), prepare),
            Request::Try { target, prepare } => self.try_out(&place(target), prepare, tell),
            Request::Describe => self.describe(database),
            Request::DropCaches => self.drop_caches(tell),
            Request::CutStop { target, stop } => self.cut_stop(&place(target), stop, tell),
            Request::Cut { target, cut } => self.cut(&place(target), cut, tell),
            Request::CutAgain { target } => self.cut_again(&place(target), tell),
            Request::CutEnd { target } => self.cut_end(&place(target), tell),
            Request::BarriersOff { target } => self.barriers_off(&place(target), tell),
            Request::Fault { target, fault } => self.fault(&place(target), fault),
        }
    }

    /// The steps that `prepare` would take now.
    pub fn plan(&self, place: &Place, request: &Prepare) -> Result<Plan, Refusal> {
        // Another job holds the lock: do not claim.
        let lock = self.journal.try_lock()?;
        let access = match lock {
            Some(_) => Access::Claim,
            None => Access::Glance,
        };
        self.planned(place, request, access)
    }

    fn planned(&self, place: &Place, request: &Prepare, access: Access) -> Result<Plan, Refusal> {
        request.check()?;
        let facts = facts::gather(&self.config, &self.journal, place, request, access)?;
        crate::plan::prepare(&self.config, place, request, &facts)
    }

    /// Makes the filesystem and mounts it, for a run if it is for one.
    pub fn prepare(
        &self,
        place: &Place,
        run: Option<i64>,
        request: &Prepare,
        tell: Tell,
    ) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        if let Some(entry) = self.journal.read(place, &self.config)? {
            if entry.state == State::Ready && !self.is_stale(&entry)? {
                return Err(Refusal::new(
                    Kind::NotInThisState,
                    format!("target \"{}\" is prepared already", place.target),
                )
                .detail(format!("It is mounted on {}.", entry.mount_point.display()))
                .hint("Release it first."));
            }
            self.undo(place, entry, &lock, tell)?;
        }
        let plan = self.planned(place, request, Access::Claim)?;
        closed::mount_root(&self.config)?;
        check_is_free(&plan)?;
        let leaf = |(part, on): (_, &PlannedLeaf)| Layer::Leaf {
            part,
            on: on.kept(),
        };
        let mut entry = Entry::new(
            place,
            plan.filesystem,
            &plan.uuid,
            plan.leaves().map(leaf).collect(),
            plan.mount_point.clone(),
        )?;
        entry.recorder = plan.recorder.clone();
        entry.mount_options = plan.steps.iter().find_map(|step| match step {
            Step::Mount { options, .. } => Some(options.clone()),
            _ => None,
        });
        entry.run = run;
        match self.take_steps(&plan, &mut entry, &lock, tell) {
            Ok(work) => Ok(self.result(request, &plan, &work)),
            Err(refusal) => Err(match self.undo(place, entry, &lock, tell) {
                Ok(_) => refusal,
                Err(further) => {
                    let detail = refusal.detail.clone().unwrap_or_default();
                    refusal
                        .detail(format!(
                            "{detail}\nClearing up failed too: {further}. {}",
                            further.detail.as_deref().unwrap_or("")
                        ))
                        .hint("Run pgfsbench-helper cleanup when that is put right.")
                }
            }),
        }
    }

    fn take_steps<'a>(
        &'a self,
        plan: &'a Plan,
        entry: &mut Entry,
        lock: &'a File,
        tell: Tell,
    ) -> Result<Work<'a>, Refusal> {
        let mut work = Work::new(self, plan, lock);
        for step in &plan.steps {
            entry.steps.push(step.name().to_owned());
            self.journal.write(entry)?;
            self.hook.before(step.name());
            work.take(step, entry, tell)?;
            self.hook.after(step.name());
        }
        entry.state = State::Unreported;
        self.journal.write(entry)?;
        self.hook.after("ready");
        Ok(work)
    }

    /// Marks a target as kept: the caller knows that it is prepared. A restart of the helper does not remove it.
    pub fn keep(&self, database: &Name, target: &Name) -> Result<(), Refusal> {
        self.while_unreported(database, target, |mut entry, _| {
            entry.state = State::Ready;
            self.journal.write(&entry)
        })
    }

    /// Discards a target whose preparation could not be reported.
    pub fn discard(&self, database: &Name, target: &Name) -> Result<(), Refusal> {
        self.while_unreported(database, target, |entry, lock| {
            let place = place_of(database, target);
            self.undo(&place, entry, lock, &mut |_| {})
        })
    }

    fn while_unreported(
        &self,
        database: &Name,
        target: &Name,
        act: impl FnOnce(Entry, &File) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let lock = self.journal.lock()?;
        let entry = self
            .journal
            .read(&place_of(database, target), &self.config)?;
        match entry {
            Some(entry) if entry.state == State::Unreported => act(entry, &lock),
            _ => Ok(()),
        }
    }

    /// Finds out whether programs and kernel take what is asked for: makes and mounts it on a sparse image, and removes it again.
    fn try_out(&self, place: &Place, request: &Prepare, tell: Tell) -> Result<Value, Refusal> {
        let trial = request.on_trial_image();
        let made = self.prepare(place, None, &trial, tell)?;
        self.release(place, tell)?;
        let told = |name: &str| (name.to_owned(), made[name].clone());
        let names = [
            "image_bytes",
            "kernel",
            "mkfs_version",
            "mount_options_not_shown",
        ];
        Ok(Value::Object(names.map(told).into_iter().collect()))
    }

    /// The result of a job `prepare`, as the extension stores it.
    fn result(&self, request: &Prepare, plan: &Plan, work: &Work) -> Value {
        let not_shown = not_in_force(plan.filesystem, &plan.mount_options, &work.options);
        let mut result = json!({
            "directory": plan.mount_point.join(DIRECTORY),
            "mount_point": plan.mount_point,
            "filesystem": plan.filesystem,
            "uuid": work.uuid,
            "mount_options": work.options,
            "mount_options_asked": plan.mount_options.join(","),
            "mount_options_not_shown": not_shown,
            "mkfs_version": probe::programs::version(plan.filesystem),
            "kernel": probe::kernel::release(),
            "properties": work.properties,
            "properties_not_in_force": properties_not_in_force(request, &work.properties),
            "geometry": work.geometry,
            "ssd_state": request.ssd_state,
            "block_settings": request.block_settings,
            "kernel_settings": request.kernel_settings,
            "settings_before": work.settings_before,
            "queue": Queue::of_device(work.devices.filesystem()).and_then(|queue| queue.limits()),
        });
        let Value::Object(all) = &mut result else {
            return result;
        };
        let described = |on: &PlannedLeaf, part| on.describe(work.devices.of(part));
        let members = plan.members.iter().enumerate();
        let mut members: Vec<Value> = members
            .map(|(n, on)| described(on, Part::Member(n)))
            .collect();
        if let (Some(layout), true) = (request.layout, members.len() > 1) {
            all.insert("device".into(), json!(work.devices.filesystem()));
            all.insert("layout".into(), json!(layout));
            all.insert("layout_options".into(), json!(request.layout_options));
            all.insert("initial_sync".into(), json!(request.initial_sync));
            all.insert("array".into(), json!(work.array(Role::Filesystem)));
            all.insert("members".into(), Value::Array(members));
        } else if let Some(Value::Object(further)) = members.pop() {
            all.extend(further);
        }
        let logs = plan.logs.iter().enumerate();
        let mut logs: Vec<Value> = logs.map(|(n, on)| described(on, Part::Log(n))).collect();
        let log = match request.log_layout() {
            None => logs.pop(),
            Some(layout) => Some(json!({
                "device": work.devices.log.device(),
                "layout": layout,
                "array": work.array(Role::Log),
                "members": logs,
            })),
        };
        all.extend(log.map(|log| ("log".to_owned(), log)));
        result
    }

    /// Unmounts a target and removes what was made for it. One that is not there is released already.
    pub fn release(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        match self.journal.read(place, &self.config)? {
            None => Ok(json!({"released": false})),
            Some(entry) => {
                self.undo(place, entry, &lock, tell)?;
                Ok(json!({"released": true}))
            }
        }
    }

    /// Undoes what the journal names: all of it, or only what was not brought to its end, or has ended with the last boot.
    /// Says for each place how it went.
    pub fn cleanup(&self, all: bool, tell: Tell) -> Result<Vec<Cleared>, Refusal> {
        let lock = self.journal.lock()?;
        self.journal.sweep()?;
        let (places, strange) = self.journal.places()?;
        let mut outcomes: Vec<_> = strange
            .into_iter()
            .map(|name| {
                let refusal = Refusal::new(Kind::NotAllowed, "this is no entry of the journal")
                    .hint("Remove it.");
                Cleared {
                    place: name,
                    outcome: Err(refusal),
                }
            })
            .collect();
        for place in places {
            let outcome = self.journal.read(&place, &self.config).and_then(|entry| {
                let Some(entry) = entry else {
                    return Ok(None);
                };
                if !all && entry.state == State::Ready && !self.is_stale(&entry)? {
                    return Ok(None);
                }
                self.undo(&place, entry, &lock, tell).map(Some)
            });
            if let Some(outcome) = outcome.transpose() {
                outcomes.push(Cleared {
                    place: place.key(),
                    outcome,
                });
            }
        }
        Ok(outcomes)
    }

    /// True if a place that was ready is no longer mounted: after a reboot, or because a user has unmounted it.
    pub(super) fn is_stale(&self, entry: &Entry) -> Result<bool, Refusal> {
        Ok(probe::mounts_on(&entry.mount_point)?.is_empty())
    }
}

fn place_of(database: &Name, target: &Name) -> Place {
    Place {
        database: database.clone(),
        target: target.clone(),
    }
}

/// The properties of a zfs pool that were asked for and are not in force.
fn properties_not_in_force(request: &Prepare, now: &BTreeMap<String, String>) -> Vec<String> {
    let requested = [&request.pool_properties, &request.dataset_properties];
    let texts = requested.into_iter().flatten();
    let requested = texts
        .flat_map(|text| text.split([',', ' ']))
        .filter(|p| !p.is_empty());
    let is_missing = |property: &&str| {
        let (name, value) = property.split_once('=').unwrap_or((property, ""));
        !now.get(name).is_some_and(|now| is_same_value(value, now))
    };
    requested.filter(is_missing).map(str::to_owned).collect()
}

fn taken(path: &Path) -> Refusal {
    let message = format!("{} is there already", secure::shown(path));
    Refusal::new(Kind::NotInThisState, message)
        .detail("The helper's journal does not name it, so the helper has not made it.")
        .hint("Look at it, and remove it by hand.")
}

/// Refuses when something is where the plan will make something. It is not ours, since the journal does not name it.
fn check_is_free(plan: &Plan) -> Result<(), Refusal> {
    for (_, on) in plan.leaves() {
        if let PlannedLeaf::Image { path, .. } = on
            && std::fs::symlink_metadata(path).is_ok()
        {
            return Err(taken(path));
        }
    }
    let mount_point: &PathBuf = &plan.mount_point;
    if let Ok(metadata) = std::fs::symlink_metadata(mount_point) {
        let is_empty = metadata.is_dir()
            && std::fs::read_dir(mount_point).is_ok_and(|mut d| d.next().is_none());
        let is_mounted = !probe::mounts_on(mount_point)?.is_empty();
        if !is_empty || is_mounted {
            return Err(taken(mount_point));
        }
    }
    Ok(())
}
