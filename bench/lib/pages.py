"""Size and speed of pages of pgfsbench_report, and of histories of 10,000 nights."""

import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .report import Record, say, verdict
from .server import Server

HALF_HOUR = 1800
# Targets of an experiment, its blocks, the most bytes of its page, and how long it may take (s).
EXPERIMENTS = ((5, 6, 5e6, 5), (15, 20, 12e6, None))
FIRST_CHART_MS = 2000
HISTORY_MS = 300
HISTORY_PAGE_SECONDS = 5
ROUNDS = 5
BROWSERS = ("chromium-headless-shell", "chromium")

# Noise of each second: by a hash, the same each time.
NOISE = "(hashint8extended(r.run_id * 100003 + s, {}) % 1000)::float8 / 1000"

FIGURES = f"""
    INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, duration, asked, used, requested_by, requested_at, started_at, measured_from, ended_at,
        measured_ms, transactions_total, tps, latency_avg_ms, latency_p50_ms, latency_p99_ms, latency_max_ms, commit_p50_ms, commit_p99_ms, stall_seconds, zero_seconds,
        device_bytes_per_transaction, data_bytes, failed, complete_checkpoints, target_definition)
    SELECT {{first}} + {{targets}} * b + n, 'done', 't' || n, 'tpcb', 1000, 32, '30 min', '{{{{}}}}', '{{{{}}}}', 'x', at, at, at, at + interval '35 min', 1800000, 1800 * round(tps), tps,
           32000 / tps, 30000 / tps, 90000 / tps, 900, 4000 / tps, 12000 / tps, 3, 0, 9000, 1.6e10, 0, 3, '{{{{"kind": "directory"}}}}'
    FROM generate_series(0, {{targets}} - 1) n, generate_series(0, {{blocks}} - 1) b,
         LATERAL (SELECT timestamptz '2026-01-10 20:00:00+00' + ({{targets}} * b + n) * interval '40 min' AS at, (5000 + 300 * n) * (1 + 0.01 * sin(7 * b + 3 * n)) AS tps) v;
    INSERT INTO fsbench.environment (run_id, server_version, kernel, hostname, processors, memory_bytes, durability, filesystem, device, settings)
    SELECT run_id, 'PostgreSQL 15.20', 'Linux 6.1.0', 'db1', 16, 137438953472, 'durable', 'xfs', '/dev/nvme0n1p2', '{{{{"fsync": "on"}}}}' FROM fsbench.run_log WHERE run_id >= {{first}};
    INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, latency_p50_ms, latency_p99_ms, commit_p99_ms, device_writes, device_reads, device_flushes, device_write_bytes,
        device_read_bytes, device_f_await_ms, device_w_await_ms, device_aqu_sz, device_util_percent, dirty_bytes, writeback_bytes, cpu_usr_percent, cpu_sys_percent, cpu_iowait_percent,
        cpu_steal_percent, cpu_idle_percent)
    SELECT r.run_id, s, 1000, CASE WHEN s % 600 = 333 THEN 3 ELSE r.tps * (1 + 0.2 * {NOISE.format(1)}) END, 7.5 + {NOISE.format(2)}, 24 + 9 * {NOISE.format(3)}, 12 + 9 * {NOISE.format(4)},
           2000 + 500 * {NOISE.format(5)}, 10 + 9 * {NOISE.format(6)}, 900 + 90 * {NOISE.format(7)}, 2e7 + 1e7 * {NOISE.format(8)}, 1e5 + 1e5 * {NOISE.format(9)}, 0.4 + 0.2 * {NOISE.format(10)},
           0.2 + 0.1 * {NOISE.format(11)}, 3 + {NOISE.format(12)}, 60 + 20 * {NOISE.format(13)}, 4e8 + 2e8 * {NOISE.format(14)}, 1e6 * {NOISE.format(15)}, 40 + 5 * {NOISE.format(16)},
           20 + 5 * {NOISE.format(17)}, 15, 0, 25 + 5 * {NOISE.format(18)}
    FROM fsbench.run_log r, generate_series(0, {HALF_HOUR - 1}) s WHERE r.run_id >= {{first}};
    INSERT INTO fsbench.wait_event (run_id, second, wait_event_type, wait_event, samples)
    SELECT r.run_id, s, w.type, w.event, w.samples + s % 7 FROM fsbench.run_log r, generate_series(0, {HALF_HOUR - 1}) s,
         (VALUES ('CPU', 'CPU', 300), ('IO', 'WALSync', 350), ('IO', 'DataFileRead', 90), ('Lock', 'transactionid', 100), ('LWLock', 'WALWrite', 50), ('LWLock', 'WALInsert', 20)) w (type, event, samples)
    WHERE r.run_id >= {{first}};
    INSERT INTO fsbench.checkpoint (run_id, number, kind, started_at, start_second, end_second, started_before, ended_after)
    SELECT run_id, n, 'checkpoint', measured_from + n * interval '10 min', 600 * n - 500, 600 * n - 60, false, false FROM fsbench.run_log, generate_series(1, 3) n WHERE run_id >= {{first}};
    INSERT INTO fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, min_ms, max_ms, buckets, counts)
    SELECT r.run_id, 'tpcb', t.measure, 9e6, 1, 1, 0.5, 900, h.buckets, h.counts
    FROM fsbench.run_log r, (VALUES ('latency', 0), ('commit', -32)) t (measure, shift),
         LATERAL (SELECT array_agg((600 + t.shift + b)::smallint ORDER BY b) AS buckets, array_agg((9e6 * 0.03 * 0.97 ^ b)::bigint + 1 ORDER BY b) AS counts FROM generate_series(0, 300) b) h
    WHERE r.run_id >= {{first}};
    INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight)
    SELECT run_id, 'stalls', 'warning', '3 seconds with under a tenth of the median', 'See fsbench.sample.', 400 FROM fsbench.run_log WHERE run_id >= {{first}};
    INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome, boot_id, planned_at)
    SELECT e.experiment_id, (r.run_id - {{first}}) / {{targets}} + 1, (r.run_id - {{first}}) % {{targets}} + 1, (r.run_id - {{first}}) % {{targets}}, 1, r.run_id, 'measured', 'boot', r.started_at
    FROM fsbench.experiment e, fsbench.run_log r WHERE e.experiment = '{{name}}' AND r.run_id >= {{first}};
    UPDATE fsbench.experiment SET status = 'done', too_short = false, started_at = '2026-01-10 20:00:00+00', ended_at = '2026-01-17 20:00:00+00' WHERE experiment = '{{name}}';
    ANALYZE"""

NIGHTS = """
    INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, label, asked, used, requested_by, requested_at, started_at, tps, latency_p99_ms, target_definition)
    SELECT 100000 + n, CASE WHEN n % 97 = 0 THEN 'failed' ELSE 'done' END, 'ext4', 'tpcb', 10, 'nightly', '{}', '{}', 'x', at, at,
           1000 * (1 + 0.01 * sin(n * 5) + 0.01 * sin(n * 1.7)) * (1 - 0.08 * ((n / 1000) % 2)), 10 + 0.1 * sin(n), '{"filesystem": "ext4"}'
    FROM generate_series(1, 10000) n, LATERAL (SELECT now() - (10000 - n) * interval '1 day' AS at) a;
    INSERT INTO fsbench.environment (run_id, kernel, filesystem, server_version, configuration_fingerprint, settings, layers)
    SELECT run_id, 'Linux 6.1.' || run_id / 1000, 'ext4', 'PostgreSQL 15.20', md5((run_id / 500)::text), s.settings || jsonb_build_object('work_mem', jsonb_build_object('setting', run_id / 500)), l.layers
    FROM fsbench.run_log,
         (SELECT jsonb_object_agg(name, jsonb_build_object('setting', setting, 'source', source)) AS settings FROM (SELECT * FROM pg_settings ORDER BY name LIMIT 45) p) s,
         (SELECT jsonb_build_array(jsonb_build_object('kind', 'partition', 'name', 'nvme0n1p1', 'bytes', 1e12, 'depth', 0, 'device', '259:1'),
                                   jsonb_build_object('kind', 'disk', 'name', 'nvme0n1', 'bytes', 1e12, 'depth', 1, 'device', '259:0', 'model', 'Maker Disk 9', 'serial', 'S-1',
                                                      'queue', jsonb_build_object('scheduler', 'none', 'nr_requests', 1023, 'read_ahead_kb', 128, 'write_cache', 'write back'))) AS layers) l
    WHERE label = 'nightly';
    ANALYZE"""


def experiment(server, targets, blocks):
    """The name of an experiment on so many targets, in so many blocks, each run of half an hour."""
    name = f"of {targets * blocks}"
    for n in range(targets):
        server.sql(f"SELECT fsbench.create_target('t{n}', directory => '/tmp') WHERE NOT EXISTS (SELECT FROM fsbench.target WHERE target = 't{n}')")
    names = ",".join(f"t{n}" for n in range(targets))
    server.sql(f"SELECT fsbench.experiment('{name}', '{{{names}}}', baseline => 't0', seed => 7, scale => 10, clients => 8, transactions => 1000, max_blocks => 24, start => false)")
    server.sql(FIGURES.format(first=targets * 100_000, targets=targets, blocks=blocks, name=name))
    return name


def made(server, query, rounds):
    """A page as psql writes it into a file, and how long that took each time (s)."""
    times = []
    for _ in range(rounds):
        before = time.monotonic()
        page = server.sql(query)
        times.append(time.monotonic() - before)
    return page, times


def first_chart(page):
    """When a browser has drawn the first chart (ms), which a link to its section unfolds; None without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "page.html"
        file.write_text(page)
        dom = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={directory}/profile", "--timeout=120000", "--dump-dom", file.as_uri() + "#seconds"],
            capture_output=True, text=True, check=True).stdout
    return int(re.search(r'data-first-ms="(\d+)"', dom)[1])


def pages(o):
    record = Record("pages")
    with Server({"fsync": "off", "autovacuum": "off"}, o.directory) as server:
        server.sql("CREATE EXTENSION pgfsbench_report CASCADE")
        for targets, blocks, most_bytes, most_seconds in EXPERIMENTS:
            runs, name = targets * blocks, experiment(server, targets, blocks)
            page, times = made(server, f"SELECT fsbench.report('{name}', force => true)", ROUNDS if most_seconds else 1)
            median = statistics.median(times)
            record.add(runs=runs, bytes=len(page), seconds=times)
            verdict(f"page of {runs} runs of half an hour: {len(page) / 1e6:.2f} MB", len(page) <= most_bytes, f"at most {most_bytes / 1e6:.0f} MB")
            if most_seconds:
                verdict(f"  made in {median:.2f} s (longest {max(times):.2f})", median <= most_seconds, f"at most {most_seconds} s")
            else:
                say(f"  made in {median:.2f} s")
            seen = first_chart(page)
            if seen is None:
                say("  no Chromium: what a browser makes of it is not measured")
            else:
                record.add(runs=runs, first_chart_ms=seen)
                verdict(f"  first chart after {seen} ms", seen <= FIRST_CHART_MS, f"at most {FIRST_CHART_MS} ms")


def history(o):
    record = Record("history")
    with Server({"fsync": "off", "autovacuum": "off"}, o.directory) as server:
        server.sql("CREATE EXTENSION pgfsbench_report CASCADE")
        server.sql(NIGHTS)
        for query in ("SELECT * FROM fsbench.history('nightly')", "SELECT * FROM fsbench.history('nightly', 'latency_p99_ms')",
                      "SELECT * FROM fsbench.check_history('nightly', worse_by => 0.5)"):
            times = server.timed(query, 9)
            median = statistics.median(times)
            record.add(query=query, ms=times)
            verdict(f"{query}: {median:.0f} ms (first {times[0]:.0f}, longest {max(times):.0f})", median <= HISTORY_MS, f"at most {HISTORY_MS} ms")
        page, times = made(server, "SELECT fsbench.report(history => 'nightly')", ROUNDS)
        record.add(bytes=len(page), seconds=times)
        verdict(f"its page: {statistics.median(times):.2f} s, {len(page) / 1e6:.2f} MB", statistics.median(times) <= HISTORY_PAGE_SECONDS, f"at most {HISTORY_PAGE_SECONDS} s")
