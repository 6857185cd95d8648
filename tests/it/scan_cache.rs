//! The place of the table while it is scanned: in the cache or on the device, as it was asked for.

use crate::common::{
    assert_refused, create_target, execute, row, rows, run, server_in, server_on_disk as server,
};
use pgfsbench_tests::{LoopFs, TestServer, assert_columns};
use postgres::Client;

pub(crate) const SETTINGS: &[(&str, &str)] =
    &[("max_worker_processes", "24"), ("shared_buffers", "32MB")];

/// A million rows.
const SMALL: &str = "workload => 'scan', scale => 1, seed => 1";

pub(crate) fn options(options: &str) -> String {
    format!("{SMALL}, options => '{{{options}}}'")
}

/// Whether the kernel tells what the device below a server reads.
pub(crate) fn device_is_known(server: &TestServer) -> bool {
    let device = rustix::fs::stat(server.data()).expect("stat").st_dev;
    let device = (rustix::fs::major(device), rustix::fs::minor(device));
    std::fs::exists(format!("/sys/dev/block/{}:{}", device.0, device.1)).expect("/sys is there")
}

#[test]
fn what_is_cold_comes_from_the_device_and_what_is_warm_does_not() {
    let server = server(SETTINGS);
    let mut client = server.connect("postgres");
    let cold = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 2, "cache": "cold", "readers": [2]"#),
    );
    // A figure that is not known is not 0. It is known if the filesystem is on a device, which others use, too.
    let device = match device_is_known(&server) {
        // The program itself may be on another one.
        true => "device_read_bytes >= process_read_bytes - bytes * 0.01",
        false => "device_read_bytes IS NULL",
    };
    let assert_scans = |client: &mut Client, id: &str, condition: &str| {
        assert_columns(
            client,
            &format!("FROM fsbench.scan WHERE run_id = {id}"),
            &[
                ("bool_or(used)", "t"),
                ("bool_and(buffers_read >= bytes / 8192)", "t"),
                (&format!("bool_and(used = ({condition}))"), "t"),
                (&format!("bool_and({device})"), "t"),
            ],
        );
    };
    let of = |id: &str, condition: &str| {
        format!(
            "SELECT bool_and({condition}) FROM (SELECT bytes, cached_bytes, device_read_bytes FROM fsbench.scan WHERE run_id = {id} \
             UNION ALL SELECT bytes, cached_bytes, device_read_bytes FROM fsbench.scan_read WHERE run_id = {id}) s"
        )
    };
    assert_eq!(
        row(&mut client, &of(&cold, "cached_bytes <= bytes * 0.01")),
        "t"
    );
    assert_scans(&mut client, &cold, "process_read_bytes >= bytes * 0.99");
    let warm = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 2, "cache": "warm", "readers": [2]"#),
    );
    assert_eq!(
        row(&mut client, &of(&warm, "cached_bytes >= bytes * 0.99")),
        "t"
    );
    assert_scans(&mut client, &warm, "process_read_bytes <= bytes * 0.01");
    // For a table in memory the processor is the limit: a file is read faster, on a machine that does nothing else.
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan_read SET gb_per_second = 1000 WHERE run_id = {warm}"),
    );
    assert_eq!(
        row(
            &mut client,
            &format!(
                "SELECT coalesce(string_agg(code || ' ' || severity, ',' ORDER BY code), '') FROM fsbench.judge({warm}) \
                      WHERE code IN ('cpu_bound', 'cpu_saturated', 'data_fits_ram', 'no_complete_checkpoint')"
            )
        ),
        "cpu_bound info"
    );
    // Findings are judged from the bytes that the processes of each scan had read, and from whether it counts.
    let judged = |client: &mut Client, id: &str, set: &str| {
        execute(
            client,
            &format!("UPDATE fsbench.scan SET page_cache_bytes = 0, {set} WHERE run_id = {id}"),
        );
        let told = rows(
            client,
            &format!(
                "SELECT severity || ': ' || message FROM fsbench.judge({id}) WHERE code = 'cache_not_as_asked'"
            ),
        );
        told.join("; ")
    };
    for id in [&warm, &cold] {
        execute(
            &mut client,
            &format!(
                "DELETE FROM fsbench.scan s WHERE run_id = {id} AND EXISTS (SELECT FROM fsbench.scan WHERE run_id = {id} \
                AND degree = s.degree AND repeat = s.repeat AND scan > s.scan)"
            ),
        );
    }
    const OF_ONE: &str = "CASE WHEN degree = 1 AND repeat = 2 THEN bytes / 2 ELSE 0 END";
    assert_eq!(
        judged(&mut client, &warm, "process_read_bytes = 0, used = true"),
        ""
    );
    assert_eq!(
        judged(
            &mut client,
            &warm,
            &format!("process_read_bytes = {OF_ONE}, used = degree <> 1 OR repeat <> 2")
        ),
        "warning: in 1 of 4 scans from a warm cache up to 50.00 % of the table came from storage; they do not count, and even made again \
         fewer repeats than asked for are left at degree 1"
    );
    assert_eq!(
        judged(
            &mut client,
            &warm,
            &format!("process_read_bytes = NULL, device_read_bytes = {OF_ONE}, used = true")
        ),
        "warning: in 1 of 4 scans from a warm cache up to 50.00 % of the table came from storage, or was read for others; they count"
    );
    assert_eq!(
        judged(
            &mut client,
            &cold,
            "process_read_bytes = bytes + 8192, used = true"
        ),
        ""
    );
    assert_eq!(
        judged(
            &mut client,
            &cold,
            "process_read_bytes = bytes / 4, used = false"
        ),
        "invalid: in 4 of 4 scans from a cold cache as little as 25.00 % of the table came from storage; they do not count, and even made again \
         no scan is left at degree 1, 2"
    );
    // Nothing is left: no curve, and no knee.
    assert_eq!(
        rows(
            &mut client,
            &format!(
                "SELECT degree, repeats, not_used, num_nulls(median_ms, gb_per_second, speedup, efficiency) FROM fsbench.scan_curve({cold})"
            )
        ),
        ["1|0|2|4", "2|0|2|4"]
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan_knee({cold})"),
        &[
            ("verdict", "not_identifiable"),
            (
                "says",
                "not identifiable: it takes at least three degrees, and only 0 of 2 have scans that count",
            ),
        ],
    );
    // Speed-up is relative to one worker; without scans by one, the fewest workers count as perfectly parallel.
    execute(
        &mut client,
        &format!(
            "UPDATE fsbench.scan SET used = true, ms = CASE degree WHEN 1 THEN 100 ELSE 80 END WHERE run_id = {warm}"
        ),
    );
    let curve = format!("SELECT degree, speedup, efficiency FROM fsbench.scan_curve({warm})");
    assert_eq!(rows(&mut client, &curve), ["1|1|1", "2|1.25|0.625"]);
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan SET used = degree > 1 WHERE run_id = {warm}"),
    );
    assert_eq!(rows(&mut client, &curve), ["1||", "2||"]);
    execute(
        &mut client,
        &format!("DELETE FROM fsbench.scan WHERE run_id = {warm} AND degree = 1"),
    );
    assert_eq!(rows(&mut client, &curve), ["2|2|1"]);
    // Only with no more readers than processes that have scanned.
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan_read SET readers = readers + 8 WHERE run_id = {warm}"),
    );
    assert_eq!(
        row(
            &mut client,
            &format!("SELECT count(*) FROM fsbench.judge({warm}) WHERE code = 'cpu_bound'")
        ),
        "0"
    );
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({SMALL}, options => '{{\"cache\": \"shared_buffers\"}}')"),
        "55000",
        &["does not fit in shared_buffers", "HINT: ", "smaller scale"],
    );
}

#[test]
fn a_cold_cache_is_refused_where_there_is_none() {
    let Some(memory) = pgfsbench_tests::on_tmpfs() else {
        let test = "a_cold_cache_is_refused_where_there_is_none";
        return pgfsbench_tests::skip(test, "needs a tmpfs on /dev/shm");
    };
    let server = server_in(memory, None, SETTINGS);
    let mut client = server.connect("postgres");
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({SMALL}, options => '{{\"cache\": \"cold\"}}')"),
        "55000",
        &["on tmpfs cannot be emptied", "HINT: ", "target"],
    );
}

#[test]
fn a_cold_cache_is_refused_where_one_below_keeps_the_table() {
    let fs = match LoopFs::ext4(1200) {
        Ok(fs) => fs,
        Err(reason) => {
            let name = "a_cold_cache_is_refused_where_one_below_keeps_the_table";
            return pgfsbench_tests::skip(name, &reason);
        }
    };
    let server = server_in(&fs.path(), None, SETTINGS);
    let mut client = server.connect("postgres");
    let place = fs.path().join("target");
    std::fs::create_dir(&place).expect("a directory");
    std::os::unix::fs::chown(&place, pgfsbench_tests::server_owner(), None).expect("chown");
    create_target(&mut client, "there", &place);
    for target in ["default", "there"] {
        assert_refused(
            &mut client,
            &format!(
                "SELECT fsbench.start(target => '{target}', {SMALL}, options => '{{\"cache\": \"cold\"}}')"
            ),
            "55000",
            &[
                "on an image without direct I/O cannot be emptied",
                "HINT: ",
                "direct I/O is possible",
            ],
        );
    }
    // The shared buffers of its server are known beforehand, too.
    assert_refused(
        &mut client,
        &format!(
            "SELECT fsbench.start(target => 'there', {SMALL}, options => '{{\"cache\": \"shared_buffers\"}}')"
        ),
        "55000",
        &[
            "does not fit in shared_buffers",
            "HINT: ",
            "Raise shared_buffers",
        ],
    );
    server.nothing_is_left_at_once();
}

#[test]
fn what_is_not_in_shared_buffers_when_it_was_to_be_there_is_told() {
    let server = server(&[("max_worker_processes", "24"), ("shared_buffers", "128MB")]);
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 1, "cache": "shared_buffers", "readers": []"#),
    );
    let judged = format!(
        "SELECT severity || ': ' || message FROM fsbench.judge({id}) WHERE code = 'cache_not_as_asked'"
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[("bool_and(used)", "t"), ("max(buffers_read)", "0")],
    );
    assert_eq!(rows(&mut client, &judged), [""; 0]);
    // As if another session had driven a fifth of it out.
    execute(
        &mut client,
        &format!(
            "UPDATE fsbench.scan SET used = degree <> 2, buffers_read = CASE degree WHEN 2 THEN bytes / 8192 / 5 ELSE 0 END WHERE run_id = {id}"
        ),
    );
    assert_eq!(
        rows(&mut client, &judged),
        [
            "warning: in 1 of 2 scans from shared buffers up to 19.99 % of the table was not there; they do not count, and even made again \
             no scan is left at degree 2"
        ]
    );
}

/// In PostgreSQL 18 processes of the server read on request of others: such reads do not count as a scan's.
#[test]
fn what_is_read_for_others_meanwhile_is_not_taken_for_a_scans() {
    let server = server(SETTINGS);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE TABLE beside WITH (parallel_workers = 0) AS SELECT repeat('x', 800) AS x FROM generate_series(1, 200000)",
    );
    execute(&mut client, "VACUUM beside");
    let read = "DO $$ BEGIN LOOP PERFORM count(*) FROM beside; END LOOP; END $$";
    let others = server.background("postgres", read);
    let id = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 3, "cache": "warm", "readers": []"#),
    );
    execute(
        &mut client,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %'",
    );
    others.join().expect_err("its session ended");
    let by_io_workers = "SELECT current_setting('io_method', true) IS NOT DISTINCT FROM 'worker'";
    let by_io_workers = row(&mut client, by_io_workers) == "t";
    let (others_have_read, findings) = if by_io_workers { ("t", "1") } else { ("", "0") };
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[
            // A table that a busy machine has pushed out of its memory is read by the scan itself.
            ("bool_and(used OR process_read_bytes > 0)", "t"),
            (
                "bool_and((process_read_bytes IS NULL) = (others_read_bytes IS NOT NULL))",
                "t",
            ),
            ("bool_or(others_read_bytes > 0)", others_have_read),
            (
                &format!(
                    "(SELECT count(*) FROM fsbench.finding WHERE run_id = {id} AND code = 'read_for_others')"
                ),
                findings,
            ),
        ],
    );

    // Alone, everything is known again, and what waits for an I/O worker is seen to.
    let id = run(
        &mut client,
        &options(r#""degrees": [1], "repeats": 3, "cache": "cold", "readers": []"#),
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id} AND used"),
        &[
            ("bool_and(process_read_bytes >= bytes * 0.99)", "t"),
            ("bool_and(others_read_bytes IS NULL)", "t"),
        ],
    );
    let waits = format!(
        "SELECT bool_or(wait_events ? 'IO:AioIoCompletion') FROM fsbench.scan WHERE run_id = {id}"
    );
    let is_seen = row(&mut client, &waits) == "t";
    assert_eq!(is_seen, by_io_workers, "waits of AIO");
}
