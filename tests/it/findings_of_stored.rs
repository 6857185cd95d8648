//! Each finding is found in what is stored of a run, and none in what is stored of a clean one. What this machine does not do was seen
//! on others: their figures and devices are put into the place of those of a run. What becomes of an event, and not of a figure, has a
//! test that brings it about.

use crate::common::{execute, rows, run, server};
use postgres::Client;
use serde_json::Value;

const FINDINGS: &str = include_str!("../../docs/findings.md");

/// Found only while something goes on, or in tables of their own; each is brought about where runs of its kind are tested.
const BROUGHT_ABOUT: [&str; 13] = [
    "commits_unlike_syncs",
    "not_released",
    "workers_not_launched",
    "cpu_bound",
    "cache_not_as_asked",
    "read_for_others",
    "lost_transactions",
    "recovery_failed",
    "imported",
    "not_positive",
    "power_cut_failed",
    "power_cuts_void",
    "fsync_error",
];

/// Findings by facts without a column alone. A run stores these as the rules of core read them, and the rules have their tests there.
const OF_FACTS: [&str; 25] = [
    "allocated_less",
    "archiving",
    "autovacuum_off",
    "dead_rows",
    "device_discards",
    "dirty_limit",
    "flush_step",
    "fsync_off",
    "full_page_writes_off",
    "instance_findings",
    "instances_apart",
    "io_limit",
    "memory_limit",
    "noisy_neighbour",
    "observer_effect",
    "old_xmin",
    "processor_limit",
    "replication",
    "server_restarted",
    "statements_not_recorded",
    "statistics_reset",
    "synchronous_commit_off",
    "throttled",
    "vacuums",
    "wal_on_other_filesystem",
];

/// The facts without a column, of a long run on a machine that did nothing else.
const FACTS: &str = r#"{
    "fsync": true, "full_page_writes": true, "synchronous_commit": "on", "log_checkpoints": true, "reset_views": [],
    "statements": "recorded", "xmin_holders": [],
    "data_place": {"major": 259, "minor": 2, "source": "/dev/nvme0n1p2", "fs_type": "ext4", "mount_point": "/srv"},
    "wal_place": {"major": 259, "minor": 2, "source": "/dev/nvme0n1p2", "fs_type": "ext4", "mount_point": "/srv"},
    "flush": {"before_us": 400, "after_us": 450},
    "machine": {"mhz": 3500, "mhz_at_end": 3400, "throttled": 0, "cpu_sampler": 0.001, "cpu_others": 0.01,
        "dirty_peak_bytes": 104857600, "dirty_peak_limit_bytes": 629145600},
    "server": {"autovacuum": true, "vacuums": 0, "vacuum_seconds": 0, "dead_rows_at_start": 0, "statistics_reset": false,
        "restarted": false, "archiving": false, "walsenders": 0, "slots": 0, "synchronous_standbys": false},
    "storage": {"lazy_init": false, "free_bytes_at_end": 64424509440, "used_bytes": 17179869184, "used_bytes_at_end": 18253611008,
        "files_bytes": 17179869184, "files_bytes_at_end": 18253611008, "device_discard_bytes": 0, "array_work": []}}"#;

/// The devices of a recorded machine (core/src/sys/trees), without their queues.
const NVME: &str = r#"[{"depth": 0, "kind": "partition", "name": "nvme0n1p2", "device": "259:2", "bytes": 1000203091968},
    {"depth": 1, "kind": "disk", "name": "nvme0n1", "device": "259:0", "bytes": 1000204886016, "model": "Samsung SSD 970 EVO Plus 1TB"}]"#;
const LOOP: &str = r#"[{"depth": 0, "kind": "loop", "name": "loop3", "device": "7:3", "bytes": 2147483648, "direct_io": false,
    "backing_file": "/srv/images/bench.ext4.img"}, {"depth": 1, "kind": "filesystem", "name": "ext4 on /srv"}]"#;
const RAID: &str = r#"[{"depth": 0, "kind": "lvm", "name": "vg0-pg", "device": "253:1", "bytes": 2147483648},
    {"depth": 1, "kind": "crypt", "name": "crypt", "device": "253:0", "bytes": 4294967296},
    {"depth": 2, "kind": "md", "name": "md0", "device": "9:0", "bytes": 4294967296, "level": "raid5", "chunk_bytes": 524288,
     "sync_action": "resync", "degraded": 0}]"#;

/// WAL is on another filesystem. That is not told, since it is not known where.
fn on_wal(options: &str, layers: &str) -> String {
    let elsewhere = environment(&format!(
        "wal_st_dev = '259:9', wal_filesystem = 'ext4', wal_mount_options = '{options}', wal_layers = {layers}"
    ));
    elsewhere + &fact("wal_place", "null")
}

/// Has a run look like a long one on the machine of these facts and devices.
fn clean(id: &str) -> String {
    format!(
        r#"UPDATE fsbench.run_log SET facts = '{FACTS}', scale = 1000, clients = 16, data_bytes = 16106127360,
            complete_checkpoints = 3, checkpoints_logged = true, checkpoints_timed = 4, checkpoints_requested = 0,
            transactions_total = 1000000, failed = 0, skipped = 0, measured_ms = 60000, client_cpu_seconds = 40,
            device_write_bytes = 3221225472, server_write_bytes = 2147483648, changed_bytes = 1000000000, latency_avg_ms = 2,
            client_wal_syncs = 60000, client_wal_sync_ms = 50000, wal_bytes = 1073741824
            WHERE run_id = {id};
        UPDATE fsbench.environment SET memory_bytes = 4294967296, shared_buffers_bytes = 1073741824, filesystem = 'ext4',
            mount_options = 'rw,noatime,stripe=64', geometry = '{{"stripe_unit_bytes": 0}}', filesystem_size_bytes = 107374182400,
            filesystem_free_bytes = 85899345920, mkfs_command = '/sbin/mkfs.ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/nvme0n1p2',
            storage = '{{"request": {{"storage": {{"device": {{"path": "/dev/nvme0n1p2"}}}}}},
                "result": {{"ssd_state": "trimmed", "mount_options_not_shown": [], "properties_not_in_force": []}}}}',
            write_cache = 'write back', rotational = false, discard_max_bytes = 2199023255040, layers = '{NVME}',
            virtualization = 'none', data_attributes = '', data_file_attributes = '', fallocate = true, clock_source = 'tsc', cpu_governor = 'performance', processors = 8, vm = '{{"dirty_bytes": 0}}'
            WHERE run_id = {id};
        DELETE FROM fsbench.sample WHERE run_id = {id};
        INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, skipped, late, failed, cpu_idle_percent,
            cpu_iowait_percent, cpu_steal_percent, pressure_memory_some_percent, dirty_bytes, writeback_bytes, device_flushes, device_write_bytes)
            SELECT {id}, n, 1000, 1000 + n % 7 * 10, 0, 0, 0, 30, 30, 0, 0, 104857600, 0, 610, 32212254 FROM generate_series(0, 99) n;
        DELETE FROM fsbench.wait_event WHERE run_id = {id};
        INSERT INTO fsbench.wait_event (run_id, second, wait_event_type, wait_event, samples)
            VALUES ({id}, 0, 'IO', 'WALSync', 1000), ({id}, 0, 'Lock', 'transactionid', 10)"#
    )
}

/// Statement that changes the run's row of this table.
fn set(table: &str, what: &str) -> String {
    format!("UPDATE fsbench.{table} SET {what} WHERE run_id = ID;")
}

/// Changes a fact without a column.
fn fact(path: &str, value: &str) -> String {
    set(
        "run_log",
        &format!("facts = jsonb_set(facts, '{{{path}}}', '{value}')"),
    )
}

fn environment(what: &str) -> String {
    set("environment", what)
}

fn mounted(options: &str) -> String {
    environment(&format!("mount_options = '{options}'"))
}

/// On these devices; of an array, with a filesystem that knows its stripes.
fn on(layers: &str) -> String {
    environment(&format!(
        r#"layers = {layers}, geometry = '{{"stripe_unit_bytes": 524288}}'"#
    ))
}

/// Makes it a run of tpcc-like with 1000 warehouses and a minute, and then changes this.
fn of_tpcc(change: &str) -> String {
    let order = "INSERT INTO fsbench.transaction_result (run_id, position, transaction, weight, committed, rolled_back, failed, retried, retries, \
        limit_ms, latency_p90_ms) VALUES (ID, 1, 'new-order', 45, 12000, 120, 0, 0, 0, 5000, 4999);";
    format!(
        "{}{order}{change}",
        set("run_log", "workload = 'tpcc-like'")
    )
}

/// Findings, and the changes that bring them about.
fn seen() -> Vec<(&'static str, String)> {
    let run = |what| set("run_log", what);
    let sample = |what| set("sample", what);
    let idle_raid = format!("'{RAID}'::jsonb #- '{{2,sync_action}}'");
    let raid_with =
        |facts: &str| format!("jsonb_set({idle_raid}, '{{2}}', ({idle_raid} -> 2) || '{facts}')");
    let service = "INSERT INTO fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, buckets, counts) \
        VALUES (ID, 'tpcb', 'service', 1000, 4000, 16000, '{}', '{}');";
    vec![
        // Settings.
        (
            "unlogged warning",
            run("used = jsonb_set(used, '{options,unlogged}', 'true')"),
        ),
        // Data.
        ("clients_exceed_branches warning", run("clients = 1001")),
        (
            "data_fits_shared_buffers warning",
            run("data_bytes = 1073741824"),
        ),
        ("data_fits_ram warning", run("data_bytes = 4294967296")),
        (
            "data_fits_ram info",
            run(r#"data_bytes = 4294967296, used = used || '{"within_ms": 55000}'"#),
        ),
        (
            "lock_waits warning",
            set("wait_event", "wait_event_type = 'Lock'"),
        ),
        // The window.
        (
            "no_complete_checkpoint warning",
            run("complete_checkpoints = 0"),
        ),
        ("too_short warning", run("complete_checkpoints = 2")),
        (
            "checkpoints_requested warning",
            run("checkpoints_requested = 1"),
        ),
        ("failed_transactions invalid", run("failed = 2000")),
        ("failed_transactions info", run("failed = 2")),
        ("skipped_transactions warning", run("skipped = 2000")),
        (
            "behind_schedule warning",
            format!("{}{service}", run("rate = 16000, latency_avg_ms = 50")),
        ),
        (
            "stalls warning",
            sample("transactions = CASE second WHEN 40 THEN 0 WHEN 60 THEN 90 ELSE 1000 END"),
        ),
        ("drift warning", sample("transactions = 1200 - second * 4")),
        // At the rate of one of two servers it would be chance.
        (
            "drift warning",
            format!(
                "{}{}INSERT INTO fsbench.run_instance (run_id, instance, began_after_ms, findings) VALUES (ID, 1, 0, '{{}}'), (ID, 2, 0, '{{}}');",
                run("rate = 40"),
                sample("transactions = 1200 - second * 4")
            ),
        ),
        (
            "warming_up warning",
            sample("transactions = CASE WHEN second < 40 THEN 930 ELSE 1000 + second % 3 END"),
        ),
        // The specification of tpcc-like.
        (
            "inputs_out_of_range warning",
            of_tpcc(
                "INSERT INTO fsbench.tpcc_client VALUES (ID, 0, 0, 100000, 2000, 1000000, 10000, 100000, 15000, 60000, 1, 1, 1);",
            ),
        ),
        (
            "response_time_limit warning",
            of_tpcc(&set("transaction_result", "latency_p90_ms = 5001")),
        ),
        (
            "not_paced info",
            of_tpcc(&set("transaction_result", "committed = 13000")),
        ),
        // The server.
        (
            "log_checkpoints_off info",
            run("checkpoints_logged = false"),
        ),
        // The filesystem.
        ("barriers_off warning", mounted("rw,noatime,nobarrier")),
        (
            "barriers_off info",
            format!(
                "{}{}",
                mounted("rw,noatime,barrier=0"),
                environment(r#"storage = storage || '{"power_loss_protected": true}'"#)
            ),
        ),
        (
            "jfs_does_not_flush warning",
            environment("filesystem = 'jfs'"),
        ),
        (
            "barriers_off warning",
            on_wal("rw,noatime,nobarrier", "NULL"),
        ),
        (
            "fsync_too_fast warning",
            on_wal(
                "rw,noatime",
                r#"'[{"depth": 0, "kind": "disk", "name": "sdb", "queue": {"rotational": true, "write_cache": "write back"}}]'"#,
            ),
        ),
        (
            "sync_does_nothing warning",
            environment("filesystem = 'overlay', mount_options = 'rw,noatime,volatile'"),
        ),
        (
            "sync_does_nothing warning",
            environment(
                r#"filesystem = 'zfs', storage = jsonb_set(storage, '{result,properties}', '{"sync": "disabled"}')"#,
            ),
        ),
        (
            "in_memory warning",
            environment(
                "filesystem = 'tmpfs', layers = NULL, write_cache = NULL, rotational = NULL",
            ),
        ),
        (
            "discard_mount_option info",
            mounted("rw,noatime,discard=async"),
        ),
        ("atime info", mounted("rw,relatime")),
        ("atime warning", mounted("rw")),
        (
            "btrfs_nodatacow warning",
            environment("filesystem = 'btrfs', mount_options = 'rw,noatime,nodatasum,nodatacow'"),
        ),
        (
            "btrfs_nodatacow warning",
            environment("filesystem = 'btrfs', data_file_attributes = 'nocow'"),
        ),
        (
            "file_attributes warning",
            environment("filesystem = 'btrfs', data_attributes = 'nocow'"),
        ),
        (
            "file_attributes warning",
            environment("data_file_attributes = 'data_journal'"),
        ),
        (
            "fallocate_missing warning",
            environment(
                r#"fallocate = false, settings = settings || '{"file_extend_method": {"setting": "posix_fallocate"}}'"#,
            ),
        ),
        (
            "fallocate_missing warning",
            environment(
                "fallocate = false, settings = settings - 'file_extend_method', server_version_num = 170002",
            ),
        ),
        (
            "cloned_data warning",
            run(r#"used = jsonb_set(used, '{options,data}', '"cloned"')"#),
        ),
        (
            "compression warning",
            environment("filesystem = 'btrfs', mount_options = 'rw,noatime,compress=zstd:3'"),
        ),
        (
            "compression warning",
            environment("filesystem = 'btrfs', data_file_attributes = 'compress,compression=zstd'"),
        ),
        (
            "compression warning",
            environment(
                r#"filesystem = 'zfs', storage = jsonb_set(storage, '{result,properties}', '{"compression": "lz4"}')"#,
            ),
        ),
        (
            "allocated_more info",
            environment("filesystem = 'btrfs'") + &fact("storage,used_bytes_at_end", "32212254720"),
        ),
        (
            "almost_full warning",
            environment("filesystem_free_bytes = 5368709120"),
        ),
        (
            "lazy_init warning",
            environment("mkfs_command = '/sbin/mkfs.ext4 -E lazy_itable_init=1 /dev/nvme0n1p2'"),
        ),
        (
            "mount_options_not_shown warning",
            asked("mount_options_not_shown", "nobh"),
        ),
        (
            "properties_not_in_force warning",
            asked("properties_not_in_force", "atime=off"),
        ),
        // Devices.
        (
            "loop_device info",
            on(&format!("jsonb_set('{LOOP}', '{{0,direct_io}}', 'true')")),
        ),
        ("loop_without_direct_io warning", on(&format!("'{LOOP}'"))),
        (
            "raid_resync invalid",
            on(&idle_raid) + &fact("storage,array_work", r#"["check of md0"]"#),
        ),
        (
            "raid_resync warning",
            on(&format!("'{RAID}'")) + &fact("storage,array_work", "null"),
        ),
        (
            "raid_write_hole warning",
            on(&raid_with(r#"{"consistency_policy": "bitmap"}"#)),
        ),
        (
            "raid_without_bitmap info",
            on(&raid_with(
                r#"{"level": "raid1", "bitmap": "none", "consistency_policy": "resync"}"#,
            )),
        ),
        (
            "raid_at_rest warning",
            on(&raid_with(r#"{"safe_mode_delay_ms": 200}"#)) + &run("rate = 10"),
        ),
        (
            "stripe_mismatch warning",
            environment(&format!(
                r#"layers = {idle_raid}, geometry = '{{"stripe_unit_bytes": 65536}}'"#
            )),
        ),
        (
            "stripe_mismatch warning",
            environment(
                r#"storage = jsonb_set(storage, '{result}', storage -> 'result' || '{"layout": "lvm-stripe", "layout_options": {"chunk": "256k"}}'),
                geometry = '{"stripe_unit_bytes": 65536}'"#,
            ),
        ),
        (
            "misaligned warning",
            environment(&format!(
                "layers = jsonb_set('{NVME}', '{{0,alignment_offset}}', '512')"
            )),
        ),
        (
            "raid_degraded warning",
            on(&format!("jsonb_set({idle_raid}, '{{2,degraded}}', '1')")),
        ),
        (
            "stripe_unknown warning",
            environment(&format!("layers = {idle_raid}")),
        ),
        (
            "ssd_state_undeclared info",
            environment("storage = storage #- '{result,ssd_state}'"),
        ),
        (
            "other_writers warning",
            environment("storage = storage - 'request'")
                + &run(
                    "transactions_total = 100, device_write_bytes = 1681915904, server_write_bytes = 13631488",
                ),
        ),
        ("fsync_too_fast warning", environment("rotational = true")),
        ("fsync_too_fast warning", run("client_wal_sync_ms = 600")),
        ("flushes_missing warning", sample("device_flushes = 0")),
        (
            "flushes_missing warning",
            sample("device_flushes = NULL, device_write_bytes = 0"),
        ),
        (
            "virtual_disk_without_flush info",
            environment("virtualization = 'kvm', write_cache = 'write through'"),
        ),
        // The machine.
        (
            "cpu_saturated warning",
            sample("cpu_idle_percent = 1, cpu_iowait_percent = 2"),
        ),
        ("steal warning", sample("cpu_steal_percent = 7")),
        (
            "memory_pressure warning",
            sample("pressure_memory_some_percent = 20"),
        ),
        ("governor info", environment("cpu_governor = 'powersave'")),
        ("slow_clock warning", environment("clock_source = 'hpet'")),
    ]
}

/// Options that were asked of the filesystem and did not take effect.
fn asked(list: &str, what: &str) -> String {
    environment(&format!(
        r#"storage = jsonb_set(storage, '{{result,{list}}}', '["{what}"]')"#
    ))
}

/// Codes and severities by which a run is judged, after this has been done to it and before it is undone.
fn judged(client: &mut Client, id: &str, change: &str) -> Vec<String> {
    execute(client, "BEGIN");
    execute(client, &change.replace("ID", id));
    let judge = format!("SELECT code || ' ' || severity FROM fsbench.judge({id})");
    let judged = rows(client, &judge);
    execute(client, "ROLLBACK");
    judged
}

/// Paths of all values.
fn paths(value: &Value, before: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) if !before.ends_with("_place") => {
            for (name, value) in members {
                paths(value, &format!("{before}/{name}"), into);
            }
        }
        _ => into.push(before.to_owned()),
    }
}

#[test]
fn each_finding_is_found_in_what_is_stored_and_none_in_a_clean_run() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        "scale => 2, clients => 2, transactions => 50, seed => 1",
    );
    // A run stores the facts that are changed by these names.
    let stored = rows(
        &mut client,
        &format!("SELECT facts FROM fsbench.run_log WHERE run_id = {id}"),
    );
    let stored: Value = serde_json::from_str(&stored[0]).expect("JSON");
    let mut names = Vec::new();
    paths(&serde_json::from_str(FACTS).expect("JSON"), "", &mut names);
    for name in names {
        assert!(stored.pointer(&name).is_some(), "no {name} in {stored}");
    }

    execute(&mut client, &clean(&id));
    for change in ["", &of_tpcc("")] {
        assert_eq!(judged(&mut client, &id, change), [""; 0]);
    }
    let further = BROUGHT_ABOUT.iter().chain(&OF_FACTS);
    let mut told: Vec<String> = further.map(|code| code.to_string()).collect();
    for (found, change) in seen() {
        assert_eq!(judged(&mut client, &id, &change), [found], "{change}");
        told.extend(found.split(' ').next().map(str::to_owned));
    }
    told.sort();
    told.dedup();
    let table = FINDINGS
        .split("| code | severity | what it means |")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("a table");
    let cells = table.lines().filter_map(|line| line.split('|').nth(1));
    let mut listed: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    listed.sort();
    assert_eq!(told, listed);
    // Nothing of that stays.
    assert_eq!(judged(&mut client, &id, ""), [""; 0]);
}
