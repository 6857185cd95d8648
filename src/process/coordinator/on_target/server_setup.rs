//! A server that is put somewhere: on a target, for a run, or in the place for prepared data, to load them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use pgfsbench_core::{io_rings::Rings, refusal::quoted, run::preflight::HugePages, spec::Act};
use pgrx::pg_sys;
use serde_json::json;

use crate::{
    bench::Run,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, report, xact},
    random,
    run::{plan, preflight},
    target::{
        ServerPlace, Target,
        prepared_data::Original,
        server::{
            TargetServer,
            programs::{self, Programs},
            settings::{self, Settings},
        },
    },
    watch::statements,
};

/// Settings of the server that loads, which is shut down and synced before anybody uses its files.
const FOR_LOADING: [(&str, &str); 5] = [
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("autovacuum", "off"),
];

/// The setting that a copy of a user's server has from both.
const PRELOADED: &str = "shared_preload_libraries";

/// How far a server has come that is put somewhere.
pub(super) struct ServerSetup<'a> {
    pub target: &'a Target,
    pub programs: &'a Programs,
    /// The directory in which its own is made.
    pub place: PathBuf,
    /// Whether it only loads data that are copied to the target.
    is_for_loading: bool,
    /// Digest of the script that created the extension in its data; empty where there is none yet.
    pub script: String,
    /// The user's server that its data are a copy of.
    pub original: Option<Original>,
    /// The role of that server whose sessions carry out scripts; None: the workload's own.
    pub role_of_scripts: Option<String>,
    server: Option<TargetServer>,
    /// Which settings its programs know, where they are not those of this server.
    known: Option<Vec<String>>,
    /// Statements are recorded there if they are here, so that the cost of that is paid there, too.
    records_statements: bool,
    /// Rings of io_uring; None for a server without io_uring.
    rings: Option<Rings>,
    /// Whether it may need huge pages.
    may_need_huge_pages: bool,
    /// While it runs.
    pub connection: Option<Connection>,
}

impl<'a> ServerSetup<'a> {
    /// For a run, where nothing is there yet. The place of a filesystem that is still to be made is known when it is.
    pub fn on(target: &'a Target, programs: &'a Programs) -> Self {
        Self {
            target,
            programs,
            place: match &target.on {
                ServerPlace::Directory(directory) => directory.clone(),
                ServerPlace::Made { .. } | ServerPlace::Connection(_) => PathBuf::new(),
            },
            is_for_loading: false,
            script: String::new(),
            original: None,
            role_of_scripts: None,
            server: None,
            known: None,
            records_statements: false,
            rings: None,
            may_need_huge_pages: false,
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
    pub fn server(&self) -> Result<&TargetServer, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "no server was made");
        self.server.as_ref().ok_or_else(none)
    }

    /// The connection to the server, which was started.
    pub fn connected(&mut self) -> Result<&mut Connection, Fault> {
        let none = || Fault::new(sqlstate::INTERNAL, "no server was started");
        self.connection.as_mut().ok_or_else(none)
    }

    /// The value of shared_preload_libraries after a crash. The library of pgfsbench would look after its runs; those of a user's server may be
    /// needed for recovery, and by its queries.
    pub fn preloaded_after_crash(&self) -> String {
        self.original
            .as_ref()
            .map_or_else(String::new, |original| original.preloaded(""))
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
    pub(super) fn set_up_server(&mut self, setup: &mut ServerSetup, act: Act) -> Result<(), Fault> {
        let bindir = &setup.programs.bindir;
        let user = &setup.programs.user;
        // Before the first of them is started.
        let servers = match setup.is_for_loading {
            true => 1,
            false => self.spec.options.instances.into(),
        };
        let mut check_interrupts = || self.check_interrupts();
        match act {
            Act::MakeDirectory => {
                let server = TargetServer::at(&setup.place, &random::mark())?;
                let server = server.on_own(self.spec.is_on_own());
                self.record(|entry| match &entry.server {
                    None => entry.server = Some(server.clone()),
                    Some(_) => entry.other_servers.push(server.clone()),
                })?;
                setup.server.insert(server).make_directories()?;
            }
            Act::Initdb => {
                let cluster = setup.target.cluster;
                setup
                    .server()?
                    .make_cluster(bindir, user, cluster, &mut check_interrupts)?;
            }
            Act::Sync => setup.server()?.sync(&mut check_interrupts)?,
            Act::AskForSettings => {
                setup.known = Some(
                    setup
                        .server()?
                        .known_settings(bindir, &mut check_interrupts)?,
                );
            }
            Act::AskForStatements => {
                let server = setup.server()?;
                setup.records_statements =
                    server.offers(bindir, statements::EXTENSION, &mut check_interrupts)?;
            }
            Act::WriteSettings => {
                self.leave_out_libraries(setup)?;
                self.write_settings(setup)?;
            }
            Act::AskForMemory => self.check_memory(setup, servers)?,
            Act::StartServer => {
                let server = setup.server()?;
                let started = server.start(bindir, user, &mut check_interrupts);
                setup.connection = Some(match (started, setup.rings) {
                    (Err(fault), Some(rings)) if server.lacks_rings() => {
                        let hint = xact::transaction(|| preflight::hint_for_rings(rings, servers))?;
                        return Err(fault.hint(hint));
                    }
                    (started, _) => started?,
                });
            }
            Act::CreateExtension => {
                let script = setup.script.clone();
                self.make_sure_it_is_ours(setup.connected()?, &script)?;
            }
            other => return Err(plan::nothing_carries_out(other)),
        }
        Ok(())
    }

    /// Refuses a number of servers for whose shared memory the machine has no room.
    fn check_memory(&mut self, setup: &ServerSetup, servers: u64) -> Result<(), Fault> {
        let (server, bindir) = (setup.server()?, &setup.programs.bindir);
        let mut check_interrupts = || self.check_interrupts();
        if let Some(bytes) = server.shared_memory_bytes(bindir, &mut check_interrupts)? {
            let all = bytes.saturating_mul(servers);
            xact::transaction(|| preflight::check_shared_memory(all))?;
        }
        if setup.may_need_huge_pages
            && let Some(pages) = server.huge_pages(bindir, &mut check_interrupts)?
        {
            preflight::check_huge_pages(HugePages {
                count: pages.count.saturating_mul(servers),
                ..pages
            })?;
        }
        Ok(())
    }

    /// Leaves out libraries of the copied server that the programs of the target do not have, and tells which.
    fn leave_out_libraries(&mut self, setup: &mut ServerSetup) -> Result<(), Fault> {
        if setup.original.is_none() {
            return Ok(());
        }
        let installed = match setup.known {
            // The programs are those of this server.
            None => Some(xact::transaction(programs::own_libraries)?),
            Some(_) => setup
                .server()?
                .libraries(&setup.programs.bindir, &mut || self.check_interrupts())?,
        };
        let left_out = match (&mut setup.original, installed) {
            (Some(original), Some(installed)) => {
                original.leave_out_libraries(&installed, Path::is_file)
            }
            _ => Vec::new(),
        };
        if left_out.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = left_out.iter().map(|library| quoted(library)).collect();
        report::log(format!(
            "libraries that target {} lacks are not loaded there: {}",
            quoted(&setup.target.name),
            names.join(", ")
        ));
        self.note("libraries_not_loaded", json!(left_out));
        Ok(())
    }

    /// This server's settings, those of the target, and further ones, each winning over those before.
    pub(super) fn write_settings(&self, setup: &mut ServerSetup) -> Result<(), Fault> {
        let mut copied = xact::transaction(settings::copied)?;
        if let Some(known) = &setup.known {
            copied.retain(|name, _| name.starts_with("pgfsbench.") || known.contains(name));
        }
        let run = self.run_id.to_string();
        let mut needed = settings::needed(&self.spec, &run, setup.records_statements);
        let of_target = match setup.is_for_loading {
            true => {
                let further = FOR_LOADING.map(|(name, value)| (name, value.to_owned()));
                needed.extend(further);
                // The least that the server takes.
                let least = 2 * (setup.target.cluster.wal_segment_bytes >> 20);
                needed.push(("min_wal_size", format!("{least}MB")));
                BTreeMap::new()
            }
            false => xact::transaction(|| {
                settings::of_target(&setup.target.settings, &self.spec.settings)
            })?,
        };
        if let Some(original) = &setup.original {
            let preloaded = needed.iter().find(|(name, _)| *name == PRELOADED);
            let libraries = preloaded.map_or("", |(_, value)| value);
            let own = original.needed(libraries, pg_sys::PG_VERSION_NUM);
            needed.extend(own);
            copied.extend(original.settings.clone());
        }
        let settings = Settings {
            copied,
            of_target,
            needed,
        };
        let is_given = |name: &str, value: &str| {
            let given = settings.value(name);
            given.is_some_and(|given| given.eq_ignore_ascii_case(value))
        };
        let has_rings = is_given("io_method", "io_uring");
        setup.rings = has_rings.then(|| Rings::of(|name| settings.value(name)));
        setup.may_need_huge_pages = settings.value("huge_pages").is_some();
        setup.server()?.configure(&settings)
    }
}
