//! Conditions that must hold before anything is made: the server's state, its neighbours, and room.

use std::path::Path;

use pgfsbench_core::{
    io_rings::{self, Rings},
    run::{
        preflight::{self, HugePages, Reserve},
        room,
    },
    spec::{Spec, Stage},
    sys,
    workload::power_cut::PowerCutOptions,
};
use rustix::process::{Resource, getrlimit};

pub use pgfsbench_core::run::preflight::ServerState;

use crate::{
    errors::{Fault, read_json, sqlstate},
    host::{
        location::{self, Location},
        machine, storage,
        tree::ThisMachine,
    },
    pg::{config, report, settings, sql, xact},
    target::{self, ServerPlace, Target},
};

/// Transactions per second that are assumed where neither rate nor number is given, for the estimate of transaction ids.
const ASSUMED_TPS: f64 = 20_000.0;

/// Asks the server. In a transaction, with the owner's rights.
pub fn server_state() -> Result<ServerState, Fault> {
    let text = sql::read(include_str!("queries/server_state.sql"), &[])?;
    read_json("server state", &text.unwrap_or_default())
}

/// Refuses what would harm others, unless forced, and what cannot work.
pub fn check(spec: &Spec, state: &ServerState) -> Result<(), Fault> {
    if xact::in_recovery() {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "cannot run a benchmark during recovery",
        )
        .detail("This server is a standby, which cannot write.")
        .hint("Run it on the primary server, or after promotion."));
    }
    if !spec.is_here() {
        // The room for a run on a target is checked on the target.
        return Ok(());
    }
    if !spec.workload.uses_database() {
        // It makes no WAL and takes no transaction ids, but for its few rows.
        let files = spec.data_bytes();
        if files > 0 {
            return room_on(location::data_location().as_ref(), files, "files of fio");
        }
        let place = location::wal_location();
        return room_on(place.as_ref(), state.wal_segment_bytes, "tests");
    }
    if spec.stage != Stage::LoadOnly {
        let place = location::data_location();
        check_cache_at(spec, place.as_ref())?;
    }
    if !spec.force {
        state.check_neighbours()?;
        if spec.workload.writes() {
            state.check_transaction_ids(spec.transactions_at(ASSUMED_TPS))?;
        }
    }
    check_room(spec, state)
}

/// Refuses data that cannot be in the cache as the run wants it, as far as a place is known.
fn check_cache_at(spec: &Spec, place: Option<&Location>) -> Result<(), Fault> {
    let Some(mount) = place.and_then(Location::mount) else {
        return Ok(());
    };
    let layers = storage::read(place, None).layers;
    let is_cached_below = layers
        .iter()
        .flatten()
        .any(|layer| layer.direct_io == Some(false));
    check_cache(spec, &mount.fs_type, is_cached_below)
}

fn check_cache(spec: &Spec, filesystem: &str, is_cached_below: bool) -> Result<(), Fault> {
    Ok(spec
        .workload
        .check_cache(spec, filesystem, is_cached_below)?)
}

/// Checks that a filesystem has the room that a run needs, beyond the reserve.
fn check_room(spec: &Spec, state: &ServerState) -> Result<(), Fault> {
    let room::SpaceNeeded { data, wal } = room::needed_here(spec, state);
    let (data_place, wal_place) = (location::data_location(), location::wal_location());
    let same = match (&data_place, &wal_place) {
        (Some(a), Some(b)) => location::same_filesystem(a, b),
        _ => true,
    };
    if same {
        room_on(data_place.as_ref(), data + wal, "data and WAL")
    } else {
        room_on(data_place.as_ref(), data, "data")?;
        room_on(wal_place.as_ref(), wal, "WAL")
    }
}

/// Refuses a run that does not fit on its target, or whose server does not fit into memory beside this one. In a
/// transaction, with the owner's rights.
pub fn check_target(spec: &Spec) -> Result<(), Fault> {
    let target = target::find(&spec.target)?;
    match &target.on {
        ServerPlace::Directory(_) if spec.workload.cuts_power() => {
            return Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("target \"{}\" has no image or device whose power could be cut", spec.target),
            )
            .detail("Power cuts are made of a record of all writes, which is kept for images or a device.")
            .hint("Give a target with image_size or device."));
        }
        ServerPlace::Directory(directory) => {
            let place = Location::of(directory);
            check_cache_at(spec, place.as_ref())?;
            room_at(directory, needed_on(spec, &target)?, "data and WAL")?;
        }
        // That server looks at what it has.
        ServerPlace::Connection(_) => return refuse_options_of_own_servers(spec),
        // How much room is on it is known when it is made.
        ServerPlace::Made { prepare } => {
            if spec.workload.cuts_power() {
                prepare.check_can_be_recorded()?;
                let own: PowerCutOptions = spec.options.own();
                if own.fsync_error {
                    prepare.check_can_fail()?;
                }
            }
            let filesystem = prepare.filesystem.name();
            check_cache(spec, filesystem, false)?;
            let (bytes, what, hint) = match prepare.storage.images() {
                Some((bytes, _)) => (
                    Some(bytes),
                    "image",
                    "Use a smaller scale, or a larger image_size (fsbench.alter_target() changes that of a target).",
                ),
                None => (
                    prepare
                        .storage
                        .devices()
                        .iter()
                        .filter_map(|device| device.bytes)
                        .min(),
                    "device",
                    "Use a smaller scale, or a larger device.",
                ),
            };
            let hint = match (spec.is_on_own(), what) {
                (false, _) => hint,
                (true, "image") => {
                    "Use a larger image_size (fsbench.alter_target() changes that of a target), or data of a smaller server."
                }
                (true, _) => "Use a larger device, or data of a smaller server.",
            };
            // The smallest member counts, without copies and parity.
            let members = prepare
                .layout
                .map_or(1, |layout| layout.data_members(prepare.storage.members()));
            let bytes = bytes.map(|bytes| bytes.saturating_mul(members as u64));
            if let Some(bytes) = bytes {
                let left = room::left_by(filesystem, prepare.mkfs_options.as_deref(), bytes);
                let needed = needed_on(spec, &target)?;
                reserve().check_size(left, needed, what, hint)?;
            }
        }
    }
    check_target_memory(spec, &target)
}

/// Nothing is made or copied for a server that is there already.
fn refuse_options_of_own_servers(spec: &Spec) -> Result<(), Fault> {
    let Some(name) = spec.options.of_made_server(spec.workload) else {
        return Ok(());
    };
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("option \"{name}\" means nothing for a connection"),
    )
    .detail(format!(
        "Target \"{}\" is a server that is there already.",
        spec.target
    ))
    .hint("Leave it out."))
}

fn check_target_memory(spec: &Spec, target: &Target) -> Result<(), Fault> {
    // How much it really takes is asked of its programs before it is started.
    let given = spec
        .settings
        .get("shared_buffers")
        .or_else(|| target.settings.get("shared_buffers"));
    // A number without a unit is one of pages.
    let text = sql::read(
        "SELECT jsonb_build_array(pg_size_bytes(own), \
           CASE WHEN given ~ '^[0-9]+$' THEN given::bigint * current_setting('block_size')::bigint \
             WHEN given ~* '^[0-9.]+ *(kB|MB|GB|TB)$' THEN pg_size_bytes(given) ELSE 0 END) \
         FROM (SELECT current_setting('shared_buffers') AS own, coalesce($1, current_setting('shared_buffers')) AS given) s",
        &[given.map(String::as_str)],
    )?;
    let (own, theirs): (u64, u64) = read_json("sizes", &text.unwrap_or_default())?;
    spec.workload.check_buffers(spec, theirs)?;
    let all = theirs.saturating_mul(spec.options.instances.into());
    check_both("shared_buffers", own, all)
}

/// Refuses a target server whose shared memory does not fit into RAM beside this one's. In a transaction.
pub fn check_shared_memory(theirs: u64) -> Result<(), Fault> {
    let own = config::bytes("shared_memory_size")?.unwrap_or(0);
    check_both("shared memory", own, theirs)
}

/// The rings of io_uring of this server; None if it has none. In a transaction.
pub fn own_rings() -> Result<Option<Rings>, Fault> {
    let text = sql::read(include_str!("queries/rings.sql"), &[])?;
    text.map(|text| read_json("rings", &text)).transpose()
}

/// Bytes of locked memory that the kernel allows this server's operating system user; None: it sets no limit.
pub fn locked_memory_limit() -> Option<u64> {
    getrlimit(Resource::Memlock).current
}

/// The hint for a target server that got no memory for its rings, where this many servers have such rings there. In a transaction.
pub fn hint_for_rings(theirs: Rings, servers: u64) -> Result<String, Fault> {
    let arithmetic = io_rings::arithmetic(own_rings()?, theirs, servers, locked_memory_limit());
    Ok(format!("{arithmetic}. {}", io_rings::HINT))
}

/// Tells the caller beforehand when the rings of several servers do not fit. Not every kernel counts them, so that the run is not refused. In a transaction.
pub fn tell_of_rings(spec: &Spec) -> Result<(), Fault> {
    let servers = spec.options.instances.into();
    if servers == 1 {
        return Ok(());
    }
    let target = target::find(&spec.target)?;
    let given = |name: &str| {
        let of_run = spec.settings.get(name);
        of_run
            .or_else(|| target.settings.get(name))
            .map(String::as_str)
    };
    let own = own_rings()?;
    let has_rings = given("io_method").map_or(own.is_some(), |method| {
        method.eq_ignore_ascii_case("io_uring")
    });
    let theirs = own.unwrap_or_default().of_target(given);
    let limit = locked_memory_limit();
    if has_rings && !io_rings::fit(own, theirs, servers, limit) {
        report::notice_in_full(
            "the servers of the run may get no memory for io_uring",
            format!("{}.", io_rings::arithmetic(own, theirs, servers, limit)),
            io_rings::HINT.into(),
        );
    }
    Ok(())
}

/// Refuses a target server that would not get the huge pages that it needs.
pub fn check_huge_pages(needed: HugePages) -> Result<(), Fault> {
    match sys::huge_pool(&ThisMachine, needed.kilobytes) {
        Some(pool) => Ok(preflight::check_huge_pages(needed, pool)?),
        // The start of the server will tell.
        None => Ok(()),
    }
}

fn check_both(what: &str, own: u64, theirs: u64) -> Result<(), Fault> {
    match machine::usable().memory_bytes {
        Some(memory) => Ok(preflight::check_both(what, own, theirs, memory)?),
        None => Ok(()),
    }
}

fn reserve() -> Reserve {
    Reserve(settings::reserved_space_bytes())
}

/// The room that a run takes on its target, on the filesystem that is made there. In a transaction, with the owner's rights.
pub fn needed_on_target(spec: &Spec) -> Result<u64, Fault> {
    if spec.is_here() {
        return Ok(room::needed_on_target(spec, wal_with(None)?));
    }
    needed_on(spec, &target::find(&spec.target)?)
}

fn needed_on(spec: &Spec, target: &Target) -> Result<u64, Fault> {
    const NAME: &str = "max_wal_size";
    let given = spec.settings.get(NAME).or(target.settings.get(NAME));
    let bytes = room::needed_on_target(spec, wal_with(given)?);
    Ok(match &target.on {
        ServerPlace::Made { prepare } => room::taken_on(prepare.filesystem.name(), bytes),
        ServerPlace::Directory(_) | ServerPlace::Connection(_) => bytes,
    })
}

/// WAL of a server with this max_wal_size, else with that of this one. Segments are as large as here.
fn wal_with(max_wal_size: Option<&String>) -> Result<room::Wal, Fault> {
    // A number without a unit is one of megabytes.
    let text = sql::read(
        "SELECT jsonb_build_object('segment_bytes', pg_size_bytes(current_setting('wal_segment_size')), 'max_bytes', \
           CASE WHEN $1 ~ '^[0-9]{1,10}$' THEN $1::bigint * 1048576 \
             WHEN $1 ~* '^[0-9.]{1,12} *(kB|MB|GB|TB)$' THEN pg_size_bytes($1) ELSE pg_size_bytes(current_setting('max_wal_size')) END)",
        &[max_wal_size.map(String::as_str)],
    )?;
    read_json("settings of WAL", &text.unwrap_or_default())
}

/// Refuses a run that does not fit on the filesystem of its target's directory. In a transaction, with the owner's rights.
pub fn check_target_room(spec: &Spec, directory: &Path) -> Result<(), Fault> {
    room_at(directory, needed_on_target(spec)?, "data and WAL")
}

/// Refuses a file of this size that does not fit on the filesystem of its directory, beyond the reserve.
pub fn check_file(directory: &Path, bytes: u64, what: &str) -> Result<(), Fault> {
    room_at(directory, bytes, what)
}

fn room_at(directory: &Path, needed: u64, what: &str) -> Result<(), Fault> {
    let place = Location::of(directory).ok_or_else(|| {
        Fault::new(
            sqlstate::SYSTEM,
            format!("could not look at directory \"{}\"", directory.display()),
        )
    })?;
    room_on(Some(&place), needed, what)
}

fn room_on(place: Option<&Location>, needed: u64, what: &str) -> Result<(), Fault> {
    let Some(place) = place else { return Ok(()) };
    let Some((free, _)) = place.space() else {
        return Ok(());
    };
    Ok(reserve().check_room(&place.directory, free, needed, what)?)
}

/// Refuses to go on when a filesystem has less room than the reserve: full WAL would take the whole server down.
pub fn watch_room() -> Result<(), Fault> {
    let data = crate::pg::session::data_directory();
    let (tables, wal) = (location::tables_directory(), data.join("pg_wal"));
    for directory in [data, tables, wal] {
        watch(&directory)?;
    }
    Ok(())
}

fn watch(directory: &Path) -> Result<(), Fault> {
    match location::space(directory) {
        Some((free, _)) => Ok(reserve().watch(&directory.display().to_string(), free)?),
        None => Ok(()),
    }
}
