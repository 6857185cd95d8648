//! A run on another target than this server's own data directory: a server of its own is put there, carries the run out as
//! any server does on itself, and gives the whole result in one document. The same engine runs everywhere.

mod far;
mod remote;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::Run;
use crate::{
    board::Phase,
    collect,
    errors::{Fault, sqlstate},
    helper_job,
    journal::{self, Entry},
    outcome::Outcome,
    pg::{libpq::Connection, passwd, session, sql, xact},
    preflight,
    target::{self, On, Target},
    target_server::{
        TargetServer,
        settings::{self, Settings},
    },
};

/// Worker slots that a target server has beside those of the clients and the run: janitor, logical replication launcher,
/// parallel workers.
const FURTHER_WORKERS: u32 = 16;

impl Run {
    /// From the row to the result, on the target.
    pub(super) fn carry_out_on_target(&mut self) -> Result<Outcome, Fault> {
        self.begin()?;
        self.enter(Phase::Provision, 0);
        let target = xact::transaction(|| {
            preflight::check_target(&self.spec)?;
            target::find(&self.spec.target)
        })?;
        if let On::Connection(connection) = &target.on {
            return self.carry_out_far(connection);
        }
        let (server, mut connection) = self.put_server(target)?;
        let result = self
            .make_sure_it_is_ours(&mut connection)
            .and_then(|()| self.have_it_run(&mut connection, None));
        drop(connection);
        result.map_err(|fault| server.explain(fault))
    }

    /// Makes and starts the server on the target.
    fn put_server(&mut self, target: Target) -> Result<(TargetServer, Connection), Fault> {
        let directory = self.filesystem_of(&target)?;
        let server = TargetServer::at(&directory, &collect::random_mark())?;
        self.record(|entry| entry.server = Some(server.clone()))?;

        let (mut copied, own_bindir, of_run) = xact::transaction(|| {
            let of_run = settings::of_server(&self.spec.settings)?;
            Ok((settings::copied()?, own_bindir()?, of_run))
        })?;
        let mut of_target = target.settings;
        of_target.extend(of_run);
        let bindir = target.bindir.as_deref().unwrap_or(&own_bindir);
        let workers = self.spec.workers() + FURTHER_WORKERS;
        let needed = vec![
            ("shared_preload_libraries", "pgfsbench".to_owned()),
            ("max_worker_processes", workers.to_string()),
            ("cluster_name", cluster_name(self.run_id)),
        ];
        let user = operating_system_user()?;
        let mut look = || self.look_around();
        server.make(bindir, &user, target.data_checksums, &mut look)?;
        if bindir != own_bindir {
            let known = server.known_settings(bindir, &mut look)?;
            copied.retain(|name, _| name.starts_with("pgfsbench.") || known.contains(name));
        }
        server.configure(&Settings {
            copied,
            of_target,
            needed,
        })?;
        if target.drop_caches {
            self.ask_helper(&target.name, "drop_caches", &json!({}))?;
        }
        let mut look = || self.look_around();
        let connection = server.start(bindir, &user, &mut look)?;
        Ok((server, connection))
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
        let patience = self.patience();
        helper_job::wait_for_helper(patience, &mut || self.look_around())?;
        self.release_earlier(&target.name)?;
        self.record(|entry| entry.prepared = Some(target.name.clone()))?;
        let made = self.ask_helper(&target.name, "prepare", request)?;
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
        self.storage = Some(json!({"request": request, "result": made}));
        Ok(directory)
    }

    /// What an earlier run could not have released goes first; what somebody has prepared to look at it stays.
    fn release_earlier(&mut self, target: &str) -> Result<(), Fault> {
        match xact::transaction(|| helper_job::prepared_by(target))? {
            None => Ok(()),
            Some(Some(_)) => self.ask_helper(target, "release", &json!({})).map(|_| ()),
            Some(None) => Err(Fault::new(
                "55006",
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

    fn ask_helper(&mut self, target: &str, action: &str, request: &Value) -> Result<Value, Fault> {
        let run_id = Some(self.run_id);
        let patience = self.patience();
        let mut look = || self.look_around();
        helper_job::ask(run_id, target, action, request, patience, &mut look)
    }
}

/// By which a target server is recognized.
fn cluster_name(run_id: i64) -> String {
    format!("pgfsbench run {run_id}")
}

/// Where this server's programs are.
pub fn own_bindir() -> Result<PathBuf, Fault> {
    let text = sql::read("SELECT setting FROM pg_config() WHERE name = 'BINDIR'", &[])?;
    Ok(Path::new(&text.unwrap_or_default()).to_path_buf())
}

/// The superuser of target servers: who may connect there is decided by the operating system.
pub fn operating_system_user() -> Result<String, Fault> {
    let uid = rustix::process::geteuid().as_raw();
    passwd::name_of(uid)
        .map_err(|e| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("could not look up the server's operating system user {uid}: {e}"),
            )
        })?
        .ok_or_else(|| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("the server's operating system user {uid} has no name"),
            )
            .detail("Neither /etc/passwd nor another source of users (nsswitch.conf) knows it.")
            .hint("Give the user a name: the server on a target lets in whom the operating system knows by that name.")
        })
}
