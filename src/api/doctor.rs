//! `doctor()`: what benchmarks need, and what of it is here. It never fails because something is missing: that is what it says.

use std::{fs, path::Path};

use pgfsbench_core::{
    helper::Filesystem,
    units::{format_bytes, format_count},
};
use serde::Deserialize;

use super::{guard, install};
use crate::{
    environment::{self, Location},
    errors::{Fault, sqlstate},
    helper_job,
    pg::{session, shmem, sql},
    settings,
};

/// A line of the report.
pub struct Line {
    /// server, helper, or filesystem.
    pub subject: &'static str,
    /// What was looked at.
    pub item: String,
    /// ok, info, warning or missing.
    pub state: &'static str,
    /// What was seen.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

const OK: &str = "ok";
const INFO: &str = "info";
const WARNING: &str = "warning";
const MISSING: &str = "missing";

/// The lines of one subject.
struct Report {
    subject: &'static str,
    lines: Vec<Line>,
}

impl Report {
    fn new(subject: &'static str) -> Self {
        Self {
            subject,
            lines: Vec::new(),
        }
    }

    fn add(&mut self, item: impl Into<String>, state: &'static str, detail: impl Into<String>) {
        self.say(item, state, detail, None);
    }

    fn say(
        &mut self,
        item: impl Into<String>,
        state: &'static str,
        detail: impl Into<String>,
        hint: Option<String>,
    ) {
        self.lines.push(Line {
            subject: self.subject,
            item: item.into(),
            state,
            detail: Some(detail.into()).filter(|text| !text.is_empty()),
            hint: hint.filter(|_| state != OK),
        });
    }
}

/// The whole report. In a transaction; reads with the rights of the extension's owner.
pub fn look() -> Result<Vec<Line>, Fault> {
    let extension = guard::extension()?;
    session::with_rights_of(extension.owner, || {
        let description = description()?;
        let mut lines = server(&extension.version)?;
        lines.extend(helper(description.as_ref())?);
        lines.extend(filesystems(description.map(|(d, _)| d.filesystems)));
        Ok(lines)
    })
}

/// What the server says of itself.
#[derive(Deserialize)]
struct Server {
    version: String,
    workers: i64,
    used: i64,
    archive_mode: String,
    synchronous_standby_names: String,
    walsenders: u64,
    slots: u64,
    oldest_database: String,
    oldest_age: i64,
    freeze_max_age: i64,
    shared_buffers_bytes: u64,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    track_io_timing: String,
    track_wal_io_timing: String,
}

const SERVER: &str = "SELECT jsonb_build_object( \
      'version', current_setting('server_version'), \
      'workers', current_setting('max_worker_processes')::bigint, \
      'used', (SELECT count(*) FROM pg_stat_activity WHERE backend_type NOT IN ('client backend', \
         'autovacuum launcher', 'autovacuum worker', 'background writer', 'checkpointer', 'walwriter', 'archiver', \
         'startup', 'walreceiver', 'walsender', 'walsummarizer', 'logger', 'slotsync worker', 'io worker')), \
      'archive_mode', current_setting('archive_mode'), \
      'synchronous_standby_names', current_setting('synchronous_standby_names'), \
      'walsenders', (SELECT count(*) FROM pg_stat_replication), \
      'slots', (SELECT count(*) FROM pg_replication_slots), \
      'oldest_database', d.datname, 'oldest_age', age(d.datfrozenxid), \
      'freeze_max_age', current_setting('autovacuum_freeze_max_age')::bigint, \
      'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')), \
      'fsync', current_setting('fsync'), 'full_page_writes', current_setting('full_page_writes'), \
      'synchronous_commit', current_setting('synchronous_commit'), \
      'track_io_timing', current_setting('track_io_timing'), \
      'track_wal_io_timing', current_setting('track_wal_io_timing')) \
    FROM pg_database d WHERE datallowconn ORDER BY age(d.datfrozenxid) DESC LIMIT 1";

fn server(extension: &str) -> Result<Vec<Line>, Fault> {
    let text = sql::read(SERVER, &[])?.unwrap_or_default();
    let server: Server = serde_json::from_str(&text)
        .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable server: {e}")))?;
    let mut report = Report::new("server");
    report.add("version", OK, format!("PostgreSQL {}", server.version));
    let same = extension == guard::VERSION;
    report.say(
        "extension",
        if same { OK } else { MISSING },
        format!(
            "the library is version {}, the extension {extension}",
            guard::VERSION
        ),
        Some("Restart the server, and then run ALTER EXTENSION pgfsbench UPDATE.".into()),
    );
    match shmem::board() {
        Some(_) => report.add("preload", OK, "pgfsbench is in shared_preload_libraries"),
        None => report.say(
            "preload",
            MISSING,
            "pgfsbench is not in shared_preload_libraries, so that no benchmark can run",
            Some(format!(
                "Run {} and restart the server.",
                guard::preload_statement()?
            )),
        ),
    }
    let free = (server.workers - server.used).max(0);
    report.say(
        "worker slots",
        if server.workers < install::FEW_SLOTS {
            WARNING
        } else {
            OK
        },
        format!(
            "{free} of {} are free; a run takes its clients and 2 more",
            server.workers
        ),
        Some(format!(
            "Run ALTER SYSTEM SET max_worker_processes = {}; and restart the server.",
            install::ENOUGH_SLOTS
        )),
    );
    neighbours(&mut report, &server);
    promises(&mut report, &server);
    room(&mut report);
    Ok(report.lines)
}

/// What would make runs on the target default be refused.
fn neighbours(report: &mut Report, server: &Server) {
    let refused = "Use a server of its own, other targets than default, or force => true.";
    let mut warn = |item: &str, is_quiet: bool, quiet: &str, detail: String| {
        let (state, detail) = match is_quiet {
            true => (OK, quiet.to_owned()),
            false => (
                WARNING,
                format!("{detail}; runs on target default are refused"),
            ),
        };
        report.say(item, state, detail, Some(refused.into()));
    };
    warn(
        "archiving",
        server.archive_mode == "off",
        "WAL is not archived",
        format!("archive_mode is \"{}\"", server.archive_mode),
    );
    warn(
        "replication",
        server.walsenders + server.slots == 0 && server.synchronous_standby_names.is_empty(),
        "there are no standbys and no slots",
        format!(
            "there are {} and {}; synchronous_standby_names is \"{}\"",
            format_count(server.walsenders, "WAL sender"),
            format_count(server.slots, "replication slot"),
            server.synchronous_standby_names
        ),
    );
    warn(
        "transaction ids",
        server.oldest_age < server.freeze_max_age / 2,
        &format!(
            "database \"{}\" has an age of {} of {}",
            server.oldest_database, server.oldest_age, server.freeze_max_age
        ),
        format!(
            "database \"{}\" has an age of {}, and is frozen at {}: long",
            server.oldest_database, server.oldest_age, server.freeze_max_age
        ),
    );
}

/// Settings that change what is measured, or what is seen of it.
fn promises(report: &mut Report, server: &Server) {
    for (name, value, without) in [
        (
            "fsync",
            &server.fsync,
            "a power cut destroys the database; no disk is measured",
        ),
        (
            "full_page_writes",
            &server.full_page_writes,
            "torn pages after a power cut, and less WAL",
        ),
        (
            "synchronous_commit",
            &server.synchronous_commit,
            "COMMIT does not wait for the disk",
        ),
    ] {
        let is_off = value == "off";
        report.say(
            name,
            if is_off { WARNING } else { OK },
            if is_off {
                format!("off: {without}")
            } else {
                value.clone()
            },
            Some(format!(
                "Run ALTER SYSTEM RESET {name}; SELECT pg_reload_conf(); unless that is wanted."
            )),
        );
    }
    for (name, value) in [
        ("track_io_timing", &server.track_io_timing),
        ("track_wal_io_timing", &server.track_wal_io_timing),
    ] {
        report.say(
            name,
            if value == "on" { OK } else { INFO },
            if value == "on" {
                "on"
            } else {
                "off: times of reads and writes are not known"
            },
            Some(format!(
                "Run ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"
            )),
        );
    }
    let (_, memory) = environment::machine();
    report.add(
        "memory",
        if memory.is_some() { OK } else { INFO },
        format!(
            "RAM {}, shared_buffers {}",
            memory.map_or("unknown".into(), format_bytes),
            format_bytes(server.shared_buffers_bytes)
        ),
    );
}

fn room(report: &mut Report) {
    let reserve = settings::reserved_space_bytes();
    for (item, place) in [
        ("room for data", environment::data_location()),
        ("room for WAL", environment::wal_location()),
    ] {
        let space = place.as_ref().and_then(Location::space);
        let (Some(place), Some((free, size))) = (place, space) else {
            report.add(item, INFO, "could not be found out");
            continue;
        };
        report.say(
            item,
            if free > reserve { OK } else { MISSING },
            format!(
                "{} of {} are free for \"{}\", {} of them reserved",
                format_bytes(free),
                format_bytes(size),
                place.directory,
                format_bytes(reserve)
            ),
            Some("Make room, or lower pgfsbench.reserved_space.".into()),
        );
    }
}

/// What the helper has published.
#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    loop_devices: bool,
    #[serde(default)]
    devices: Vec<Device>,
    #[serde(default)]
    images: Vec<Images>,
    #[serde(default)]
    filesystems: Vec<Ready>,
    #[serde(default)]
    prepared: Vec<Prepared>,
}

#[derive(Deserialize)]
struct Device {
    path: String,
    usable: bool,
    why_not: Option<String>,
    hint: Option<String>,
    contents: Option<String>,
    bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Images {
    directory: Option<String>,
    max_bytes: Option<u64>,
    used_bytes: Option<u64>,
    free_bytes: Option<u64>,
    why_not: Option<String>,
}

#[derive(Deserialize)]
struct Ready {
    filesystem: String,
    allowed: bool,
    kernel: String,
    program: Option<String>,
    version: Option<String>,
    package: String,
}

#[derive(Deserialize)]
struct Prepared {
    target: String,
    mount_point: String,
}

/// What the helper saw last, and when.
fn description() -> Result<Option<(Description, String)>, Fault> {
    let read = |column: &str| {
        sql::read(
            &format!("SELECT {column} FROM fsbench.helper_description"),
            &[],
        )
    };
    let (Some(text), Some(seen)) = (read("description")?, read("seen_at::timestamptz(0)")?) else {
        return Ok(None);
    };
    // Of another version it may have another form.
    Ok(serde_json::from_str(&text)
        .ok()
        .map(|description| (description, seen)))
}

fn helper(description: Option<&(Description, String)>) -> Result<Vec<Line>, Fault> {
    let mut report = Report::new("helper");
    let version = helper_job::helper_version()?;
    match &version {
        Some(_) => report.add("running", OK, "it serves this database"),
        None => report.say(
            "running",
            MISSING,
            "pgfsbench-helper does not serve this database; targets in directories and default work without it",
            Some(format!(
                "Run as root, once: pgfsbench-helper setup --database {} --allow-images DIRECTORY; later: systemctl start pgfsbench-helper.",
                sql::read("SELECT quote_ident(current_database())", &[])?.unwrap_or_default()
            )),
        ),
    }
    if let Some(version) = &version {
        report.say(
            "version",
            if version == guard::VERSION {
                OK
            } else {
                MISSING
            },
            format!(
                "it is {version}; that of the extension is {}",
                guard::VERSION
            ),
            Some("Install the same version of both, and restart pgfsbench-helper.".into()),
        );
    }
    let Some((description, seen)) = description else {
        return Ok(report.lines);
    };
    report.say(
        "last seen",
        if version.is_some() { OK } else { INFO },
        format!("what follows was seen at {seen}"),
        Some("Start pgfsbench-helper to have it look again.".into()),
    );
    storage(&mut report, description);
    Ok(report.lines)
}

fn storage(report: &mut Report, description: &Description) {
    report.say(
        "loop devices",
        if description.loop_devices {
            OK
        } else {
            MISSING
        },
        if description.loop_devices {
            "images can be attached"
        } else {
            "images cannot be attached here"
        },
        Some("Load the module loop.".into()),
    );
    if description.images.is_empty() {
        report.say(
            "images",
            INFO,
            "the helper's configuration names no directory for images",
            Some("Add to /etc/pgfsbench/helper.toml, on three lines: [[images]] directory = \"/DIRECTORY\" max_bytes = \"16GB\"; then restart pgfsbench-helper.".into()),
        );
    }
    for images in &description.images {
        let item = format!("images {}", images.directory.as_deref().unwrap_or(""));
        let bytes = |bytes: Option<u64>| format_bytes(bytes.unwrap_or(0));
        match &images.why_not {
            Some(why_not) => report.add(item.trim_end(), MISSING, why_not.clone()),
            None => report.add(
                item,
                OK,
                format!(
                    "{} of {} are used, and its filesystem has {} free",
                    bytes(images.used_bytes),
                    bytes(images.max_bytes),
                    bytes(images.free_bytes)
                ),
            ),
        }
    }
    for device in &description.devices {
        let holds = device.contents.as_deref().unwrap_or("unknown contents");
        let seen = format!("{}, holds {holds}", format_bytes(device.bytes.unwrap_or(0)));
        report.say(
            format!("device {}", device.path),
            if device.usable { OK } else { WARNING },
            device.why_not.clone().unwrap_or(seen),
            device.hint.clone(),
        );
    }
    for prepared in &description.prepared {
        report.say(
            format!("target {}", prepared.target),
            INFO,
            format!("it is mounted on {}", prepared.mount_point),
            Some("A run that is on releases what it has prepared; fsbench.release_target() what was prepared by hand, or is left of a run.".into()),
        );
    }
}

/// Each filesystem: by what the helper says, or by what anybody can see.
fn filesystems(seen: Option<Vec<Ready>>) -> Vec<Line> {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let modules = modules();
    let mut report = Report::new("filesystem");
    for filesystem in Filesystem::ALL {
        let by_helper = seen
            .iter()
            .flatten()
            .find(|ready| ready.filesystem == filesystem.name());
        let (kernel, program, version, package, allowed) = match by_helper {
            Some(r) => (
                r.kernel.as_str(),
                r.program.clone(),
                r.version.clone(),
                r.package.as_str(),
                r.allowed,
            ),
            None => (
                support(filesystem, &known, &modules),
                program(filesystem.mkfs_program()),
                None,
                filesystem.package(),
                true,
            ),
        };
        let (state, hint) = match (kernel, &program, allowed) {
            ("no", ..) if filesystem == Filesystem::Zfs => (
                MISSING,
                Some("Run apt-get install zfs-dkms zfsutils-linux, with the component contrib of Debian.".to_owned()),
            ),
            ("no", ..) => (
                MISSING,
                Some("Use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it.".to_owned()),
            ),
            (_, None, _) => (MISSING, Some(format!("Run apt-get install {package}."))),
            (.., false) => (
                WARNING,
                Some("Add it to filesystems in /etc/pgfsbench/helper.toml, and restart pgfsbench-helper.".to_owned()),
            ),
            _ => (OK, None),
        };
        let program =
            program.unwrap_or_else(|| format!("{} is missing", filesystem.mkfs_program()));
        let version = version.map_or(String::new(), |version| format!(", {version}"));
        let allowed = if allowed {
            ""
        } else {
            ", not allowed by the helper's configuration"
        };
        report.say(
            filesystem.name(),
            state,
            format!("kernel: {kernel}; {program}{version}; package {package}{allowed}"),
            hint,
        );
    }
    report.lines
}

/// The list of the running kernel's modules, where it can be read.
fn modules() -> String {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let directory = Path::new("/lib/modules").join(release);
    ["modules.dep", "modules.builtin"]
        .map(|name| fs::read_to_string(directory.join(name)).unwrap_or_default())
        .concat()
}

fn support(filesystem: Filesystem, known: &str, modules: &str) -> &'static str {
    let name = filesystem.name();
    if known
        .lines()
        .any(|line| line.split_whitespace().last() == Some(name))
    {
        return "yes";
    }
    // Many kernels have ext2 and ext3 in the driver of ext4.
    let is_module = modules.lines().any(|line| {
        let file = line
            .split(':')
            .next()
            .unwrap_or_default()
            .rsplit('/')
            .next()
            .unwrap_or_default();
        file.split('.').next() == Some(name)
    });
    if is_module { "module" } else { "no" }
}

fn program(name: &str) -> Option<String> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.exists())
        .map(|path| path.display().to_string())
}
