//! Results of the workloads io and tpcc-like on pages.

use super::redacted::both;
use crate::common::execute;
use postgres::Client;

/// Two runs with jobs of fio, and two with New-Orders. The name of a job ends the element that it stands in, and names a host.
const RESULTS: &str = r"
    UPDATE fsbench.run_log SET workload = 'io' WHERE run_id IN (200, 201);
    INSERT INTO fsbench.io_job (run_id, position, job, direction, access, copies, file_bytes, sync_call, sync_every, operations, bytes, runtime_ms, mb_per_second, iops,
        latency_avg_ms, latency_p50_ms, latency_p99_ms, drift_ratio, stall_seconds, steady)
    SELECT r, 1, 'log </td><script>alert(2)</script> of db1.example', d, 'write', 3, 16777216, CASE d WHEN 'sync' THEN 'fdatasync' END, CASE d WHEN 'sync' THEN 1 END,
           54321, CASE d WHEN 'write' THEN 445000000 END, 10000, CASE d WHEN 'write' THEN 44.5 END, CASE d WHEN 'write' THEN 5432.1 ELSE 5400 END, 0.5, 0.25, 7.75, 0.875, 2, false
    FROM generate_series(200, 201) r, unnest('{write,sync}'::text[]) d
    UNION ALL SELECT 201, 2, 'nothing', 'read', 'read', 1, 8192, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL;
    UPDATE fsbench.run_log SET workload = 'tpcc-like', scale = 10 WHERE run_id IN (202, 203);
    INSERT INTO fsbench.transaction_result (run_id, position, transaction, weight, committed, rolled_back, failed, retried, retries)
    SELECT r, 1, 'new-order', 45, 2469, 21, 10, 0, 0 FROM generate_series(202, 203) r;
    INSERT INTO fsbench.tpcc_client SELECT 202, c, 1300, 1250, 11, 12600, 126, 1200, 186, 714, 1, 2, 3 FROM generate_series(0, 1) c";

pub(super) fn of_jobs_and_of_new_orders(client: &mut Client) {
    execute(client, "BEGIN");
    execute(client, RESULTS);
    let [whole, redacted] = both(client, "run_ids => '{200,201,202,203}'");
    let [_, others] = both(client, "run_ids => '{204}'");
    execute(client, "ROLLBACK");
    for page in [&whole, &redacted] {
        for section in ["jobs", "new-orders"] {
            assert!(page.contains(&format!("<section id=\"{section}\">")));
            assert!(!others.contains(&format!("<section id=\"{section}\">")));
        }
        assert!(!page.contains("<script>alert"));
        assert!(page.contains("log &lt;/td&gt;&lt;script&gt;alert(2)&lt;/script&gt; of "));
        for cell in [
            "fdatasync",
            "54,321",
            "44.5 MB/s",
            "5,432",
            "16 MB",
            "0.25 ms",
            "7.75 ms",
            "0.875",
            "no",
            "1,000 operations/s",
        ] {
            assert!(page.contains(cell), "{cell}\n{page}");
        }
        // 2469 and 2500 in two minutes, 10 warehouses, and 22 of 2500 orders rolled back.
        for cell in ["1,234", "1,250", "123", "0.88 %", "10.1", "1 %", "59.5 %"] {
            assert!(page.contains(&format!(">{cell}</td>")), "{cell}\n{page}");
        }
        assert!(page.contains("not comparable to published TPC-C results"));
        // A job that did nothing has no figures, and no zeros in their place.
        let (_, nothing) = page.split_once(">nothing</th>").expect("a row");
        let row = nothing.split("</tr>").next().unwrap_or_default();
        assert_eq!(row.matches("></td>").count(), 8, "{row}");
    }
    assert!(whole.contains("of db1.example") && !redacted.contains("db1.example"));
}
