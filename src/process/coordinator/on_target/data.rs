//! The data of a run on a target: loaded once, by a server of its own in the place for prepared data, and copied from there.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::Ordering::{Acquire, Relaxed},
};

use pgfsbench_core::{
    run::plan::{Place as Where, Source, source},
    spec::{Act, Cache, Data, Stage},
};
use serde_json::json;

use super::{Programs, Whose};
use crate::{
    bench::Run,
    board::Phase,
    errors::{Fault, sqlstate},
    host::location,
    pg::{libpq::Connection, xact},
    random,
    run::{marker, plan},
    target::{
        Target,
        prepared_data::{self, Loaded, Place, Wanted},
        server::TargetServer,
    },
    watch::statements,
};

/// Settings of the server that loads, which is shut down and synced before anybody uses its files.
const FOR_LOADING: [(&str, &str); 6] = [
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("min_wal_size", "32MB"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("autovacuum", "off"),
];

/// Data that can be copied.
pub struct Prepared {
    /// Keeps it from being removed meanwhile.
    _place: Place,
    /// The data directory.
    pub data: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
    /// The stage that the run there carries out on it.
    pub stage: Stage,
    /// What tells the script that has created the extension in it; empty if it is not known.
    pub script: String,
}

impl Run {
    /// Makes the plan, now that it is known where the data come from.
    fn plan_near(&mut self, target: &Target, source: Source) -> Result<(), Fault> {
        let near = xact::transaction(|| plan::near(target, source))?;
        self.plan(Where::Near(near));
        Ok(())
    }

    /// The data to be copied, loaded now if they are not there yet; None when the target is to load them itself.
    pub(super) fn prepared_data(
        &mut self,
        target: &Target,
        programs: &Programs,
    ) -> Result<Option<Prepared>, Fault> {
        let loaded = Source::Loaded;
        if source(&self.spec, true, true) == loaded {
            self.plan_near(target, loaded)?;
            return match self.spec.has_tables() {
                true => self.not_copied("The option \"data\" is \"loaded\"."),
                false => Ok(None),
            };
        }
        let wanted = prepared_data::wanted(&self.spec, target, &programs.bindir, &programs.user)?;
        let place = Place::open(&mut || self.look_around())?;
        let experiment = self.request.of_experiment.load(Acquire);
        let needed_by = || (experiment != 0).then(|| marker::path(experiment));
        let mut found = place.find(&wanted, needed_by())?;
        match found {
            Some(_) => self.plan_near(target, Source::Copied)?,
            None => {
                let bytes = prepared_data::bytes_to_load(&self.spec);
                if let Err(why) = place.make_room(bytes, &mut || self.look_around())? {
                    self.plan_near(target, loaded)?;
                    return self.not_copied(&why);
                }
                self.plan_near(target, Source::LoadedOnce)?;
                self.load_once(target, programs, &place, wanted.clone())?;
                found = place.find(&wanted, needed_by())?;
            }
        }
        Ok(found.map(|(data, note)| Prepared {
            _place: place,
            data,
            bytes: note.bytes,
            stage: Stage::OnLoaded {
                database: note.database,
                scale: wanted.scale,
            },
            script: note.script,
        }))
    }

    /// The target loads the data itself, unless the cache is to be cold; where the workload sees to that, it is, however the data came
    /// there.
    fn not_copied(&self, why: &str) -> Result<Option<Prepared>, Fault> {
        if self.spec.options.data == Data::Cloned {
            return Err(
                Fault::new(sqlstate::NOT_IN_THIS_STATE, "there are no data to be cloned")
                    .detail(why)
                    .hint("Raise pgfsbench.prepared_data_limit or make room, or leave out the option \"data\"."),
            );
        }
        if self.spec.workload.sets_cache() || self.spec.options.cache == Cache::Warm {
            return Ok(None);
        }
        Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "a cold cache needs data that are copied",
        )
        .detail(why)
        .hint(
            "Raise pgfsbench.prepared_data_limit or make room, and leave out the option \"data\".",
        ))
    }

    /// Has a server load the data in the place for them, and shuts it down.
    fn load_once(
        &mut self,
        target: &Target,
        programs: &Programs,
        place: &Place,
        wanted: Wanted,
    ) -> Result<(), Fault> {
        let began = self.begin_step();
        self.step(Act::LoadOnce);
        self.course.go_within();
        let server = TargetServer::at(place.directory(), &random::mark())?;
        self.record(|entry| entry.server = Some(server.clone()))?;
        server.make_directories()?;
        server.make_cluster(
            &programs.bindir,
            &programs.user,
            target.data_checksums,
            &mut || self.look_around(),
        )?;
        let for_loading = FOR_LOADING.map(|(name, value)| (name, value.to_owned()));
        let mut connection = self.start_server(&server, programs, BTreeMap::new(), &for_loading)?;
        let loaded = self.load_there(&mut connection);
        drop(connection);
        let loaded = loaded.map_err(|fault| server.explain(fault))?;
        self.enter(Phase::Provision, 0);
        server.shut_down(&programs.bindir, &mut || self.look_around())?;
        server.sync(&mut || self.look_around())?;
        place.keep(&server.data(), wanted, loaded)?;
        // Only the directory of its socket is left of it.
        server.remove(false, &mut |_| ())?;
        self.record(|entry| entry.server = None)?;
        self.course.leave();
        self.end_step("load_once", began);
        Ok(())
    }

    /// Loads them, and leaves the extension as if it had just been created.
    fn load_there(&mut self, connection: &mut Connection) -> Result<Loaded, Fault> {
        self.make_sure_it_is_ours(connection, "")?;
        let run_id = self.start_there(connection, Whose::Own(&Stage::LoadOnly))?;
        self.follow(connection, &run_id, true)?;
        let database = self.ask(
            connection,
            "SELECT work_database FROM fsbench.run_log WHERE run_id = $1::bigint",
            &[Some(&run_id)],
        )?;
        // Nothing of the run may be left in what is copied.
        let drop = format!("DROP EXTENSION IF EXISTS {}", statements::EXTENSION);
        self.ask(connection, &drop, &[])?;
        let script = self.create_extension(connection, "")?;
        Ok(Loaded { database, script })
    }

    /// Copies them to the target.
    pub(super) fn copy(&mut self, prepared: &Prepared, server: &TargetServer) -> Result<(), Fault> {
        let began = self.begin_step();
        let before = free(&server.directory);
        let is_clone = self.spec.options.data == Data::Cloned;
        self.enter(Phase::Provision, prepared.bytes);
        self.step(Act::CopyData);
        let mut look = || {
            let copied = before.saturating_sub(free(&server.directory));
            let done = copied.min(prepared.bytes);
            self.board.run.done.store(done, Relaxed);
            self.look_around()
        };
        server
            .copy_cluster(&prepared.data, is_clone, &mut look)
            .map_err(|fault| if is_clone { not_cloned(fault) } else { fault })?;
        self.step(Act::Sync);
        server.sync(&mut || self.look_around())?;
        if self.spec.options.cache == Cache::Cold {
            self.step(Act::ForgetData);
            server.forget_pages()?;
        }
        let ms = self.end_step("copy", began);
        self.note(
            "data",
            json!({"copied_bytes": prepared.bytes, "copy_ms": ms, "cache": self.spec.options.cache, "cloned": is_clone}),
        );
        Ok(())
    }
}

fn not_cloned(fault: Fault) -> Fault {
    // Cancelled, for example.
    if !sqlstate::is_of_the_system(&fault.sqlstate) {
        return fault;
    }
    let detail = fault.message;
    Fault::new(sqlstate::SYSTEM, "could not clone the prepared data")
        .detail(format!("Files can share blocks only within one filesystem that can do that: {detail}"))
        .hint("Have pgfsbench.prepared_data_directory on the filesystem of the target, btrfs or xfs, or leave out the option \"data\".")
}

fn free(directory: &Path) -> u64 {
    location::space(directory).map_or(0, |(free, _)| free)
}
