//! The data of a run on a target: loaded once, by a server of its own in the place for prepared data, and copied from there.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering::{Acquire, Relaxed},
};

use pgfsbench_core::{
    refusal::quoted,
    run::{
        plan::{self, Source, source},
        remote_request::Executor,
    },
    spec::{Cache, Data, OwnDatabase, RoleOfOriginal, Stage},
    target::original,
};

use super::TargetRunProgress;
use crate::{
    bench::Run,
    board::{Phase, Request},
    errors::{Fault, of_file, read_json, sqlstate},
    host::location,
    pg::{libpq::Connection, session, sql, xact},
    run::marker,
    target::{
        Target,
        base_backup::MAJOR,
        prepared_data::{self, DataKey, Loaded, Original, Place},
        server::{copy::check_tablespaces, programs::Programs},
    },
    watch::statements,
};

/// Where data come from that are copied.
pub(super) struct DataSource {
    /// Keeps them from being removed until they are copied.
    place: Option<Place>,
    data_key: DataKey,
    /// None until they are loaded.
    pub prepared: Option<Prepared>,
}

/// Data that can be copied.
pub(super) struct Prepared {
    /// The data directory.
    data: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
    /// The stage that the run there carries out on it.
    pub stage: Stage,
    /// Digest of the script that created the extension in it; empty if not known.
    script: String,
    /// The user's server that they are a copy of.
    original: Option<Original>,
}

impl DataSource {
    /// The place, which is this process's alone until the data are copied.
    fn place(&self) -> Result<&Place, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "the prepared data were let go of");
        self.place.as_ref().ok_or_else(none)
    }

    /// Looks for the data, for an experiment's run if it is one.
    fn find(&mut self, request: &Request) -> Result<(), Fault> {
        let experiment = request.of_experiment.load(Acquire);
        let needed_by = (experiment != 0).then(|| marker::path(experiment));
        let found = self.place()?.find(&self.data_key, needed_by)?;
        self.prepared = found.map(|(data, note)| Prepared {
            data,
            bytes: note.bytes,
            stage: Stage::OnLoaded {
                database: note.database,
                scale: self.data_key.scale,
            },
            script: note.script,
            original: None,
        });
        Ok(())
    }

    /// Looks for the copy of a user's server, for an experiment's run if it is one.
    fn find_own(
        place: Place,
        own: &OwnDatabase,
        role: Option<RoleOfOriginal>,
        request: &Request,
    ) -> Result<Self, Fault> {
        let experiment = request.of_experiment.load(Acquire);
        let needed_by = (experiment != 0).then(|| marker::path(experiment));
        let (data, note) = place.find_named(&own.data, needed_by)?.ok_or_else(|| {
            Fault::new(
                sqlstate::NO_SUCH_OBJECT,
                format!("data {} do not exist any more", quoted(&own.data)),
            )
            .detail("They were dropped after the run was asked for.")
            .hint("Make them again with fsbench.prepare_data().")
        })?;
        if let (Some(role), Some(original)) = (&role, &note.original) {
            original.check_role(&role.name, session::system_identifier())?;
        }
        Ok(Self {
            place: Some(place),
            data_key: note.data_key,
            prepared: Some(Prepared {
                data,
                bytes: note.bytes,
                stage: Stage::OnOwn {
                    database: own.database.clone(),
                    role,
                },
                script: note.script,
                original: note.original,
            }),
        })
    }

    /// Refuses the copy of a user's server if the programs of the target cannot read it.
    fn check_version(&self, data: &str, target: &Target, programs: &Programs) -> Result<(), Fault> {
        let path = self.prepared()?.data.join("PG_VERSION");
        let version = fs::read_to_string(&path).map_err(|e| of_file("read", &path, &e))?;
        let major = match target.bindir {
            // This server may have been upgraded since.
            None => Some(MAJOR),
            Some(_) => programs.major()?,
        };
        original::check_version(data, &version, major, target.bindir.as_deref())?;
        Ok(())
    }

    /// The data, which are there.
    fn prepared(&self) -> Result<&Prepared, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "no data were loaded");
        self.prepared.as_ref().ok_or_else(none)
    }
}

impl Run {
    /// Where the data of the run come from; no [`DataSource`] when the target is to load them itself.
    pub(super) fn supply_of(
        &mut self,
        target: &Target,
        programs: &Programs,
    ) -> Result<(Source, Option<DataSource>), Fault> {
        if let Some(own) = self.spec.own_database.clone() {
            let role = xact::transaction(|| self.asking_role())?;
            let place = Place::open(&mut || self.check_interrupts())?;
            let supply = DataSource::find_own(place, &own, role, self.request)?;
            supply.check_version(&own.data, target, programs)?;
            return Ok((Source::Copied, Some(supply)));
        }
        if source(&self.spec, true, true) == Source::Loaded {
            if self.spec.has_tables() {
                self.check_not_copied("The option \"data\" is \"loaded\".")?;
            }
            return Ok((Source::Loaded, None));
        }
        let data_key =
            prepared_data::data_key(&self.spec, target, &programs.bindir, &programs.user)?;
        let place = Place::open(&mut || self.check_interrupts())?;
        let mut supply = DataSource {
            place: Some(place),
            data_key,
            prepared: None,
        };
        supply.find(self.request)?;
        if supply.prepared.is_some() {
            return Ok((Source::Copied, Some(supply)));
        }
        let bytes = prepared_data::bytes_to_load(&self.spec, target.cluster);
        if let Err(why) = supply
            .place()?
            .make_room(bytes, &|_| Ok(false), &mut || self.check_interrupts())?
        {
            self.check_not_copied(&why)?;
            return Ok((Source::Loaded, None));
        }
        Ok((Source::LoadedOnce, Some(supply)))
    }

    /// The role that has asked for the run; None if it is a superuser, which no session of the run is. In a transaction.
    fn asking_role(&self) -> Result<Option<RoleOfOriginal>, Fault> {
        let oid = self.request.role.load(Acquire);
        let known = "SELECT jsonb_build_array(rolname, rolsuper) FROM pg_catalog.pg_roles WHERE oid = $1::oid";
        let found = sql::read(known, &[Some(&oid.to_string())])?.ok_or_else(|| {
            Fault::new(
                sqlstate::NO_SUCH_OBJECT,
                "the role that asked for the run was dropped",
            )
            .detail("The run has its rights in the copied server.")
            .hint("Start the run again as another role.")
        })?;
        let (name, is_superuser): (String, bool) = read_json("role", &found)?;
        if is_superuser {
            return Ok(None);
        }
        let powers = session::powers_of(&oid.to_string())?;
        Ok(Some(RoleOfOriginal { oid, name, powers }))
    }

    /// The target loads the data itself, unless the cache is to be cold; where the workload sees to that, it is, however the data came
    /// there.
    fn check_not_copied(&self, why: &str) -> Result<(), Fault> {
        if self.spec.options.data == Data::Cloned {
            return Err(
                Fault::new(sqlstate::NOT_IN_THIS_STATE, "there are no data to be cloned")
                    .detail(why)
                    .hint("Raise pgfsbench.prepared_data_limit or make room, or leave out the option \"data\"."),
            );
        }
        if self.spec.workload.sets_cache() || self.spec.options.cache == Cache::Warm {
            return Ok(());
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
    pub(super) fn load_once(&mut self, at: &mut TargetRunProgress) -> Result<(), Fault> {
        let Some(supply) = &mut at.supply else {
            return Err(Fault::new(sqlstate::INTERNAL, "no data are to be loaded"));
        };
        let mut loading = at.server.to_load(supply.place()?.directory().to_owned());
        for act in plan::loading(at.target_state) {
            self.set_up_server(&mut loading, act)
                .map_err(|fault| loading.explain(fault))?;
        }
        let loaded = self.load_remote(loading.connected()?);
        let loaded = loaded.map_err(|fault| loading.explain(fault))?;
        drop(loading.connection.take());
        let server = loading.server()?;
        self.enter(Phase::Provision, 0);
        server.shut_down(&loading.programs.bindir, &mut || self.check_interrupts())?;
        server.sync(&mut || self.check_interrupts())?;
        let data_key = supply.data_key.clone();
        supply
            .place()?
            .keep(&server.data(), data_key, loaded, None)?;
        // Only the directory of its socket is left of it.
        server.stop()?;
        server.remove(false)?;
        self.record(|entry| entry.server = None)?;
        supply.find(self.request)?;
        supply.prepared().map(drop)
    }

    /// Loads them, and leaves the extension as if it had just been created.
    fn load_remote(&mut self, connection: &mut Connection) -> Result<Loaded, Fault> {
        let run_id = self.start_remote(connection, Executor::Own(&Stage::LoadOnly))?;
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
    pub(super) fn copy(&mut self, at: &mut TargetRunProgress) -> Result<(), Fault> {
        let Some(supply) = &mut at.supply else {
            return Err(Fault::new(sqlstate::INTERNAL, "no data are to be copied"));
        };
        let prepared = supply.prepared()?;
        if prepared.original.is_some() {
            check_tablespaces(&prepared.data)?;
        }
        let total = prepared.bytes * (1 + at.others.len() as u64);
        let before = free(&at.server.server()?.directory);
        let is_clone = self.spec.options.data == Data::Cloned;
        self.enter(Phase::Provision, total);
        for setup in std::iter::once(&mut at.server).chain(&mut at.others) {
            setup.script.clone_from(&prepared.script);
            setup.original.clone_from(&prepared.original);
            if let Stage::OnOwn { role, .. } = &prepared.stage {
                setup.role_of_scripts = role.as_ref().map(|role| role.name.clone());
            }
            let server = setup.server()?;
            let mut check_interrupts = || {
                let copied = before.saturating_sub(free(&server.directory));
                self.board.run.done.store(copied.min(total), Relaxed);
                self.check_interrupts()
            };
            server
                .copy_cluster(&prepared.data, is_clone, &mut check_interrupts)
                .map_err(|fault| if is_clone { not_cloned(fault) } else { fault })?;
        }
        // From here on others may have them, and may remove them.
        supply.place = None;
        Ok(())
    }
}

fn not_cloned(fault: Fault) -> Fault {
    // Cancelled, for example.
    if !sqlstate::is_of_the_system(&fault.sqlstate) {
        return fault;
    }
    let detail = match fault.detail {
        Some(detail) => format!("{}. {detail}", fault.message),
        None => format!("{}.", fault.message),
    };
    Fault::new(sqlstate::SYSTEM, "could not clone the prepared data")
        .detail(format!("{detail} Files can share blocks only within one filesystem that can do that."))
        .hint("Have pgfsbench.prepared_data_directory on the filesystem of the target, btrfs or xfs, or leave out the option \"data\".")
}

fn free(directory: &Path) -> u64 {
    location::space(directory).map_or(0, |(free, _)| free)
}
