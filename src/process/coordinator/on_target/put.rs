//! A server that is put somewhere: on a target, for a run, or in the place for prepared data, to load them.

use std::{collections::BTreeMap, path::PathBuf};

use pgfsbench_core::spec::Act;

use crate::{
    bench::Run,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, xact},
    random,
    run::{plan, preflight},
    target::{
        On, Target,
        server::{
            TargetServer,
            programs::Programs,
            settings::{self, Settings},
        },
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

/// How far a server has come that is put somewhere.
pub(super) struct Put<'a> {
    pub target: &'a Target,
    pub programs: &'a Programs,
    /// The directory in which its own is made.
    pub place: PathBuf,
    /// Whether it only loads data that are copied to the target.
    is_for_loading: bool,
    /// What tells the script that has created the extension in its data; empty where there is none yet.
    pub script: String,
    server: Option<TargetServer>,
    /// Which settings its programs know, where they are not those of this server.
    known: Option<Vec<String>>,
    /// Statements are recorded there if they are here, so that the cost of that is paid there, too.
    records_statements: bool,
    /// While it runs.
    pub connection: Option<Connection>,
}

impl<'a> Put<'a> {
    /// For a run, where nothing is there yet. The place of a filesystem that is still to be made is known when it is.
    pub fn on(target: &'a Target, programs: &'a Programs) -> Self {
        Self {
            target,
            programs,
            place: match &target.on {
                On::Directory(directory) => directory.clone(),
                On::Made { .. } | On::Connection(_) => PathBuf::new(),
            },
            is_for_loading: false,
            script: String::new(),
            server: None,
            known: None,
            records_statements: false,
            connection: None,
        }
    }

    /// To load data in that place that such a run copies.
    pub fn to_load(&self, place: PathBuf) -> Self {
        Self {
            place,
            is_for_loading: true,
            ..Self::on(self.target, self.programs)
        }
    }

    /// The server, which was made.
    pub fn there(&self) -> Result<&TargetServer, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "no server was made");
        self.server.as_ref().ok_or_else(none)
    }

    /// The connection to the server, which was started.
    pub fn connected(&mut self) -> Result<&mut Connection, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "no server was started");
        self.connection.as_mut().ok_or_else(none)
    }

    /// A fault of a step, with why the server does not answer where that is it.
    pub fn explain(&self, fault: Fault) -> Fault {
        match (&self.server, &self.connection) {
            (Some(server), Some(_)) => server.explain(fault),
            _ => fault,
        }
    }
}

impl Run {
    /// Takes a step on the way to a server that runs and has the extension.
    pub(super) fn put_server(&mut self, put: &mut Put, act: Act) -> Result<(), Fault> {
        let bindir = &put.programs.bindir;
        let user = &put.programs.user;
        let mut look = || self.look_around();
        match act {
            Act::MakeDirectory => {
                let server = TargetServer::at(&put.place, &random::mark())?;
                self.record(|entry| entry.server = Some(server.clone()))?;
                put.server.insert(server).make_directories()?;
            }
            Act::Initdb => {
                let checksums = put.target.data_checksums;
                put.there()?
                    .make_cluster(bindir, user, checksums, &mut look)?;
            }
            Act::Sync => put.there()?.sync(&mut look)?,
            Act::AskForSettings => {
                put.known = Some(put.there()?.known_settings(bindir, &mut look)?);
            }
            Act::AskForStatements => {
                let server = put.there()?;
                put.records_statements = server.offers(bindir, statements::EXTENSION, &mut look)?;
            }
            Act::WriteSettings => self.write_settings(put)?,
            Act::AskForMemory => {
                if let Some(bytes) = put.there()?.shared_memory_bytes(bindir, &mut look)? {
                    xact::transaction(|| preflight::check_shared_memory(bytes))?;
                }
            }
            Act::StartServer => {
                put.connection = Some(put.there()?.start(bindir, user, &mut look)?);
            }
            Act::CreateExtension => {
                let script = put.script.clone();
                self.make_sure_it_is_ours(put.connected()?, &script)?;
            }
            other => return Err(plan::nothing_carries_out(other)),
        }
        Ok(())
    }

    /// This server's settings, those of the target, and further ones, each winning over those before.
    fn write_settings(&self, put: &Put) -> Result<(), Fault> {
        let mut copied = xact::transaction(settings::copied)?;
        if let Some(known) = &put.known {
            copied.retain(|name, _| name.starts_with("pgfsbench.") || known.contains(name));
        }
        let run = self.run_id.to_string();
        let mut needed = settings::needed(&self.spec, &run, put.records_statements);
        let of_target = match put.is_for_loading {
            true => {
                let further = FOR_LOADING.map(|(name, value)| (name, value.to_owned()));
                needed.extend(further);
                BTreeMap::new()
            }
            false => xact::transaction(|| {
                settings::of_target(&put.target.settings, &self.spec.settings)
            })?,
        };
        put.there()?.configure(&Settings {
            copied,
            of_target,
            needed,
        })
    }
}
