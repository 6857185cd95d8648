//! A run on another target than this server's own data directory: a server of its own is put there, carries the run out as
//! any server does on itself, and gives the whole result in one document. The same engine runs everywhere.

mod connection;
mod crash;
mod data;
mod remote;

use crash::Crashed;
use remote::{Measured, Whose};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use pgfsbench_core::spec::{Act, Cache, Errand, Stage, Who};
use serde_json::{Value, json};

use crate::{
    bench::Run,
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{config, libpq::Connection, report, session, xact},
    random,
    run::{
        journal::{self, Entry},
        judgement, preflight,
    },
    store::{self, definition},
    target::{
        self, On, Target, helper_job,
        server::{
            TargetServer, programs,
            settings::{self, Settings},
        },
    },
    watch::statements,
};

/// The programs of a target server, and who it belongs to.
struct Programs {
    bindir: PathBuf,
    /// Whether they are those of this server too.
    own: bool,
    user: String,
}

/// A server that was put on a target, and runs.
struct Put {
    server: TargetServer,
    connection: Connection,
    /// What is to be done there.
    stage: Stage,
    /// What tells the script that has created the extension in its data; empty where there is none yet.
    script: String,
}

impl Run {
    /// From the row to the result, on the target.
    pub(super) fn carry_out_on_target(&mut self) -> Result<Outcome, Fault> {
        self.begin()?;
        self.enter(Phase::Provision, 0);
        let (target, own_bindir) = xact::transaction(|| {
            preflight::check_target(&self.spec)?;
            Ok((target::find(&self.spec.target)?, programs::own_bindir()?))
        })?;
        let is_protected = target.power_loss_protected;
        if matches!(target.on, On::Directory(_) | On::Made { .. }) {
            self.note_asking_server()?;
        }
        if is_protected {
            self.note("power_loss_protected", json!(true));
        }
        match &target.on {
            On::Connection(connection) => self.carry_out_on_connection(connection),
            On::Directory(_) | On::Made { .. } => self.carry_out_near(target, own_bindir),
        }?;
        xact::transaction(|| {
            if is_protected {
                store::declare_protection(self.run_id)?;
            }
            // The server there did not know what it was put on, nor beside whom.
            judgement::store(self.run_id)
        })
    }

    /// Notes the memory that this server takes beside the one that is measured.
    fn note_asking_server(&mut self) -> Result<(), Fault> {
        let bytes = xact::transaction(|| config::bytes("shared_buffers"))?;
        self.note("asking_server", json!({"shared_buffers_bytes": bytes}));
        Ok(())
    }

    /// On a server of our own on this machine.
    fn carry_out_near(&mut self, target: Target, own_bindir: PathBuf) -> Result<(), Fault> {
        let bindir = target.bindir.clone().unwrap_or_else(|| own_bindir.clone());
        let programs = Programs {
            own: bindir == own_bindir,
            bindir,
            user: programs::operating_system_user()?,
        };
        let Put {
            server,
            mut connection,
            stage,
            script,
        } = self.put_server(&target, &programs)?;
        let result = self
            .make_sure_it_is_ours(&mut connection, &script)
            .and_then(|()| self.have_it_run(&mut connection, Whose::Own(&stage)))
            .and_then(|measured| {
                let crashed = match self.spec.options.crash {
                    true => Some(self.crash(&target, &programs, &server, connection, &measured)?),
                    false => {
                        drop(connection);
                        None
                    }
                };
                self.store_measured(&measured, crashed.as_ref())
            });
        result.map_err(|fault| server.explain(fault))
    }

    /// Makes and starts the server on the target, with or without data.
    fn put_server(&mut self, target: &Target, programs: &Programs) -> Result<Put, Fault> {
        if matches!(target.on, On::Made { .. }) {
            // Before data are loaded for nothing.
            let patience = self.patience();
            helper_job::wait_for_helper(patience, &mut || self.look_around())?;
        }
        let prepared = self.prepared_data(target, programs)?;
        if let On::Directory(directory) = &target.on {
            // Loading may have taken room on the same filesystem.
            xact::transaction(|| preflight::check_target_room(&self.spec, directory))?;
        }
        let began = self.begin_step();
        let directory = self.filesystem_of(target)?;
        self.end_step("filesystem", began);
        self.check_cold(target)?;
        let server = TargetServer::at(&directory, &random::mark())?;
        self.record(|entry| entry.server = Some(server.clone()))?;
        self.step(Act::MakeDirectory);
        server.make_directories()?;
        let (stage, script) = match prepared {
            Some(prepared) => {
                self.copy(&prepared, &server)?;
                (prepared.stage, prepared.script)
            }
            None => {
                self.step(Act::Initdb);
                server.make_cluster(
                    &programs.bindir,
                    &programs.user,
                    target.data_checksums,
                    &mut || self.look_around(),
                )?;
                self.step(Act::Sync);
                server.sync(&mut || self.look_around())?;
                (Stage::WholeOfTarget, String::new())
            }
        };
        if target.drop_caches {
            self.send_helper(&target.name, Errand::DropCaches, &json!({}))?;
        }
        let began = self.begin_step();
        let of_target =
            xact::transaction(|| settings::of_target(&target.settings, &self.spec.settings))?;
        let connection = self.start_server(&server, programs, of_target, &[])?;
        self.end_step("server", began);
        Ok(Put {
            server,
            connection,
            stage,
            script,
        })
    }

    /// Starts a server whose data directory is there, with this server's settings, those of the target, and further ones,
    /// each winning over those before.
    fn start_server(
        &mut self,
        server: &TargetServer,
        programs: &Programs,
        of_target: BTreeMap<String, String>,
        further: &[(&'static str, String)],
    ) -> Result<Connection, Fault> {
        let mut copied = xact::transaction(settings::copied)?;
        if !programs.own {
            self.step(Act::AskForSettings);
            let mut look = || self.look_around();
            let known = server.known_settings(&programs.bindir, &mut look)?;
            copied.retain(|name, _| name.starts_with("pgfsbench.") || known.contains(name));
        }
        let mut records_statements = false;
        if xact::transaction(statements::is_loaded)? {
            // Statements are recorded there if they are here, so that the cost of that is paid there, too.
            self.step(Act::AskForStatements);
            let mut look = || self.look_around();
            records_statements =
                server.offers(&programs.bindir, statements::EXTENSION, &mut look)?;
        }
        let run = self.run_id.to_string();
        let mut needed = settings::needed(&self.spec, &run, records_statements);
        needed.extend(further.iter().cloned());
        self.step(Act::WriteSettings);
        server.configure(&Settings {
            copied,
            of_target,
            needed,
        })?;
        self.step(Act::AskForMemory);
        let mut look = || self.look_around();
        if let Some(bytes) = server.shared_memory_bytes(&programs.bindir, &mut look)? {
            xact::transaction(|| preflight::check_shared_memory(bytes))?;
        }
        self.step(Act::StartServer);
        let mut look = || self.look_around();
        server.start(&programs.bindir, &programs.user, &mut look)
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
    fn is_cached_below(&self) -> bool {
        let made = self.storage.as_ref().map(|storage| &storage["result"]);
        made.is_some_and(|made| {
            [&made["direct_io"], &made["log"]["direct_io"]].contains(&&json!(false))
                || made["filesystem"] == json!("zfs")
        })
    }

    /// A step of what comes before the run on the target; gives when it began.
    fn begin_step(&self) -> u64 {
        clock::now_ns()
    }

    /// Remembers a step, for the phases of the run; gives how long it took in milliseconds.
    fn end_step(&mut self, name: &str, began_ns: u64) -> f64 {
        let step = self.step_since(name, began_ns);
        let ms = step["ms"].as_f64();
        self.steps.push(step);
        ms.unwrap_or_default()
    }

    /// A step that is over now, as it is stored among the phases of a run.
    pub(super) fn step_since(&self, name: &str, began_ns: u64) -> Value {
        let started_ms = clock::ms(self.started_ns, began_ns);
        let ms = clock::ms(began_ns, clock::now_ns());
        json!({"phase": name, "started_ms": started_ms, "ms": ms})
    }

    /// Adds to what is stored about the storage of the run.
    fn note(&mut self, name: &str, what: Value) {
        let storage = self.storage.get_or_insert_with(|| json!({}));
        storage[name] = what;
    }

    /// Changes the entry of the journal, and has it on disk.
    fn record(&mut self, change: impl FnOnce(&mut Entry)) -> Result<(), Fault> {
        let mut entry = self
            .entry
            .take()
            .unwrap_or_else(|| Entry::on_target(session::database(), self.run_id));
        change(&mut entry);
        let written = journal::write(&entry);
        self.entry = Some(entry);
        written
    }

    /// The directory for the server: of a filesystem that is there, or of one that the helper makes now.
    fn filesystem_of(&mut self, target: &Target) -> Result<PathBuf, Fault> {
        let request = match &target.on {
            On::Directory(directory) => return Ok(directory.clone()),
            On::Connection(_) => {
                return Err(Fault::new(
                    sqlstate::INTERNAL,
                    "a connection has no directory",
                ));
            }
            On::Made { request, .. } => request,
        };
        self.release_earlier(&target.name)?;
        self.record(|entry| entry.prepared = Some(target.name.clone()))?;
        let made = self.send_helper(&target.name, Errand::Prepare, request)?;
        let directory = PathBuf::from(made["directory"].as_str().unwrap_or_default());
        target::is_trustworthy(&directory).map_err(|detail| {
            Fault::new(
                sqlstate::SYSTEM,
                "the directory that the helper has made cannot be used",
            )
            .detail(detail)
            .hint("Look whether this server sees the mounts of the machine: a service with PrivateMounts does not.")
        })?;
        xact::transaction(|| preflight::check_target_room(&self.spec, &directory))?;
        xact::transaction(|| {
            store::set_device_identity(&target.name, &made)?;
            definition::set_definition(self.run_id)
        })?;
        self.note("request", request.clone());
        self.note("result", made);
        Ok(directory)
    }

    /// Releases first what an earlier run could not have released; a target that somebody has prepared to look at stays.
    fn release_earlier(&mut self, target: &str) -> Result<(), Fault> {
        match xact::transaction(|| helper_job::prepared_by(target))? {
            None => Ok(()),
            Some(Some(_)) => self
                .send_helper(target, Errand::ReleaseEarlier, &json!({}))
                .map(|_| ()),
            Some(None) => Err(Fault::new(
                sqlstate::IN_USE,
                format!("target \"{target}\" is prepared already"),
            )
            .detail("Somebody has called fsbench.prepare_target() to look at it.")
            .hint("Call fsbench.release_target() first.")),
        }
    }

    /// How long the helper may take to be there.
    fn patience(&self) -> Duration {
        Duration::from_millis(self.spec.options.wait_for_helper_ms)
    }

    /// Has the helper do something, and tells its steps.
    fn send_helper(
        &mut self,
        target: &str,
        errand: Errand,
        request: &Value,
    ) -> Result<Value, Fault> {
        self.step(Act::Job(errand));
        let action = match errand {
            Errand::Prepare => "prepare",
            Errand::DropCaches => "drop_caches",
            Errand::Remount => "remount",
            Errand::Release | Errand::ReleaseEarlier => "release",
        };
        let run_id = Some(self.run_id);
        let patience = self.patience();
        let began_ns = clock::now_ns();
        let mut look = || self.look_around();
        let result = helper_job::ask(run_id, target, action, request, patience, &mut look);
        self.tell_errand(action, began_ns);
        result
    }

    /// Tells the steps that the helper took in its last job of this kind for this run.
    pub(super) fn tell_errand(&mut self, action: &str, began_ns: u64) {
        let steps = report::or_log("could not read the steps of a job", || {
            xact::transaction(|| helper_job::steps(self.run_id, action))
        });
        let mut started_ms = clock::ms(self.started_ns, began_ns);
        for (step, ms) in steps.unwrap_or_default() {
            let action = step.replace('_', " ");
            self.course.tell(Who::Helper, &action, started_ms);
            started_ms += ms;
        }
    }

    /// Stores it, with what came of a crash after it.
    fn store_measured(
        &mut self,
        measured: &Measured,
        crashed: Option<&Crashed>,
    ) -> Result<(), Fault> {
        self.enter(Phase::Collect, 0);
        self.step(Act::Collect);
        let Measured {
            document, tables, ..
        } = measured;
        let phases = self.phases_with_those_of(document, measured.before_ns);
        let steps = self.steps_begun();
        xact::transaction(|| {
            store::import(self.run_id, document, tables, &phases, &steps)?;
            if let Some(crashed) = crashed {
                crashed.store(self.run_id)?;
            }
            match &self.storage {
                Some(storage) => store::set_storage(self.run_id, storage),
                None => Ok(()),
            }
        })
    }
}
