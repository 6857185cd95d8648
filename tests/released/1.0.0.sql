--
-- PostgreSQL database dump
--

\restrict f1Mvf1aY2jYxkzZ7sJxk28ukiDejeaAaUenqoHFj1XklJJEdj8fdceaelLmRvXz

-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: fsbench; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA fsbench;


ALTER SCHEMA fsbench OWNER TO postgres;

--
-- Name: pgfsbench; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pgfsbench WITH SCHEMA fsbench;


--
-- Name: EXTENSION pgfsbench; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION pgfsbench IS 'Benchmarks of filesystems, run inside the PostgreSQL server';


--
-- Data for Name: run_log; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.run_log (run_id, status, target, workload, scale, clients, duration, transactions, warmup, rate, latency_limit_ms, seed, label, forced, asked, used, requested_by, requested_at, started_at, measured_from, ended_at, phases, steps, error_code, error, error_detail, error_hint, work_database, work_database_oid, work_mark, kept, load_ms, data_bytes, measured_ms, transactions_total, transactions_outside, skipped, late, failed, tps, latency_avg_ms, latency_stddev_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_max_ms, commit_avg_ms, commit_p50_ms, commit_p99_ms, commit_max_ms, stall_seconds, zero_seconds, xids_used, wal_bytes, complete_checkpoints, balances, facts, client_wal_records, client_wal_fpi, client_wal_bytes, client_wal_writes, client_wal_syncs, client_wal_write_ms, client_wal_sync_ms, client_blocks_hit, client_blocks_read, client_blocks_dirtied, client_blocks_written, client_block_read_ms, client_block_write_ms, client_cpu_seconds, cpu_seconds, cpu_ms_per_transaction, device_read_bytes, device_write_bytes, device_flushes, device_bytes_per_transaction, flushes_per_transaction, changed_bytes, server_write_bytes, io_read_bytes, io_write_bytes, io_extend_bytes, io_wal_write_bytes, server_write_amplification, filesystem_write_amplification, write_amplification, wal_start_lsn, wal_end_lsn, target_definition, target_version, checkpoints_timed, checkpoints_requested, checkpoints_logged, track_io_timing, track_wal_io_timing, clock_read_ns, sustainable_rate, sustainable_rate_low, sustainable_rate_high, sustainable_rate_estimate, sustainable_rate_says, copied, behind) FROM stdin;
1	done	default	tpcb	1	1	\N	50	00:00:00	\N	\N	1	\N	f	{"keep": false, "rate": null, "seed": 1, "size": null, "force": false, "label": null, "scale": 1, "target": "default", "clients": 1, "options": null, "settings": null, "workload": "tpcb", "warmup_us": null, "duration_us": null, "transactions": 50, "latency_limit_ms": null}	{"keep": false, "rate": null, "seed": 1, "bound": {"transactions": 50}, "force": false, "label": null, "scale": 1, "stage": "whole", "chosen": ["warmup"], "target": "default", "clients": 1, "options": {"sample": true, "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "tpcb", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": null}	postgres	2026-11-29 21:16:35.887328+00	2026-11-29 21:16:35.887328+00	2026-11-29 21:16:36.193191+00	2026-11-29 21:16:36.260592+00	[{"ms": 70.192784, "phase": "provision", "started_ms": 7.921472}, {"ms": 41.675596, "phase": "load", "started_ms": 78.114299}, {"ms": 58.222689, "phase": "vacuum", "started_ms": 119.789934}, {"ms": 132.747786, "phase": "checkpoint", "started_ms": 178.01266}, {"ms": 27.045608, "phase": "measure", "started_ms": 310.760486}, {"ms": 31.65854, "phase": "verify", "started_ms": 337.806148}, {"ms": 28.37649, "phase": "collect", "started_ms": 369.464735}, {"ms": 45.788471, "phase": "cleanup", "started_ms": 397.841267}]	[{"who": "server", "action": "make the work database", "started_ms": 7.915613}, {"who": "server", "action": "load", "started_ms": 78.110627}, {"who": "server", "action": "vacuum", "started_ms": 119.785398}, {"who": "server", "action": "checkpoint", "started_ms": 178.008904}, {"who": "server", "action": "launch", "started_ms": 278.227152}, {"who": "server", "action": "measure", "started_ms": 295.62113}, {"who": "server", "action": "verify", "started_ms": 337.804434}, {"who": "server", "action": "store", "started_ms": 369.461547}, {"who": "server", "action": "drop the work database", "started_ms": 397.884082}]	\N	\N	\N	\N	fsbench_work_1	17384	48b180d1e2f456779fcebde074b97cbc	f	99.898285	23575911	10.475658	50	0	0	0	0	4772.969869768563	0.18841651999999998	0.25047985687437946	0.0870395	0.4055035	0.5488635	1.5892475	\N	1.594594	0.0227045	0.0095995	0.243696	0.243696	\N	\N	59	754664	0	{"history": -16223, "tellers": -16223, "accounts": -16223, "branches": -16223, "fingerprint": "8618483596656827735", "history_rows": 50, "accounts_read": "all"}	{"wal": {"left": 0, "begun": 1, "ready": 1, "created": 0, "recycles": true, "max_bytes": 1073741824, "completion": 0.9, "segment_bytes": 16777216}, "rate": null, "cache": null, "crash": {"found": null, "problem": null, "verified": null, "committed": null}, "flush": {"after_us": 96.347, "before_us": 123.0465, "quiet_after": true}, "fsync": false, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": 0, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": 0, "extends_by_fallocate": null, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2300.0, "limits": {"io": [], "quota": null, "memory": null, "allowed": null}, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.5, "mhz_at_end": 2300.0, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 405504, "dirty_bytes_limit": null, "cpu_others_at_least": null, "dirty_peak_limit_bytes": 3524083712}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "layout": null, "zfs_sync": null, "lazy_init": false, "on_device": null, "ssd_state": null, "array_work": [], "attributes": null, "filesystem": null, "free_bytes": null, "log_layers": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "zfs_flushes": null, "mkfs_command": null, "has_fallocate": null, "mount_options": null, "resync_at_end": null, "file_attributes": null, "device_read_bytes": null, "discard_max_bytes": null, "free_bytes_at_end": 67325857792, "server_read_bytes": null, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "device_discard_bytes": 0, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "wal_sync": {"syncs": null, "method": null, "servers": null, "sync_ms": null, "wal_bytes": null, "window_ms": null, "device_flushes": null, "device_write_bytes": null}, "workload": null, "instances": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "power_cuts": {"cuts": null, "failed": null}, "service_ms": null, "statements": "not_loaded", "checkpoints": null, "reset_views": [], "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "other_storage": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "cycles": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "has_unlike_parts": false, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	349	96	751643	51	0	\N	\N	1179	98	109	2	\N	\N	0.009483777	0.009483777	0.18967554	0	0	0	0	0	1800	771048	\N	\N	\N	\N	428.36	0	0	0/2F69430	0/3021818	{"kind": "default"}	1	0	0	t	f	f	25.06896551724138	\N	\N	\N	\N	\N	f	0
2	done	default	tpcb	1	2	\N	100	00:00:00	1000	10000	1201994540	näme	f	{"keep": false, "rate": 1000.0, "seed": null, "size": null, "force": false, "label": "näme", "scale": 1, "target": "default", "clients": 2, "options": null, "settings": null, "workload": "tpcb", "warmup_us": null, "duration_us": null, "transactions": 100, "latency_limit_ms": 10000.0}	{"keep": false, "rate": 1000.0, "seed": 1201994540, "bound": {"transactions": 100}, "force": false, "label": "näme", "scale": 1, "stage": "whole", "chosen": ["warmup", "seed"], "target": "default", "clients": 2, "options": {"sample": true, "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "tpcb", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": 10000.0}	postgres	2026-11-29 21:16:36.346047+00	2026-11-29 21:16:36.346047+00	2026-11-29 21:16:36.563808+00	2026-11-29 21:16:36.856993+00	[{"ms": 51.452142, "phase": "provision", "started_ms": 7.175642}, {"ms": 29.79929, "phase": "load", "started_ms": 58.627832}, {"ms": 47.600553, "phase": "vacuum", "started_ms": 88.427151}, {"ms": 85.450817, "phase": "checkpoint", "started_ms": 136.027734}, {"ms": 262.896127, "phase": "measure", "started_ms": 221.478581}, {"ms": 23.700671, "phase": "verify", "started_ms": 484.374737}, {"ms": 23.362008, "phase": "collect", "started_ms": 508.075453}, {"ms": 46.008288, "phase": "cleanup", "started_ms": 531.437506}]	[{"who": "server", "action": "make the work database", "started_ms": 7.170549}, {"who": "server", "action": "load", "started_ms": 58.625164}, {"who": "server", "action": "vacuum", "started_ms": 88.42333}, {"who": "server", "action": "checkpoint", "started_ms": 136.023558}, {"who": "server", "action": "launch", "started_ms": 192.836481}, {"who": "server", "action": "measure", "started_ms": 210.195386}, {"who": "server", "action": "verify", "started_ms": 484.372498}, {"who": "server", "action": "store", "started_ms": 508.072728}, {"who": "server", "action": "drop the work database", "started_ms": 531.540075}]	\N	\N	\N	\N	fsbench_work_2	17408	5a891ccc12b2ae096b1474864900cd6c	f	77.399843	23575911	233.915431	200	0	0	0	0	855.0098603798396	0.3422091	0.1739575004830204	0.3153915	0.5119995	0.5816315	0.9584635	\N	1.590858	0.02286238	0.0222715	0.0486395	0.087726	\N	\N	209	2652648	0	{"history": 54828, "tellers": 54828, "accounts": 54828, "branches": 54828, "fingerprint": "-155945967702013272263", "history_rows": 200, "accounts_read": "all"}	{"wal": {"left": 1, "begun": 0, "ready": 1, "created": 0, "recycles": true, "max_bytes": 1073741824, "completion": 0.9, "segment_bytes": 16777216}, "rate": null, "cache": null, "crash": {"found": null, "problem": null, "verified": null, "committed": null}, "flush": {"after_us": 200.47199999999998, "before_us": 151.32850000000002, "quiet_after": true}, "fsync": false, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": 0, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": 0, "extends_by_fallocate": null, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2300.0, "limits": {"io": [], "quota": null, "memory": null, "allowed": null}, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.5333333333333333, "mhz_at_end": 2300.0, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 180224, "dirty_bytes_limit": null, "cpu_others_at_least": null, "dirty_peak_limit_bytes": 3523866624}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "layout": null, "zfs_sync": null, "lazy_init": false, "on_device": null, "ssd_state": null, "array_work": [], "attributes": null, "filesystem": null, "free_bytes": null, "log_layers": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "zfs_flushes": null, "mkfs_command": null, "has_fallocate": null, "mount_options": null, "resync_at_end": null, "file_attributes": null, "device_read_bytes": null, "discard_max_bytes": null, "free_bytes_at_end": 67325464576, "server_read_bytes": null, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "device_discard_bytes": 0, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "wal_sync": {"syncs": null, "method": null, "servers": null, "sync_ms": null, "wal_bytes": null, "window_ms": null, "device_flushes": null, "device_write_bytes": null}, "workload": null, "instances": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "power_cuts": {"cuts": null, "failed": null}, "service_ms": null, "statements": "not_loaded", "checkpoints": null, "reset_views": [], "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "other_storage": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "cycles": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "has_unlike_parts": false, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	1390	328	2641860	201	0	\N	\N	4495	327	346	25	\N	\N	0.045439185	0.045439185	0.22719592500000002	0	0	0	0	0	7200	2857448	\N	\N	\N	\N	396.8677777777778	0	0	0/431A9F8	0/45A23E0	{"kind": "default"}	1	0	0	t	f	f	22.025487256371814	\N	\N	\N	\N	\N	f	0
3	done	default	fsync	\N	1	00:00:00.1	\N	\N	\N	\N	805137583	\N	f	{"keep": false, "rate": null, "seed": null, "size": null, "force": false, "label": null, "scale": null, "target": "default", "clients": null, "options": {"writers": [1]}, "settings": null, "workload": "fsync", "warmup_us": null, "duration_us": 100000, "transactions": null, "latency_limit_ms": null}	{"keep": false, "rate": null, "seed": 805137583, "bound": {"duration_ms": 100}, "force": false, "label": null, "stage": "whole", "chosen": ["seed", "methods"], "target": "default", "clients": 1, "options": {"sample": true, "methods": ["open_datasync", "fdatasync", "fsync", "open_sync", "none"], "writers": [1], "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "fsync", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": null}	postgres	2026-11-29 21:16:36.938205+00	2026-11-29 21:16:36.938205+00	2026-11-29 21:16:37.261177+00	2026-11-29 21:16:37.426676+00	[{"ms": 29.65371, "phase": "provision", "started_ms": 10.016753}, {"ms": 288.829057, "phase": "checkpoint", "started_ms": 39.670496}, {"ms": 162.777897, "phase": "measure", "started_ms": 328.499592}, {"ms": 18.423642, "phase": "collect", "started_ms": 491.277534}, {"ms": 7.214403, "phase": "cleanup", "started_ms": 509.701226}]	[{"who": "server", "action": "make the file", "started_ms": 10.014868}, {"who": "server", "action": "checkpoint", "started_ms": 39.667274}, {"who": "server", "action": "launch", "started_ms": 64.162581}, {"who": "server", "action": "measure", "started_ms": 322.261334}, {"who": "server", "action": "store", "started_ms": 491.272929}, {"who": "server", "action": "remove the file", "started_ms": 509.748085}]	\N	\N	\N	\N	\N	\N	\N	f	\N	\N	153.658654	\N	\N	\N	\N	\N	2799.047796869479	0.3572643529411764	0.3996404521959768	0.1904635	0.7946235	1.5564795	1.83742	\N	1.83742	\N	\N	\N	\N	\N	\N	0	0	0	\N	{"wal": {"left": 1, "begun": 0, "ready": 1, "created": 0, "recycles": true, "max_bytes": 1073741824, "completion": 0.9, "segment_bytes": 16777216}, "rate": null, "cache": null, "crash": {"found": null, "problem": null, "verified": null, "committed": null}, "flush": {"after_us": null, "before_us": null, "quiet_after": null}, "fsync": true, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": null, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": null, "extends_by_fallocate": null, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2300.0, "limits": {"io": [], "quota": null, "memory": null, "allowed": null}, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.5357142857142857, "mhz_at_end": 2300.0, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 528384, "dirty_bytes_limit": null, "cpu_others_at_least": null, "dirty_peak_limit_bytes": 3524087808}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "layout": null, "zfs_sync": null, "lazy_init": false, "on_device": null, "ssd_state": null, "array_work": [], "attributes": null, "filesystem": null, "free_bytes": null, "log_layers": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "zfs_flushes": null, "mkfs_command": null, "has_fallocate": null, "mount_options": null, "resync_at_end": null, "file_attributes": null, "device_read_bytes": null, "discard_max_bytes": null, "free_bytes_at_end": 67332472832, "server_read_bytes": null, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "device_discard_bytes": 0, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "wal_sync": {"syncs": null, "method": null, "servers": null, "sync_ms": null, "wal_bytes": null, "window_ms": null, "device_flushes": null, "device_write_bytes": null}, "workload": null, "instances": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "power_cuts": {"cuts": null, "failed": null}, "service_ms": null, "statements": null, "checkpoints": null, "reset_views": null, "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "other_storage": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "cycles": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "has_unlike_parts": false, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0.03	0.03	\N	0	5419008	527	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0/45C25B8	0/45C25B8	{"kind": "default"}	1	0	0	t	\N	\N	22.30384807596202	\N	\N	\N	\N	\N	f	\N
\.


--
-- Data for Name: acknowledgement; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.acknowledgement (run_id, metric, note, acknowledged_by, acknowledged_at) FROM stdin;
1	x	\N	x	2026-11-29 21:16:37.532396+00
\.


--
-- Data for Name: checkpoint; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.checkpoint (run_id, number, kind, cause, started_at, ended_at, start_second, end_second, started_before, ended_after, write_ms, sync_ms, total_ms, buffers_written, slru_written, sync_files, longest_sync_ms, average_sync_ms, aggregate_sync_ms, wal_files_added, wal_files_removed, wal_files_recycled, distance_bytes, estimate_bytes) FROM stdin;
1	1	checkpoint	\N	2026-11-29 21:16:37.532396+00	\N	1	\N	t	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: command_result; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.command_result (run_id, "position", command, line, kind, executions, failures, latency_avg_ms, latency_stddev_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_max_ms) FROM stdin;
1	1	1	1	x	1	1	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: environment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.environment (run_id, pgfsbench_version, server_version, server_version_num, kernel, hostname, machine, virtualization, processors, processor_model, memory_bytes, limits, shared_buffers_bytes, data_checksums, scope, durability, data_directory, filesystem, device, mount_point, mount_options, st_dev, filesystem_size_bytes, filesystem_free_bytes, wal_directory, wal_filesystem, wal_device, wal_mount_options, wal_st_dev, settings, write_cache, storage, wal_mount_point, block_size_bytes, mkfs_version, mkfs_command, geometry, device_model, rotational, fua, discard_granularity_bytes, discard_max_bytes, logical_sector_bytes, physical_sector_bytes, io_scheduler, nr_requests, queue_depth, read_ahead_kb, layers, wal_layers, kernel_command_line, vm, transparent_hugepage, cpu_governor, cpu_mhz_min, cpu_mhz_max, numa_nodes, container, clock_source, host_fingerprint, configuration_fingerprint, journal_mode, durability_codes, data_attributes, data_file_attributes, pg_wal_attributes, pg_wal_file_attributes, fallocate) FROM stdin;
1	1.0.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v657 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	Intel(R) Xeon(R) Processor	25276510208	{}	134217728	f	data and WAL	not durable: fsync off	/tmp/pgfsbench-data.HO3JZ0/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	67371794432	/tmp/pgfsbench-data.HO3JZ0/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": null, "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "pgfsbench.fio": {"source": "default", "setting": "(not stored)"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.6LwVEp"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 3000, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2300	2300	1	docker	tsc	807c33980707c2b3	92de0d009e090660	none	[{"code": "fsync_off"}]					t
2	1.0.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v657 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	Intel(R) Xeon(R) Processor	25276510208	{}	134217728	f	data and WAL	not durable: fsync off	/tmp/pgfsbench-data.HO3JZ0/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	67349295104	/tmp/pgfsbench-data.HO3JZ0/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": null, "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "pgfsbench.fio": {"source": "default", "setting": "(not stored)"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.6LwVEp"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 3000, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2300	2300	1	docker	tsc	807c33980707c2b3	92de0d009e090660	none	[{"code": "fsync_off"}]					t
3	1.0.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v657 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	Intel(R) Xeon(R) Processor	25276510208	{}	134217728	f	data and WAL	durable where a test syncs, by settings (not tried)	/tmp/pgfsbench-data.HO3JZ0/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	67349254144	/tmp/pgfsbench-data.HO3JZ0/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": null, "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "pgfsbench.fio": {"source": "default", "setting": "(not stored)"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.6LwVEp"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "device_write_cache": "write back", "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0", "serial": "overlayblk", "alignment_offset": 0}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 3000, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2300	2300	1	docker	tsc	807c33980707c2b3	60e18acfb734bd03	none	[{"code": "where_a_test_syncs"}]		\N		\N	t
\.


--
-- Data for Name: experiment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment (experiment_id, experiment, status, status_reason, goal, baseline_number, control_number, metric, margin, max_blocks, looks, ended_by, run_order, seed, parameters, asked, run_seconds, cycle_seconds, window_seconds, max_seconds, too_short, burn_in, rate_share, forced, confirms, answer, requested_by, mark, created_at, started_at, ended_at, pilot_cycle, on_seconds, on_since, neighbours, budget_seconds, over_at_latest, moved, open_because, next_blocks, power_cuts) FROM stdin;
1	planned	recorded	\N	best	\N	\N	tps	0.05	12	[{"place": 3, "blocks": 3, "horizon": 12}, {"place": 4, "blocks": 4, "horizon": 12}, {"place": 6, "blocks": 6, "horizon": 12}, {"place": 8, "blocks": 8, "horizon": 12}, {"place": 12, "blocks": 12, "horizon": 12}]	\N	[[1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0]]	474031787	{"keep": false, "force": false, "scale": 10, "clients": 8, "duration_us": 1000000}	{"run": {"keep": false, "rate": null, "seed": null, "size": null, "force": false, "label": null, "scale": null, "target": null, "clients": null, "options": null, "settings": null, "workload": null, "warmup_us": null, "duration_us": 1000000, "transactions": null, "latency_limit_ms": null}, "goal": null, "grid": false, "start": false, "device": null, "margin": 0.05, "metric": null, "control": false, "factors": null, "targets": ["there", "there-too"], "baseline": null, "cycle_us": null, "budget_us": null, "experiment": "planned", "image_size": null, "max_blocks": null, "neighbours": "unexpected", "rate_share": null, "filesystems": null, "max_duration_us": null}	8.045572266666667	300	1	\N	t	f	\N	f	\N	\N	postgres	00000000a707bd12	2026-11-29 21:16:37.497435+00	\N	\N	f	\N	\N	unexpected	\N	\N	\N	\N	\N	\N
2	own q	recorded	\N	baseline	0	\N	tps	0.05	3	[{"place": 3, "blocks": 3, "horizon": 3}]	\N	[[1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]]	237786608	{"keep": false, "force": false, "scale": 1, "clients": 1, "workload": "tpcb", "transactions": 10}	{"run": {"keep": false, "rate": null, "seed": null, "size": null, "force": false, "label": null, "scale": 1, "target": null, "clients": 1, "options": null, "settings": null, "workload": "tpcb", "warmup_us": null, "duration_us": null, "transactions": 10, "latency_limit_ms": null}, "goal": null, "grid": null, "start": false, "device": null, "margin": 0.05, "metric": "tps", "control": null, "factors": null, "targets": ["there", "there-too"], "baseline": "there", "cycle_us": null, "budget_us": null, "experiment": "own q", "image_size": null, "max_blocks": 3, "neighbours": "unexpected", "rate_share": null, "filesystems": null, "max_duration_us": null}	65.10496682666667	300	60	\N	t	f	\N	f	\N	\N	postgres	00000000f78755fb	2026-11-29 21:16:37.527355+00	\N	\N	f	\N	\N	unexpected	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: experiment_log; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_log (log_id, experiment_id, at, event, block, message, by) FROM stdin;
1	1	2026-11-29 21:16:37.498923+00	recorded	\N	2 targets, which is best, metric tps, margin 5 %; 3 to 12 blocks, looks after 3, 4, 6, 8 and 12; a target that is decided is not run again; 6 to 24 runs, about 48.3 s to 3 min 13 s	postgres
2	2	2026-11-29 21:16:37.528098+00	recorded	\N	2 targets, each against there, metric tps, margin 5 %; 3 blocks, one look after 3; 6 runs, about 6 min 31 s	postgres
\.


--
-- Data for Name: experiment_target; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_target (experiment_id, target_number, target, target_name, own, set_aside) FROM stdin;
1	0	there	there	{}	\N
1	1	there-too	there-too	{}	\N
2	0	there	there	{}	\N
2	1	there-too	there-too	{}	\N
\.


--
-- Data for Name: experiment_run; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_run (experiment_id, block, "position", target_number, attempt, run_id, outcome, why, boot_id, versions, planned_at) FROM stdin;
1	1	1	1	1	1	\N	\N	\N	\N	2026-11-29 21:16:37.532396+00
\.


--
-- Data for Name: finding; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.finding (run_id, code, severity, message, hint, weight) FROM stdin;
1	fsync_off	invalid	fsync is off	Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.	794
1	noisy_neighbour	warning	processes that are none of the server used 50.0 % of the processors' time	See what else runs on the machine, and run it again without.	696
1	data_fits_shared_buffers	warning	data of 22 MB fits in shared_buffers (shared_buffers 128 MB, RAM 24 GB)	Reads came from memory, not from storage: use a larger size, such as '2x ram', to measure reads.	397
1	no_complete_checkpoint	warning	no complete checkpoint in the measured window	Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.	300
1	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	188
1	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	187
1	statements_not_recorded	info	the statements of the workload were not recorded: pg_stat_statements is not loaded	Add pg_stat_statements to shared_preload_libraries, restart, and run CREATE EXTENSION pg_stat_statements in the database of pgfsbench; servers on targets get it then, too.	98
2	fsync_off	invalid	fsync is off	Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.	794
2	noisy_neighbour	warning	processes that are none of the server used 53.3 % of the processors' time	See what else runs on the machine, and run it again without.	696
2	data_fits_shared_buffers	warning	data of 22 MB fits in shared_buffers (shared_buffers 128 MB, RAM 24 GB)	Reads came from memory, not from storage: use a larger size, such as '2x ram', to measure reads.	397
2	clients_exceed_branches	warning	2 clients share 1 branch	They wait for each other's row locks, not for storage: use a scale of at least 2.	395
2	no_complete_checkpoint	warning	no complete checkpoint in the measured window	Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.	300
2	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	188
2	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	187
2	statements_not_recorded	info	the statements of the workload were not recorded: pg_stat_statements is not loaded	Add pg_stat_statements to shared_preload_libraries, restart, and run CREATE EXTENSION pg_stat_statements in the database of pgfsbench; servers on targets get it then, too.	98
3	noisy_neighbour	warning	processes that are none of the server used 53.6 % of the processors' time	See what else runs on the machine, and run it again without.	696
3	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	188
3	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	187
\.


--
-- Data for Name: fsync; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.fsync (run_id, method, writes, writers, "position", block_bytes, direct, syncs, ops_per_second, latency_avg_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_min_ms, latency_max_ms, buckets, counts) FROM stdin;
3	open_datasync	2	1	1	8192	t	12	1056.910397250342	0.946154	0.8437755	1.8186235	2.8508155	2.8508155	\N	0.237383	2.864247	{441,448,452,453,455,499,504,505,509,526,535,555}	{1,1,1,1,1,1,1,1,1,1,1,1}
3	open_sync	1	1	2	8192	t	72	6392.312746742162	0.15643790277777778	0.1413115	0.2232315	0.2662395	0.739263	\N	0.087668	0.739263	{394,395,396,397,398,400,401,402,404,405,406,407,409,410,411,412,413,415,418,419,420,421,422,423,424,425,427,428,429,430,431,438,442,443,448,450,465,493}	{2,6,1,2,1,2,1,2,3,1,2,1,1,1,1,2,2,3,2,2,1,3,1,1,7,5,3,1,1,2,1,1,1,1,2,1,1,1}
3	fsync	2	1	3	8192	f	53	4739.038157662256	0.21101328301886793	0.1454075	0.2314235	1.0239995	1.7203195	\N	0.090603	1.725209	{396,397,398,399,400,401,403,405,407,409,419,420,421,422,423,424,425,426,429,433,435,440,454,459,510,524,532}	{3,6,7,3,1,2,1,1,1,1,1,1,1,6,1,2,2,3,1,2,1,1,1,1,1,1,1}
3	fdatasync	1	1	4	8192	f	34	2799.047796869479	0.3572643529411764	0.1904635	0.7946235	1.5564795	1.83742	\N	0.101082	1.83742	{401,408,412,416,418,420,423,424,427,429,430,431,432,434,436,441,442,443,449,465,469,484,489,496,514,527,536}	{1,1,1,1,1,2,3,2,2,2,1,1,1,1,1,1,2,1,1,1,1,1,1,1,1,1,1}
3	fsync	1	1	5	8192	f	62	5573.1875027922115	0.17943053225806452	0.1576955	0.2314235	0.2519035	1.704298	\N	0.083634	1.704298	{392,393,394,395,396,397,398,399,401,408,409,410,411,413,416,417,421,422,423,424,425,426,427,428,429,430,431,433,435,439,440,442,445,446,460,532}	{1,1,2,2,1,5,1,1,1,1,1,1,1,1,5,2,1,6,2,3,3,3,2,1,1,1,1,1,1,2,1,2,1,1,1,1}
3	open_sync	2	1	6	8192	t	44	3845.2453061134242	0.2600614318181818	0.2273275	0.3727355	0.3809275	0.5652475	\N	0.171225	0.566382	{425,427,428,429,431,432,433,434,435,436,438,439,440,441,444,445,446,450,453,455,457,459,461,462,470,482}	{1,1,2,3,4,2,1,2,1,2,1,2,1,1,2,2,1,1,3,4,1,1,1,2,1,1}
3	open_datasync	1	1	7	8192	t	101	8961.358975005083	0.11159021782178218	0.1013755	0.1454075	0.1781755	0.3153915	\N	0.068338	0.325119	{385,386,388,390,391,392,393,394,395,396,397,398,399,400,401,402,403,404,405,406,407,409,410,411,412,413,414,415,416,417,418,419,422,423,427,428,429,435,454,455}	{2,1,1,1,2,1,6,5,6,12,4,1,7,1,3,4,5,5,2,1,3,1,1,1,2,4,1,2,1,3,1,1,2,1,2,1,1,1,1,1}
3	fdatasync	2	1	8	8192	f	80	7194.045344787212	0.13900385	0.1075195	0.1822715	0.2109435	1.1960315	\N	0.083089	1.20841	{392,396,398,399,400,401,402,403,404,405,406,407,408,409,411,412,414,415,416,417,418,419,422,424,426,428,431,433,434,435,439,442,480,516}	{1,2,1,9,9,5,3,4,8,5,3,2,2,1,3,1,1,2,1,2,1,1,2,1,1,1,1,1,1,1,1,1,1,1}
3	none	1	1	9	8192	f	24803	2232256.762717397	0.00044797713986211344	0.0004035	0.0004195	0.0004275	0.0005835	0.0022715	0.000393	0.149686	{145,146,147,148,149,150,151,152,153,154,155,156,157,158,159,160,161,162,163,164,165,166,167,168,169,170,171,172,173,174,175,176,178,179,180,181,182,184,187,188,190,193,224,225,227,233,242,264,269,272,293,311,320,331,335,342,352,353,357,358,362,365,370,371,375,378,393,420}	{1228,11255,8141,2139,890,313,96,37,17,14,24,23,29,28,35,59,55,65,60,48,50,42,36,29,18,7,2,3,4,1,1,3,4,2,5,4,1,1,2,1,1,1,3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,1,1,1,1,1,1,1,1}
\.


--
-- Data for Name: helper_job; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.helper_job (job_id, run_id, target, action, request, status, requested_at, server_started, asked_by, started_at, ended_at, helper_version, steps, result, error, error_detail, error_hint, ticket) FROM stdin;
1	1	made	release	{}	queued	2026-11-29 21:16:37.53148+00	2026-11-29 21:16:35.487382+00	1017	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: histogram; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, min_ms, max_ms, buckets, counts) FROM stdin;
1	tpcb	latency	50	9.420826	4.912047185436	0.045288	1.594594	{364,382,383,384,385,386,387,389,390,392,394,396,397,401,403,404,407,410,411,416,421,426,428,443,445,446,452,453,458,465,467,481,499,528}	{1,1,1,1,3,3,2,1,4,4,4,1,1,1,1,1,1,2,1,1,1,1,1,1,1,1,1,1,1,2,1,1,1,1}
1	tpcb	commit	50	1.135225	0.11627360201100001	0.004309	0.243696	{257,261,266,267,272,273,274,275,276,278,279,283,284,292,293,294,295,296,297,300,303,306,311,312,320,321,322,330,333,334,335,366,402,415,419,443}	{1,2,1,1,2,2,2,2,3,2,1,2,1,2,1,1,1,1,3,2,1,1,1,2,1,1,1,1,1,1,1,1,1,1,1,1}
2	tpcb	latency	200	68.44182	29.473656019422002	0.072779	1.590858	{387,390,417,421,423,424,428,429,430,431,433,434,435,436,437,438,439,441,442,443,445,446,447,448,449,450,451,452,453,454,455,456,457,458,459,460,461,462,463,464,465,466,469,470,471,473,474,475,477,478,480,481,482,483,485,489,491,494,500,506,526,528}	{1,1,1,2,2,3,2,2,1,1,4,1,1,1,4,1,1,1,4,3,6,2,5,7,10,11,6,8,6,11,14,9,10,2,3,4,3,4,8,2,2,1,1,1,2,1,1,1,1,1,2,3,3,3,1,2,1,1,1,1,1,1}
2	tpcb	commit	200	4.572476	0.12775941160400003	0.003621	0.087726	{248,267,268,269,272,273,275,277,279,283,286,288,289,290,291,292,294,295,297,298,301,303,304,305,306,309,311,312,313,314,315,316,317,318,320,321,322,323,324,325,326,327,328,329,330,331,332,333,334,335,336,337,338,339,340,341,343,344,345,347,348,349,350,351,352,353,354,355,356,357,358,359,360,364,365,367,370,394}	{1,1,1,1,1,2,1,1,1,3,1,1,2,3,1,1,2,4,1,1,5,1,2,3,1,2,1,1,2,1,1,1,1,2,2,3,3,3,4,5,3,5,1,10,3,8,5,4,5,2,3,3,8,4,4,3,3,3,1,3,1,7,2,5,3,2,4,3,4,2,2,3,2,1,1,1,1,1}
2	tpcb	service	200	38.831344	11.218797339083999	0.042519	1.462312	{361,371,374,378,379,380,384,385,387,388,389,391,392,393,394,395,396,397,400,402,403,404,405,406,407,408,409,411,412,415,417,418,419,421,422,423,424,425,426,427,428,429,430,431,432,433,434,436,437,438,439,440,441,443,444,445,446,447,449,455,456,457,459,460,462,465,468,471,472,473,487,491,495,524}	{1,1,1,1,1,1,1,1,1,1,2,3,1,4,1,2,1,3,2,2,3,1,2,1,2,1,6,1,2,2,4,5,4,5,2,5,6,3,6,8,5,10,10,8,8,9,5,4,4,2,2,3,2,2,1,1,2,2,1,1,2,1,2,1,2,1,1,1,2,1,1,1,1,1}
3	fsync	latency	34	12.146988	9.769910503072001	0.101082	1.83742	{401,408,412,416,418,420,423,424,427,429,430,431,432,434,436,441,442,443,449,465,469,484,489,496,514,527,536}	{1,1,1,1,1,2,3,2,2,2,1,1,1,1,1,1,2,1,1,1,1,1,1,1,1,1,1}
\.


--
-- Data for Name: imported_file; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_file (import_id, host, hostname, host_fingerprints, format, pgfsbench_version, exported_at, sha256, imported_by, imported_at) FROM stdin;
1	elsewhere	\N	\N	1	\N	\N	x	postgres	2026-11-29 21:16:37.530259+00
\.


--
-- Data for Name: imported_experiment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_experiment (experiment_id, import_id, sha256) FROM stdin;
1	1	x
2	1	x
\.


--
-- Data for Name: imported_run; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_run (run_id, import_id, run_id_there, sha256) FROM stdin;
1	1	1	x
\.


--
-- Data for Name: io_job; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.io_job (run_id, job, direction, "position", access, copies, file_bytes, sync_call, sync_every, operations, bytes, runtime_ms, mb_per_second, iops, latency_avg_ms, latency_stddev_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_min_ms, latency_max_ms, user_cpu_ms, system_cpu_ms, drift_ratio, stall_seconds, steady, fio_steady_state, fio_steady_seconds, fio_steady, fio_steady_percent) FROM stdin;
1	x	read	1	x	1	1	\N	\N	1	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: io_second; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.io_second (run_id, second, job, direction, operations, bytes) FROM stdin;
1	1	x	read	1	1
\.


--
-- Data for Name: maintenance; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.maintenance (run_id, step, "position", ms, bytes, wal_bytes) FROM stdin;
1	x	1	1	\N	1
\.


--
-- Data for Name: power_cut_commit; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.power_cut_commit (mark, number) FROM stdin;
x	1
\.


--
-- Data for Name: power_cut_error; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.power_cut_error (run_id, operation, errors, reported, message, acknowledged, lost, outcome, says, ms) FROM stdin;
1	flush	1	\N	\N	1	\N	passed	x	1
\.


--
-- Data for Name: power_cut_point; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.power_cut_point (run_id, part, number, entry, unflushed, tear, acknowledged, lost, holes, outcome, problem, pages_checked, relations_checked, ms) FROM stdin;
1	commits	1	1	1	\N	1	\N	\N	passed	\N	t	\N	1
\.


--
-- Data for Name: power_cut_result; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.power_cut_result (run_id, part, control, cuts, failed, lost, holes, torn, corrupt, unbootable, first_failed, loss_below, outcome, says) FROM stdin;
1	commits	t	1	1	1	1	1	1	1	\N	\N	passed	x
\.


--
-- Data for Name: power_cut_watch; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.power_cut_watch (watch_id, target, mark, started_at, server_started_at, acknowledged, acknowledged_at, ended_at, ended_by, verified_at, found, missing, first_missing, says, removed_at) FROM stdin;
1	x	x	2026-11-29 21:16:37.532396+00	2026-11-29 21:16:37.532396+00	1	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: probe; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.probe (run_id, number, purpose, rate, kept, latency_ms, latency_max_ms, tps, scheduled, misses, skipped, late, failed, started_at, seconds, cycle_scheduled, cycle_misses) FROM stdin;
1	1	free	\N	\N	\N	\N	\N	1	1	1	1	1	2026-11-29 21:16:37.532396+00	1	{}	{}
\.


--
-- Data for Name: recovery; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.recovery (run_id, stopped_after_ms, stop_ms, unmounted, unmount_ms, mount_ms, cache_cold, recovery_ms, redo_ms, first_transaction_ms, redo_start_lsn, redo_done_lsn, redo_end_lsn, wal_replayed_bytes, transactions_committed, transactions_found, balances_verified, problem, server_log) FROM stdin;
1	\N	\N	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: run_instance; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.run_instance (run_id, instance, began_after_ms, measured_ms, transactions, tps, share, latency_avg_ms, latency_p50_ms, latency_p95_ms, latency_p99_ms, latency_max_ms, commit_p99_ms, stall_seconds, wal_bytes, complete_checkpoints, findings) FROM stdin;
1	1	1	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	{}
\.


--
-- Data for Name: sample; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.sample (run_id, second, interval_ms, transactions, skipped, late, failed, latency_avg_ms, latency_p50_ms, latency_p95_ms, latency_max_ms, latency_p99_ms, commit_p99_ms, wal_bytes, wal_flushed_bytes, client_wal_bytes, client_wal_records, client_wal_fpi, client_wal_writes, client_wal_syncs, client_wal_write_ms, client_wal_sync_ms, client_blocks_hit, client_blocks_read, client_blocks_dirtied, client_blocks_written, client_block_read_ms, client_block_write_ms, device_reads, device_writes, device_flushes, device_read_bytes, device_write_bytes, device_r_await_ms, device_w_await_ms, device_f_await_ms, device_aqu_sz, device_util_percent, wal_device_writes, wal_device_flushes, wal_device_write_bytes, wal_device_w_await_ms, wal_device_f_await_ms, wal_device_util_percent, cpu_usr_percent, cpu_nice_percent, cpu_sys_percent, cpu_iowait_percent, cpu_irq_percent, cpu_soft_percent, cpu_steal_percent, cpu_idle_percent, client_cpu_ms, checkpointer_cpu_ms, walwriter_cpu_ms, bgwriter_cpu_ms, memory_free_bytes, memory_available_bytes, cached_bytes, dirty_bytes, writeback_bytes, pgpgin_bytes, pgpgout_bytes, pswpin_pages, pswpout_pages, pgmajfault, pressure_cpu_some_percent, pressure_memory_some_percent, pressure_memory_full_percent, pressure_io_some_percent, pressure_io_full_percent, io_read_bytes, io_write_bytes, io_extend_bytes) FROM stdin;
1	0	17.503069	50	0	0	0	0.188416	0.087039	0.548863	1.594594	1.589247	0.243696	754664	792600	751643	349	96	51	0	\N	\N	1179	98	109	2	\N	\N	0	0	0	0	0	\N	\N	\N	0	0	\N	\N	\N	\N	\N	\N	33.333	0	66.667	0	0	0	0	0	9.484	0	0	0	2.1270815e+10	2.34445e+10	2.8271124e+09	1.150976e+06	0	0	0	0	0	0	40.004	0	0	0.091	0	\N	\N	\N
2	0	247.28467	200	0	0	0	0.342209	0.315391	0.581631	1.590858	0.958463	0.048639	2652648	2652648	2641860	1390	328	201	0	\N	\N	4495	327	346	25	\N	\N	0	0	0	0	0	\N	\N	\N	0	0	\N	\N	\N	\N	\N	\N	52.174	0	10.87	0	0	0	0	36.957	45.439	0	0	0	2.1268951e+10	2.3443018e+10	2.8406784e+09	3.170304e+06	0	0	0	0	0	0	18.898	0	0	0.037	0	\N	\N	\N
3	0	158.61661	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0	1464	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0	1070	527	0	5.419008e+06	\N	0.055	0.049	0.542	42.871	\N	\N	\N	\N	\N	\N	55.172	0	17.241	6.897	0	0	0	20.69	30	0	0	0	2.1278495e+10	2.3444312e+10	2.8345508e+09	536576	16384	0	5.419008e+06	0	0	0	36.351	0	0	15.324	9.304	\N	\N	\N
\.


--
-- Data for Name: scan; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.scan (run_id, scan, degree, repeat, started_at, workers_planned, workers_launched, used, why_not, ms, planning_ms, rows, bytes, gb_per_second, rows_per_second, buffers_hit, buffers_read, io_ms, worker_buffers, leader_buffers, skew, cached_bytes, process_read_bytes, others_read_bytes, device_read_bytes, page_cache_bytes, extents, wait_events, plan) FROM stdin;
1	1	1	1	2026-11-29 21:16:37.532396+00	1	1	t	\N	1	1	1	1	\N	\N	1	1	\N	{}	1	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: scan_read; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.scan_read (run_id, readers, block_bytes, bytes, ms, gb_per_second, cached_bytes, device_read_bytes) FROM stdin;
1	1	1	1	1	\N	\N	\N
\.


--
-- Data for Name: script; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.script (sha256, document) FROM stdin;
x	{"scripts": []}
\.


--
-- Data for Name: statement; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.statement (run_id, queryid, toplevel, query, calls, total_exec_ms, mean_exec_ms, min_exec_ms, max_exec_ms, stddev_exec_ms, rows, shared_blks_hit, shared_blks_read, shared_blks_dirtied, shared_blks_written, local_blks_hit, local_blks_read, local_blks_dirtied, local_blks_written, temp_blks_read, temp_blks_written, blk_read_ms, blk_write_ms, temp_blk_read_ms, temp_blk_write_ms, wal_records, wal_fpi, wal_bytes, wal_buffers_full) FROM stdin;
1	1	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: statistic; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.statistic (run_id, view, object, counter, value) FROM stdin;
1	pg_stat_wal		wal_buffers_full	0
1	pg_stat_wal		wal_bytes	751643
1	pg_stat_wal		wal_fpi	96
1	pg_stat_wal		wal_records	349
1	pg_stat_wal		wal_sync	0
1	pg_stat_wal		wal_sync_time	\N
1	pg_stat_wal		wal_write	53
1	pg_stat_wal		wal_write_time	\N
1	pg_stat_bgwriter		buffers_alloc	0
1	pg_stat_bgwriter		buffers_backend	0
1	pg_stat_bgwriter		buffers_backend_fsync	0
1	pg_stat_bgwriter		buffers_checkpoint	0
1	pg_stat_bgwriter		buffers_clean	0
1	pg_stat_bgwriter		checkpoint_sync_time	0
1	pg_stat_bgwriter		checkpoint_write_time	0
1	pg_stat_bgwriter		checkpoints_req	0
1	pg_stat_bgwriter		checkpoints_timed	0
1	pg_stat_bgwriter		maxwritten_clean	0
1	pg_stat_database		active_time	0
1	pg_stat_database		blk_read_time	\N
1	pg_stat_database		blk_write_time	\N
1	pg_stat_database		blks_hit	1176
1	pg_stat_database		blks_read	100
1	pg_stat_database		conflicts	0
1	pg_stat_database		deadlocks	0
1	pg_stat_database		idle_in_transaction_time	0
1	pg_stat_database		session_time	0
1	pg_stat_database		sessions	0
1	pg_stat_database		sessions_abandoned	0
1	pg_stat_database		sessions_fatal	0
1	pg_stat_database		sessions_killed	0
1	pg_stat_database		temp_bytes	0
1	pg_stat_database		temp_files	0
1	pg_stat_database		tup_deleted	0
1	pg_stat_database		tup_fetched	241
1	pg_stat_database		tup_inserted	50
1	pg_stat_database		tup_returned	290
1	pg_stat_database		tup_updated	150
1	pg_stat_database		xact_commit	50
1	pg_stat_database		xact_rollback	0
2	pg_stat_wal		wal_buffers_full	0
2	pg_stat_wal		wal_bytes	2641860
2	pg_stat_wal		wal_fpi	328
2	pg_stat_wal		wal_records	1390
2	pg_stat_wal		wal_sync	0
2	pg_stat_wal		wal_sync_time	\N
2	pg_stat_wal		wal_write	201
2	pg_stat_wal		wal_write_time	\N
2	pg_stat_bgwriter		buffers_alloc	237
2	pg_stat_bgwriter		buffers_backend	0
2	pg_stat_bgwriter		buffers_backend_fsync	0
2	pg_stat_bgwriter		buffers_checkpoint	0
2	pg_stat_bgwriter		buffers_clean	0
2	pg_stat_bgwriter		checkpoint_sync_time	0
2	pg_stat_bgwriter		checkpoint_write_time	0
2	pg_stat_bgwriter		checkpoints_req	0
2	pg_stat_bgwriter		checkpoints_timed	0
2	pg_stat_bgwriter		maxwritten_clean	0
2	pg_stat_database		active_time	0
2	pg_stat_database		blk_read_time	\N
2	pg_stat_database		blk_write_time	\N
2	pg_stat_database		blks_hit	4489
2	pg_stat_database		blks_read	352
2	pg_stat_database		conflicts	0
2	pg_stat_database		deadlocks	0
2	pg_stat_database		idle_in_transaction_time	0
2	pg_stat_database		session_time	0
2	pg_stat_database		sessions	0
2	pg_stat_database		sessions_abandoned	0
2	pg_stat_database		sessions_fatal	0
2	pg_stat_database		sessions_killed	0
2	pg_stat_database		temp_bytes	0
2	pg_stat_database		temp_files	0
2	pg_stat_database		tup_deleted	0
2	pg_stat_database		tup_fetched	882
2	pg_stat_database		tup_inserted	200
2	pg_stat_database		tup_returned	1069
2	pg_stat_database		tup_updated	600
2	pg_stat_database		xact_commit	200
2	pg_stat_database		xact_rollback	0
\.


--
-- Data for Name: study; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.study (study, definition, asked, facts, requested_by, created_at) FROM stdin;
own	{"part": "all", "year": 2026, "study": "own", "title": "t", "author": "a", "claims": [{"says": "s", "seen": "s", "claim": "c", "needs": [], "not_tested": "w"}], "source": "s", "machine": "m", "remarks": [], "variants": [{"target": "there", "variant": "a"}, {"target": "there-too", "variant": "b"}], "published": [], "questions": [{"asks": "a", "full": {"scale": 1, "max_blocks": 3, "transactions": 10}, "part": "p", "needs": [], "quick": {"scale": 1, "max_blocks": 3, "transactions": 10}, "margin": 0.05, "metric": "tps", "clients": 1, "baseline": "a", "question": "q", "variants": ["a", "b"], "workload": "tpcb", "is_published": false}]}	{"quick": false, "start": false, "study": "own", "neighbours": "unexpected"}	{"enums": {}, "kernel": "6.18.44-fc-v657", "missing": {"jfs": {"why": "jfs cannot be made here (kernel: no; /usr/sbin/mkfs.jfs; package jfsutils)", "brings": "use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it; or make lab FS=jfs"}, "zfs": {"why": "zfs cannot be made here (kernel: no; zpool is missing; package zfsutils-linux)", "brings": "run apt-get install zfs-dkms zfsutils-linux, with the component contrib of Debian; or make lab FS=zfs"}, "f2fs": {"why": "f2fs cannot be made here (kernel: no; /usr/sbin/mkfs.f2fs; package f2fs-tools)", "brings": "use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it; or make lab FS=f2fs"}, "nilfs2": {"why": "nilfs2 cannot be made here (kernel: no; /usr/sbin/mkfs.nilfs2; package nilfs-tools)", "brings": "use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it; or make lab FS=nilfs2"}, "reiserfs": {"why": "reiserfs cannot be made here (kernel: no; /usr/sbin/mkfs.reiserfs; package reiserfsprogs)", "brings": "use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it; or make lab FS=reiserfs"}}, "on_images": {}, "processors": 2, "not_allowed": [], "without_fio": null, "memory_bytes": 25276510208, "max_wal_bytes": 1073741824, "reserved_bytes": 536870912, "without_driver": {}, "server_version_num": 150020}	postgres	2026-11-29 21:16:37.526627+00
\.


--
-- Data for Name: study_definition; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.study_definition (study, definition, defined_by, defined_at) FROM stdin;
own	{"part": "all", "year": 2026, "study": "own", "title": "t", "author": "a", "claims": [{"says": "s", "seen": "s", "claim": "c", "needs": [], "not_tested": "w"}], "source": "s", "machine": "m", "remarks": [], "variants": [{"target": "there", "variant": "a"}, {"target": "there-too", "variant": "b"}], "published": [], "questions": [{"asks": "a", "full": {"scale": 1, "max_blocks": 3, "transactions": 10}, "part": "p", "needs": [], "quick": {"scale": 1, "max_blocks": 3, "transactions": 10}, "margin": 0.05, "metric": "tps", "clients": 1, "baseline": "a", "question": "q", "variants": ["a", "b"], "workload": "tpcb", "is_published": false}]}	postgres	2026-11-29 21:16:37.503019+00
\.


--
-- Data for Name: study_experiment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.study_experiment (study, question, experiment_id) FROM stdin;
own	q	2
\.


--
-- Data for Name: target; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.target (target, kind, filesystem, device, device_identity, image_size_bytes, image_sparse, log_device, log_size_bytes, directory, mount_point, connection, mkfs_options, mount_options, pool_properties, dataset_properties, ssd_state, block_settings, kernel_settings, drop_caches, settings, bindir, data_checksums, power_loss_protected, log_device_identity, created_by, created_at, devices, image_count, layout, layout_options, initial_sync, log_devices) FROM stdin;
made	image	xfs	\N	\N	1073741824	\N	\N	\N	\N	\N	\N	\N	noatime	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	postgres	2026-11-29 21:16:37.452498+00	\N	\N	\N	\N	\N	\N
there	directory	\N	\N	\N	\N	\N	\N	\N	/tmp	/	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"wal_compression": "on"}	\N	\N	\N	\N	postgres	2026-11-29 21:16:37.45704+00	\N	\N	\N	\N	\N	\N
there-too	directory	\N	\N	\N	\N	\N	\N	\N	/tmp	/	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	postgres	2026-11-29 21:16:37.461551+00	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: study_target; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.study_target (study, variant, target_name) FROM stdin;
own	a	there
\.


--
-- Data for Name: tpcc_client; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.tpcc_client (run_id, client, new_orders, orders, wrong_orders, lines, remote_lines, payments, remote_payments, payments_by_name, c_last_name, c_customer, c_item) FROM stdin;
1	1	1	1	1	1	1	1	1	1	1	1	1
\.


--
-- Data for Name: transaction_failure; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.transaction_failure (run_id, "position", sqlstate, transactions, retries) FROM stdin;
1	1	x	1	1
\.


--
-- Data for Name: transaction_result; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.transaction_result (run_id, "position", transaction, weight, tps, committed, rolled_back, failed, retried, retries, limit_ms, late, latency_avg_ms, latency_stddev_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_max_ms) FROM stdin;
1	1	x	1	\N	1	\N	1	1	1	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: verification; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.verification (run_id, "position", name, moment, expected, found, passed, note) FROM stdin;
1	1	history_rows	window	50	50	t	\N
1	2	sum_of_accounts	window	-16223	-16223	t	\N
1	3	sum_of_tellers	window	-16223	-16223	t	\N
1	4	sum_of_branches	window	-16223	-16223	t	\N
2	1	history_rows	window	200	200	t	\N
2	2	sum_of_accounts	window	54828	54828	t	\N
2	3	sum_of_tellers	window	54828	54828	t	\N
2	4	sum_of_branches	window	54828	54828	t	\N
\.


--
-- Data for Name: wait_event; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.wait_event (run_id, second, wait_event_type, wait_event, samples) FROM stdin;
1	0	CPU	CPU	1
2	0	CPU	CPU	4
2	0	Extension	Extension	40
3	0	IO	WALSync	5
3	0	IO	WALWrite	7
\.


--
-- Name: experiment_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.experiment_id_seq', 2, true);


--
-- Name: experiment_log_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.experiment_log_id_seq', 2, true);


--
-- Name: helper_job_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.helper_job_id_seq', 1, true);


--
-- Name: import_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.import_id_seq', 1, true);


--
-- Name: run_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.run_id_seq', 3, true);


--
-- Name: watch_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.watch_id_seq', 1, false);


--
-- PostgreSQL database dump complete
--

\unrestrict f1Mvf1aY2jYxkzZ7sJxk28ukiDejeaAaUenqoHFj1XklJJEdj8fdceaelLmRvXz

