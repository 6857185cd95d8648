//! The filesystem of a target: the helper makes it, and empties the page cache.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    environment::unseen_devices,
    spec::{Actor, Cache, HelperTask},
};
use serde_json::{Value, json};

use super::power_cut;
use crate::{
    bench::Run,
    clock,
    errors::{Fault, sqlstate},
    host::storage,
    pg::{report, session, xact},
    run::{
        cleanup::{self, Remainder},
        journal, preflight,
    },
    store::{self, definition},
    target::{self, ServerPlace, Target, helper_job},
};

/// The pause between two looks at how far an array is in sync.
const LOOK: Duration = Duration::from_millis(250);

impl Run {
    /// Has the helper make the filesystem; gives the directory for the server.
    pub(super) fn make_filesystem(&mut self, target: &Target) -> Result<PathBuf, Fault> {
        let ServerPlace::Made { prepare } = &target.on else {
            let message = format!("the filesystem of target \"{}\" is not made", target.name);
            return Err(Fault::new(sqlstate::INTERNAL, message));
        };
        // A job of an earlier run may have ended since the plan was made.
        self.release_earlier(&target.name)?;
        self.record(|entry| entry.prepared = Some(target.name.clone()))?;
        let mut prepared = prepare.clone();
        prepared.record = power_cut::record_of(&self.spec);
        let made = self.send_helper(&target.name, HelperTask::Prepare, &json!(prepared))?;
        let directory = PathBuf::from(made["directory"].as_str().unwrap_or_default());
        target::is_trustworthy(&directory).map_err(|detail| {
            Fault::new(
                sqlstate::SYSTEM,
                "the directory that the helper has made cannot be used",
            )
            .detail(detail)
            .hint("Look whether this server sees the mounts of the machine: a service with PrivateMounts does not.")
        })?;
        xact::transaction(|| {
            store::set_device_identity(&target.name, &made)?;
            definition::set_definition(self.run_id)
        })?;
        self.note("request", json!(prepare));
        self.note_layers(&made);
        self.note("result", made);
        Ok(directory)
    }

    /// Notes the layers that the server there cannot see: those below zfs, and those of an external log.
    fn note_layers(&mut self, made: &Value) {
        for (name, paths) in unseen_devices(made) {
            if !paths.is_empty() {
                self.note(name, json!(storage::layers_of_devices(&paths)));
            }
        }
    }

    /// The run that has prepared the target, and is over; refuses a target that a user has prepared by hand.
    pub(super) fn prepared_earlier(&self, target: &str) -> Result<Option<i64>, Fault> {
        match xact::transaction(|| helper_job::prepared_by(target))? {
            Some(None) => Err(Fault::new(
                sqlstate::IN_USE,
                format!("target \"{target}\" is prepared already"),
            )
            .detail("Somebody has called fsbench.prepare_target() to look at it.")
            .hint("Call fsbench.release_target() first.")),
            run_id => Ok(run_id.flatten()),
        }
    }

    /// Releases what an earlier run could not have released.
    pub(super) fn release_earlier(&mut self, target: &str) -> Result<(), Fault> {
        // The helper may have done it by itself since the plan was made.
        if self.prepared_earlier(target)?.is_some() {
            self.send_helper(target, HelperTask::ReleaseEarlier, &json!({}))?;
        }
        Ok(())
    }

    /// Removes what earlier runs have left on this place, because its filesystem was not mounted when they ended.
    pub(super) fn remove_earlier(&mut self, place: &Path) -> Result<(), Fault> {
        let own = (session::database(), self.run_id);
        for entry in journal::entries()? {
            let is_left = entry.servers().any(|server| server.is_on(place));
            if !is_left || (entry.extension_database, entry.run_id) == own {
                continue;
            }
            if cleanup::remove_what_was_made(&entry, &mut |_| ())? != Remainder::Something {
                journal::remove(entry.extension_database, entry.run_id)?;
            }
        }
        Ok(())
    }

    /// How long the helper may take to be there.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.spec.options.wait_for_helper_ms)
    }

    /// Has the helper do something, and tells its steps.
    pub(super) fn send_helper(
        &mut self,
        target: &str,
        task: HelperTask,
        request: &Value,
    ) -> Result<Value, Fault> {
        let action = match task {
            HelperTask::Prepare => "prepare",
            HelperTask::DropCaches => "drop_caches",
            HelperTask::Remount => "remount",
            HelperTask::Release | HelperTask::ReleaseEarlier => "release",
        };
        let run_id = Some(self.run_id);
        let patience = self.patience();
        let began_ns = clock::now_ns();
        let (progress, mut looked) = (&self.board.run, Instant::now());
        let mut check_interrupts = || {
            if task == HelperTask::Prepare && looked.elapsed() >= LOOK {
                looked = Instant::now();
                let percent = report::or_log("could not read how far an array is in sync", || {
                    xact::transaction(|| helper_job::sync_percent(self.run_id))
                });
                let percent = percent.flatten();
                progress.total.store(percent.map_or(0, |_| 100), Relaxed);
                progress.done.store(percent.unwrap_or(0), Relaxed);
            }
            self.check_interrupts()
        };
        let result = helper_job::ask(
            run_id,
            target,
            action,
            request,
            patience,
            &mut check_interrupts,
        );
        self.tell_errand(action, began_ns);
        result
    }

    /// Tells the steps that the helper took in its last job of this kind for this run.
    pub(in crate::process::coordinator) fn tell_errand(&mut self, action: &str, began_ns: u64) {
        let steps = report::or_log("could not read the steps of a job", || {
            xact::transaction(|| helper_job::steps(self.run_id, action))
        });
        let mut started_ms = clock::ms(self.started_ns, began_ns);
        for (step, ms) in steps.unwrap_or_default() {
            let action = step.replace('_', " ");
            self.cursor.tell(Actor::Helper, &action, started_ms);
            started_ms += ms;
        }
    }

    /// Refuses a place on which the run does not fit, or on which the page cache cannot be as it is asked for.
    pub(super) fn check_place(&self, target: &Target, place: &Path) -> Result<(), Fault> {
        // Loading the data may have taken room on that of a directory.
        xact::transaction(|| preflight::check_target_room(&self.spec, place))?;
        self.check_cold(target)
    }

    /// A file below the filesystem would keep the data in the page cache.
    fn check_cold(&self, target: &Target) -> Result<(), Fault> {
        let (workload, cache) = (self.spec.workload, self.spec.options.cache);
        if workload.sets_cache() {
            // Caches are dropped once, and the data are read before each unit of work.
            let filesystem = self
                .storage
                .as_ref()
                .map(|made| &made["result"]["filesystem"]);
            let filesystem = filesystem.and_then(Value::as_str).unwrap_or_default();
            let is_cached_below = self.is_cached_below();
            return Ok(workload.check_cache(&self.spec, filesystem, is_cached_below)?);
        }
        if cache != Cache::Cold || target.drop_caches || !self.is_cached_below() {
            return Ok(());
        }
        Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("the page cache of target \"{}\" cannot be cold", target.name),
        )
        .detail("Its image is read and written through the page cache of another filesystem, or the filesystem has a cache of its own.")
        .hint("Have the machine's page cache emptied: fsbench.alter_target() with drop_caches => true, which pgfsbench-helper must allow."))
    }

    /// Whether something below the mounted filesystem, or a cache of its own, keeps what is read and written.
    pub(super) fn is_cached_below(&self) -> bool {
        let made = self.storage.as_ref().map(|storage| &storage["result"]);
        made.is_some_and(|made: &Value| {
            let members = made["members"].as_array().into_iter().flatten();
            let mut leaves = members.chain([made, &made["log"]]);
            leaves.any(|leaf| leaf["direct_io"] == json!(false))
                || made["filesystem"] == json!("zfs")
        })
    }
}
