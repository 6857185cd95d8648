--
-- PostgreSQL database dump
--

\restrict pe457nKahwAeT9aUyIcR6MVcNCLZBSdBtCevOieCDXgxIk4ex9gLKCEvWE85PpF

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

COPY fsbench.run_log (run_id, status, target, workload, scale, clients, duration, transactions, warmup, rate, latency_limit_ms, seed, label, forced, asked, used, requested_by, requested_at, started_at, measured_from, ended_at, phases, steps, error_code, error, error_detail, error_hint, work_database, work_database_oid, work_mark, kept, load_ms, data_bytes, measured_ms, transactions_total, transactions_outside, skipped, late, failed, tps, latency_avg_ms, latency_stddev_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_max_ms, commit_avg_ms, commit_p50_ms, commit_p99_ms, commit_max_ms, stall_seconds, zero_seconds, xids_used, wal_bytes, complete_checkpoints, balances, facts, client_wal_records, client_wal_fpi, client_wal_bytes, client_wal_writes, client_wal_syncs, client_wal_write_ms, client_wal_sync_ms, client_blocks_hit, client_blocks_read, client_blocks_dirtied, client_blocks_written, client_block_read_ms, client_block_write_ms, client_cpu_seconds, cpu_seconds, cpu_ms_per_transaction, device_read_bytes, device_write_bytes, device_flushes, device_bytes_per_transaction, flushes_per_transaction, changed_bytes, server_write_bytes, io_read_bytes, io_write_bytes, io_extend_bytes, io_wal_write_bytes, server_write_amplification, filesystem_write_amplification, write_amplification, wal_start_lsn, wal_end_lsn, target_definition, target_version, checkpoints_timed, checkpoints_requested, checkpoints_logged, track_io_timing, track_wal_io_timing, clock_read_ns, sustainable_rate, sustainable_rate_low, sustainable_rate_high, sustainable_rate_estimate, sustainable_rate_says) FROM stdin;
1	done	default	tpcb	1	1	\N	50	00:00:00	\N	\N	1	\N	f	{"keep": false, "rate": null, "seed": 1, "size": null, "force": false, "label": null, "scale": 1, "target": "default", "clients": 1, "options": null, "settings": null, "workload": "tpcb", "warmup_us": null, "duration_us": null, "transactions": 50, "latency_limit_ms": null}	{"keep": false, "rate": null, "seed": 1, "bound": {"transactions": 50}, "force": false, "label": null, "scale": 1, "stage": "whole", "chosen": ["warmup"], "target": "default", "clients": 1, "options": {"sample": true, "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "tpcb", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": null}	postgres	2026-11-23 01:43:26.311768+00	2026-11-23 01:43:26.311768+00	2026-11-23 01:43:27.85998+00	2026-11-23 01:43:28.104338+00	[{"ms": 484.810489, "phase": "provision", "started_ms": 31.341155}, {"ms": 116.571565, "phase": "load", "started_ms": 516.151684}, {"ms": 253.045835, "phase": "vacuum", "started_ms": 632.723279}, {"ms": 683.132804, "phase": "checkpoint", "started_ms": 885.769154}, {"ms": 172.843294, "phase": "measure", "started_ms": 1568.901998}, {"ms": 60.1883, "phase": "verify", "started_ms": 1741.745322}, {"ms": 39.04813, "phase": "collect", "started_ms": 1801.933642}, {"ms": 874.333788, "phase": "cleanup", "started_ms": 1840.981812}]	[{"who": "server", "action": "make the work database", "started_ms": 31.339452}, {"who": "server", "action": "load", "started_ms": 516.148098}, {"who": "server", "action": "vacuum", "started_ms": 632.715998}, {"who": "server", "action": "checkpoint", "started_ms": 885.762905}, {"who": "server", "action": "launch", "started_ms": 1332.960204}, {"who": "server", "action": "measure", "started_ms": 1537.828853}, {"who": "server", "action": "verify", "started_ms": 1741.742908}, {"who": "server", "action": "store", "started_ms": 1801.931188}, {"who": "server", "action": "drop the work database", "started_ms": 1841.006088}]	\N	\N	\N	\N	fsbench_work_1	17018	bb7a3d2b0a87f0f2099210ffd87e6a42	f	369.61740000000003	23575911	12.306234	50	0	0	0	0	4062.9814125101148	0.066916	0.16563372260949763	0.0424955	0.0537595	0.0629755	1.224126	\N	1.224126	0.006005819999999999	0.0032315	0.0588795	0.059228	\N	\N	59	754648	0	{"history": -16223, "tellers": -16223, "accounts": -16223, "branches": -16223, "fingerprint": "8618483596656827735", "history_rows": 50}	{"rate": null, "scan": {"cache": null, "scans": null, "readers": null, "gb_per_second": null, "read_gb_per_second": null, "degrees_not_launched": null}, "crash": {"found": null, "problem": null, "verified": null, "committed": null, "durability": null}, "flush": {"after_us": 3966.0355, "before_us": 5271.246999999999, "quiet_after": true}, "fsync": false, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": 0, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": 0, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2596.122, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.5, "mhz_at_end": 2596.122, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 17051648, "dirty_bytes_limit": null, "dirty_peak_limit_bytes": 3346075648}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "lazy_init": false, "on_device": null, "ssd_state": null, "filesystem": null, "free_bytes": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "mkfs_command": null, "mount_options": null, "resync_at_end": false, "discard_max_bytes": null, "free_bytes_at_end": 46025973760, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "workload": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "service_ms": null, "statements": "not_loaded", "checkpoints": null, "reset_views": [], "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	349	96	751643	51	0	\N	\N	1227	50	109	2	\N	\N	0	0	0	0	0	0	0	0	1800	771032	\N	\N	\N	\N	428.3511111111111	0	0	0/2BD37A8	0/2C8BB80	{"kind": "default"}	1	0	0	t	f	f	22.312343828085957	\N	\N	\N	\N	\N
2	done	default	tpcb	1	2	\N	100	00:00:00	1000	50	695296924	näme	f	{"keep": false, "rate": 1000.0, "seed": null, "size": null, "force": false, "label": "näme", "scale": 1, "target": "default", "clients": 2, "options": null, "settings": null, "workload": "tpcb", "warmup_us": null, "duration_us": null, "transactions": 100, "latency_limit_ms": 50.0}	{"keep": false, "rate": 1000.0, "seed": 695296924, "bound": {"transactions": 100}, "force": false, "label": "näme", "scale": 1, "stage": "whole", "chosen": ["warmup", "seed"], "target": "default", "clients": 2, "options": {"sample": true, "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "tpcb", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": 50.0}	postgres	2026-11-23 01:43:29.066772+00	2026-11-23 01:43:29.066772+00	2026-11-23 01:43:29.731636+00	2026-11-23 01:43:30.202039+00	[{"ms": 80.132586, "phase": "provision", "started_ms": 25.201779}, {"ms": 95.922097, "phase": "load", "started_ms": 105.334395}, {"ms": 173.593793, "phase": "vacuum", "started_ms": 201.256522}, {"ms": 311.981127, "phase": "checkpoint", "started_ms": 374.850355}, {"ms": 404.645113, "phase": "measure", "started_ms": 686.831512}, {"ms": 45.22989, "phase": "verify", "started_ms": 1091.476665}, {"ms": 50.920158, "phase": "collect", "started_ms": 1136.706585}, {"ms": 643.575845, "phase": "cleanup", "started_ms": 1187.626783}]	[{"who": "server", "action": "make the work database", "started_ms": 25.199465}, {"who": "server", "action": "load", "started_ms": 105.33076}, {"who": "server", "action": "vacuum", "started_ms": 201.252336}, {"who": "server", "action": "checkpoint", "started_ms": 374.844537}, {"who": "server", "action": "launch", "started_ms": 482.081399}, {"who": "server", "action": "measure", "started_ms": 659.717221}, {"who": "server", "action": "verify", "started_ms": 1091.473651}, {"who": "server", "action": "store", "started_ms": 1136.704202}, {"who": "server", "action": "drop the work database", "started_ms": 1187.641825}]	\N	\N	\N	\N	fsbench_work_2	17042	af03e767edfc688aa40b483ced137211	f	269.51589	23575911	209.11997	200	0	0	0	0	956.3888135599867	0.44966495500000003	0.5785832935804517	0.2068475	1.1632635	1.7530875	2.7197435	\N	3.611743	0.012613405000000001	0.0116475	0.0314875	0.048392	\N	\N	209	2760568	0	{"history": 82076, "tellers": 82076, "accounts": 82076, "branches": 82076, "fingerprint": "-112573478023310808080", "history_rows": 200}	{"rate": null, "scan": {"cache": null, "scans": null, "readers": null, "gb_per_second": null, "read_gb_per_second": null, "degrees_not_launched": null}, "crash": {"found": null, "problem": null, "verified": null, "committed": null, "durability": null}, "flush": {"after_us": 4343.1425, "before_us": 4788.853, "quiet_after": true}, "fsync": false, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": 0, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": 0, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2596.122, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.8958333333333334, "mhz_at_end": 2596.122, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 5971968, "dirty_bytes_limit": null, "dirty_peak_limit_bytes": 3320856576}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "lazy_init": false, "on_device": null, "ssd_state": null, "filesystem": null, "free_bytes": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "mkfs_command": null, "mount_options": null, "resync_at_end": false, "discard_max_bytes": null, "free_bytes_at_end": 46017998848, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "workload": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "service_ms": null, "statements": "not_loaded", "checkpoints": null, "reset_views": [], "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	1393	342	2749447	200	0	\N	\N	4662	155	360	7	\N	\N	0.03026792	0.03026792	0.1513396	1073152	0	0	0	0	7200	2817912	\N	\N	\N	\N	391.37666666666667	0	0	0/3D25A48	0/3FC79C0	{"kind": "default"}	1	0	0	t	f	f	25.219890054972513	\N	\N	\N	\N	\N
3	done	default	fsync	\N	1	00:00:00.1	\N	\N	\N	\N	2422536500	\N	f	{"keep": false, "rate": null, "seed": null, "size": null, "force": false, "label": null, "scale": null, "target": "default", "clients": null, "options": {"writers": [1]}, "settings": null, "workload": "fsync", "warmup_us": null, "duration_us": 100000, "transactions": null, "latency_limit_ms": null}	{"keep": false, "rate": null, "seed": 2422536500, "bound": {"duration_ms": 100}, "force": false, "label": null, "scale": 0, "stage": "whole", "chosen": ["seed", "methods"], "target": "default", "clients": 1, "options": {"sample": true, "methods": ["open_datasync", "fdatasync", "fsync", "open_sync", "none"], "writers": [1], "unlogged": false, "fillfactor": 100}, "settings": {}, "workload": "fsync", "warmup_ms": 0, "within_ms": null, "latency_limit_ms": null}	postgres	2026-11-23 01:43:30.902909+00	2026-11-23 01:43:30.902909+00	2026-11-23 01:43:31.322+00	2026-11-23 01:43:31.576139+00	[{"ms": 54.899712, "phase": "provision", "started_ms": 14.375702}, {"ms": 357.161352, "phase": "checkpoint", "started_ms": 69.275454}, {"ms": 250.892604, "phase": "measure", "started_ms": 426.436846}, {"ms": 51.234576, "phase": "collect", "started_ms": 677.32948}, {"ms": 28.706705, "phase": "cleanup", "started_ms": 728.564096}]	[{"who": "server", "action": "make the file", "started_ms": 14.373739}, {"who": "server", "action": "checkpoint", "started_ms": 69.272009}, {"who": "server", "action": "launch", "started_ms": 153.260467}, {"who": "server", "action": "measure", "started_ms": 415.151314}, {"who": "server", "action": "store", "started_ms": 677.323761}, {"who": "server", "action": "remove the file", "started_ms": 737.243872}]	\N	\N	\N	\N	\N	\N	\N	f	\N	\N	222.938521	\N	\N	\N	\N	\N	556.3829820528236	1.797323125	1.0467520406587987	1.4581755	3.4406395	3.4406395	3.4406395	\N	3.441833	\N	\N	\N	\N	\N	\N	0	0	0	\N	{"rate": null, "scan": {"cache": null, "scans": null, "readers": null, "gb_per_second": null, "read_gb_per_second": null, "degrees_not_launched": null}, "crash": {"found": null, "problem": null, "verified": null, "committed": null, "durability": null}, "flush": {"after_us": null, "before_us": null, "quiet_after": null}, "fsync": true, "quick": false, "scale": null, "waits": {"lock_share": null}, "failed": null, "server": {"slots": 0, "vacuums": null, "archiving": false, "restarted": false, "autovacuum": true, "walsenders": 0, "vacuum_seconds": 0, "statistics_reset": false, "dead_rows_at_start": null, "synchronous_standbys": false}, "clients": null, "machine": {"mhz": 2596.122, "cpu_idle": null, "governor": null, "cpu_steal": null, "throttled": null, "cpu_iowait": null, "cpu_others": 0.9130434782608695, "mhz_at_end": 2596.122, "cpu_clients": null, "cpu_sampler": 0.0, "clock_source": null, "device_others": null, "virtualization": null, "dirty_bytes_max": null, "memory_pressure": null, "dirty_peak_bytes": 16416768, "dirty_bytes_limit": null, "dirty_peak_limit_bytes": 3289866240}, "skipped": null, "storage": {"made": null, "cloned": null, "layers": null, "lazy_init": false, "on_device": null, "ssd_state": null, "filesystem": null, "free_bytes": null, "rotational": null, "size_bytes": null, "used_bytes": null, "compression": null, "files_bytes": null, "write_cache": null, "mkfs_command": null, "mount_options": null, "resync_at_end": false, "discard_max_bytes": null, "free_bytes_at_end": 45985218560, "stripe_unit_bytes": null, "used_bytes_at_end": null, "device_write_bytes": null, "files_bytes_at_end": null, "server_write_bytes": null, "power_loss_protected": null, "mount_options_not_shown": null, "properties_not_in_force": null}, "measured": null, "unlogged": null, "workload": null, "wal_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "data_bytes": null, "data_place": {"major": 254, "minor": 0, "source": "/dev/vda", "fs_type": "ext4", "mount_point": "/"}, "latency_ms": null, "service_ms": null, "statements": null, "checkpoints": null, "reset_views": null, "seconds_tps": null, "wal_storage": null, "memory_bytes": null, "xmin_holders": [], "log_checkpoints": true, "checkpoints_seen": {"timed": null, "requested": null, "distance_bytes": null}, "full_page_writes": true, "checkpoints_logged": null, "synchronous_commit": "on", "shared_buffers_bytes": null, "asking_server_shared_buffers_bytes": null}	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0.028028097	0.028028097	\N	1196032	565248	56	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0/3FD98E0	0/3FD98E0	{"kind": "default"}	1	0	0	t	\N	\N	22.377311344327836	\N	\N	\N	\N	\N
\.


--
-- Data for Name: acknowledgement; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.acknowledgement (run_id, metric, note, acknowledged_by, acknowledged_at) FROM stdin;
1	x	\N	x	2026-11-23 01:43:31.735754+00
\.


--
-- Data for Name: checkpoint; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.checkpoint (run_id, number, kind, cause, started_at, ended_at, start_second, end_second, started_before, ended_after, write_ms, sync_ms, total_ms, buffers_written, slru_written, sync_files, longest_sync_ms, average_sync_ms, aggregate_sync_ms, wal_files_added, wal_files_removed, wal_files_recycled, distance_bytes, estimate_bytes) FROM stdin;
1	1	x	\N	2026-11-23 01:43:31.735754+00	\N	1	\N	t	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: environment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.environment (run_id, pgfsbench_version, server_version, server_version_num, kernel, hostname, machine, virtualization, processors, processor_model, memory_bytes, shared_buffers_bytes, data_checksums, scope, durability, data_directory, filesystem, device, mount_point, mount_options, st_dev, filesystem_size_bytes, filesystem_free_bytes, wal_directory, wal_filesystem, wal_device, wal_mount_options, wal_st_dev, settings, write_cache, storage, wal_mount_point, block_size_bytes, mkfs_version, mkfs_command, geometry, device_model, rotational, fua, discard_granularity_bytes, discard_max_bytes, logical_sector_bytes, physical_sector_bytes, io_scheduler, nr_requests, queue_depth, read_ahead_kb, layers, wal_layers, kernel_command_line, vm, transparent_hugepage, cpu_governor, cpu_mhz_min, cpu_mhz_max, numa_nodes, container, clock_source, host_fingerprint, configuration_fingerprint, journal_mode) FROM stdin;
1	0.2.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v669 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	AMD EPYC	25276502016	134217728	f	data and WAL	not durable: fsync off	/tmp/pgfsbench-data.cOcaOl/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	46076260352	/tmp/pgfsbench-data.cOcaOl/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": "configuration file", "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "DateStyle": {"source": "configuration file", "setting": "ISO, MDY"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "search_path": {"source": "session", "setting": "pg_catalog, pg_temp"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "lock_timeout": {"source": "session", "setting": "0"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.F3pPMu"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "default_transaction_isolation": {"source": "session", "setting": "read committed"}, "default_transaction_read_only": {"source": "session", "setting": "off"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 rcupdate.rcu_cpu_stall_cputime=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 2900, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2596.122	2596.122	1	docker	tsc	63d5d5f73e3e4bbc	ac9594211a33eaf1	none
2	0.2.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v669 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	AMD EPYC	25276502016	134217728	f	data and WAL	not durable: fsync off	/tmp/pgfsbench-data.cOcaOl/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	46045179904	/tmp/pgfsbench-data.cOcaOl/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": "configuration file", "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "DateStyle": {"source": "configuration file", "setting": "ISO, MDY"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "search_path": {"source": "session", "setting": "pg_catalog, pg_temp"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "lock_timeout": {"source": "session", "setting": "0"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.F3pPMu"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "default_transaction_isolation": {"source": "session", "setting": "read committed"}, "default_transaction_read_only": {"source": "session", "setting": "off"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 rcupdate.rcu_cpu_stall_cputime=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 2900, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2596.122	2596.122	1	docker	tsc	63d5d5f73e3e4bbc	ac9594211a33eaf1	none
3	0.2.0	PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit	150020	Linux 6.18.44-fc-v669 #1 SMP PREEMPT_DYNAMIC @0	vm	x86_64	kvm	2	AMD EPYC	25276502016	134217728	f	data and WAL	durable where a test syncs, whatever the server's settings	/tmp/pgfsbench-data.cOcaOl/data	ext4	/dev/vda	/	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	270553174016	46019067904	/tmp/pgfsbench-data.cOcaOl/data/pg_wal	ext4	/dev/vda	rw,relatime,discard,resv_strict,resuid=65534,resgid=65534	254:0	{"port": {"source": "configuration file", "setting": "65432"}, "fsync": {"source": "configuration file", "setting": "off"}, "lc_time": {"source": "configuration file", "setting": "C.UTF-8"}, "TimeZone": {"source": "configuration file", "setting": "Etc/UTC"}, "lc_ctype": {"source": "default", "setting": "C.UTF-8"}, "DateStyle": {"source": "configuration file", "setting": "ISO, MDY"}, "huge_pages": {"source": "default", "setting": "try"}, "lc_collate": {"source": "default", "setting": "C.UTF-8"}, "lc_numeric": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_messages": {"source": "configuration file", "setting": "C.UTF-8"}, "lc_monetary": {"source": "configuration file", "setting": "C.UTF-8"}, "search_path": {"source": "session", "setting": "pg_catalog, pg_temp"}, "wal_buffers": {"source": "default", "setting": "4MB"}, "lock_timeout": {"source": "session", "setting": "0"}, "log_timezone": {"source": "configuration file", "setting": "Etc/UTC"}, "max_wal_size": {"source": "configuration file", "setting": "1GB"}, "min_wal_size": {"source": "configuration file", "setting": "80MB"}, "log_file_mode": {"source": "default", "setting": "0600"}, "shared_buffers": {"source": "configuration file", "setting": "128MB"}, "archive_command": {"source": "default", "setting": "(not stored)"}, "client_encoding": {"source": "default", "setting": "UTF8"}, "max_connections": {"source": "configuration file", "setting": "100"}, "max_stack_depth": {"source": "default", "setting": "2MB"}, "server_encoding": {"source": "default", "setting": "UTF8"}, "listen_addresses": {"source": "configuration file", "setting": ""}, "external_pid_file": {"source": "default", "setting": ""}, "shared_memory_size": {"source": "default", "setting": "150MB"}, "data_directory_mode": {"source": "default", "setting": "0700"}, "max_worker_processes": {"source": "configuration file", "setting": "32"}, "timezone_abbreviations": {"source": "default", "setting": "Default"}, "unix_socket_directories": {"source": "configuration file", "setting": "/tmp/pgfsbench-socket.F3pPMu"}, "unix_socket_permissions": {"source": "default", "setting": "0777"}, "effective_io_concurrency": {"source": "default", "setting": "1"}, "shared_preload_libraries": {"source": "configuration file", "setting": "pgfsbench"}, "default_text_search_config": {"source": "configuration file", "setting": "pg_catalog.english"}, "dynamic_shared_memory_type": {"source": "configuration file", "setting": "posix"}, "default_transaction_isolation": {"source": "session", "setting": "read committed"}, "default_transaction_read_only": {"source": "session", "setting": "off"}, "shared_memory_size_in_huge_pages": {"source": "default", "setting": "75"}, "pgfsbench.prepared_data_directory": {"source": "default", "setting": "(not stored)"}}	write back	\N	/	4096	\N	\N	\N	\N	t	f	4096	1073741824	512	4096	mq-deadline	256	\N	8192	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	[{"kind": "disk", "name": "vda", "bytes": 274877906944, "depth": 0, "queue": {"fua": false, "zoned": "none", "nomerges": 0, "scheduler": "mq-deadline", "rotational": true, "nr_requests": 256, "queue_depth": null, "rq_affinity": 1, "write_cache": "write back", "wbt_lat_usec": 75000, "read_ahead_kb": 8192, "max_sectors_kb": 4096, "minimum_io_size": 4096, "optimal_io_size": 0, "discard_max_bytes": 1073741824, "logical_block_size": 512, "discard_granularity": 4096, "physical_block_size": 4096}, "device": "254:0"}]	mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet reboot=k panic=1 nomodule random.trust_cpu=1 swiotlb=noforce psi=1 nvproxy.enable=1 page_reporting.page_reporting_order=11 deferred_init=lazy nested_pvm=1 rcupdate.rcu_cpu_stall_cputime=1 cpuidle_haltpoll.force=1 haltpoll.guest_halt_poll_ns=0 sched_vcpu_pack=15 rdinit=/process_api	{"swappiness": 60, "dirty_bytes": 0, "dirty_ratio": 20, "laptop_mode": 0, "nr_hugepages": 0, "page-cluster": 3, "min_free_kbytes": 67584, "overcommit_ratio": 50, "overcommit_kbytes": 0, "overcommit_memory": 0, "zone_reclaim_mode": 0, "vfs_cache_pressure": 100, "dirty_background_bytes": 0, "dirty_background_ratio": 10, "dirty_expire_centisecs": 2900, "dirtytime_expire_seconds": 43200, "dirty_writeback_centisecs": 500}	madvise	\N	2596.122	2596.122	1	docker	tsc	63d5d5f73e3e4bbc	ac9594211a33eaf1	none
\.


--
-- Data for Name: experiment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment (experiment_id, experiment, status, status_reason, goal, baseline_number, control_number, metric, margin, max_blocks, looks, ended_by, run_order, seed, parameters, asked, run_seconds, cycle_seconds, window_seconds, max_seconds, too_short, burn_in, rate_share, probe_wait_seconds, probe_waited_seconds, forced, confirms, answer, requested_by, mark, created_at, started_at, ended_at) FROM stdin;
1	planned	recorded	\N	best	\N	\N	tps	0.05	12	[{"place": 3, "blocks": 3, "horizon": 12}, {"place": 4, "blocks": 4, "horizon": 12}, {"place": 6, "blocks": 6, "horizon": 12}, {"place": 8, "blocks": 8, "horizon": 12}, {"place": 12, "blocks": 12, "horizon": 12}]	\N	[[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 0], [0, 1]]	1784028146	{"keep": false, "force": false, "scale": 10, "clients": 8, "duration_us": 1000000}	{"run": {"keep": false, "rate": null, "seed": null, "size": null, "force": false, "label": null, "scale": null, "target": null, "clients": null, "options": null, "settings": null, "workload": null, "warmup_us": null, "duration_us": 1000000, "transactions": null, "latency_limit_ms": null}, "goal": null, "grid": false, "start": false, "device": null, "margin": 0.05, "metric": null, "control": false, "factors": null, "targets": ["there", "there-too"], "baseline": null, "cycle_us": null, "experiment": "planned", "image_size": null, "max_blocks": 12, "rate_share": null, "filesystems": null, "probe_wait_us": null, "max_duration_us": null}	8.045572266666667	300	1	\N	t	f	\N	\N	0	f	\N	\N	postgres	00000000786e53d9	2026-11-23 01:43:31.722715+00	\N	\N
\.


--
-- Data for Name: experiment_log; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_log (log_id, experiment_id, at, event, block, message, by) FROM stdin;
1	1	2026-11-23 01:43:31.724119+00	recorded	\N	\N	postgres
\.


--
-- Data for Name: experiment_target; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_target (experiment_id, target_number, target, target_name, own, set_aside) FROM stdin;
1	0	there	there	{}	\N
1	1	there-too	there-too	{}	\N
\.


--
-- Data for Name: experiment_run; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.experiment_run (experiment_id, block, "position", target_number, attempt, run_id, outcome, why, boot_id, versions, processor_probe, planned_at) FROM stdin;
1	1	1	1	1	1	\N	\N	\N	\N	\N	2026-11-23 01:43:31.735754+00
\.


--
-- Data for Name: finding; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.finding (run_id, code, severity, message, hint, weight) FROM stdin;
1	fsync_off	invalid	fsync is off	Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.	797
1	noisy_neighbour	warning	processes that are none of the server used 50.0 % of the processors' time	See what else runs on the machine, and run it again without.	698
1	data_fits_shared_buffers	warning	data of 22 MB fits in shared_buffers (shared_buffers 128 MB, RAM 24 GB)	Reads came from memory, not from storage: use a larger size, such as '2x ram', to measure reads.	398
1	no_complete_checkpoint	warning	no complete checkpoint in the measured window	Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.	300
1	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	194
1	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	193
1	statements_not_recorded	info	the statements of the workload were not recorded: pg_stat_statements is not loaded	Add pg_stat_statements to shared_preload_libraries, restart, and run CREATE EXTENSION pg_stat_statements in the database of pgfsbench; servers on targets get it then, too.	98
2	fsync_off	invalid	fsync is off	Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.	797
2	noisy_neighbour	warning	processes that are none of the server used 89.6 % of the processors' time	See what else runs on the machine, and run it again without.	698
2	behind_schedule	warning	transactions started 0.3 ms after they were due, and took 0.1 ms (means)	The rate is beyond what the clients can do here: lower it, or use more clients.	595
2	data_fits_shared_buffers	warning	data of 22 MB fits in shared_buffers (shared_buffers 128 MB, RAM 24 GB)	Reads came from memory, not from storage: use a larger size, such as '2x ram', to measure reads.	398
2	clients_exceed_branches	warning	2 clients share 1 branch	They wait for each other's row locks, not for storage: use a scale of at least 2.	396
2	no_complete_checkpoint	warning	no complete checkpoint in the measured window	Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.	300
2	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	194
2	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	193
2	statements_not_recorded	info	the statements of the workload were not recorded: pg_stat_statements is not loaded	Add pg_stat_statements to shared_preload_libraries, restart, and run CREATE EXTENSION pg_stat_statements in the database of pgfsbench; servers on targets get it then, too.	98
3	noisy_neighbour	warning	processes that are none of the server used 91.3 % of the processors' time	See what else runs on the machine, and run it again without.	698
3	discard_mount_option	info	the filesystem discards blocks while the run is on (mount option discard)	Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.	194
3	atime	info	reads change access times now and then (mount option relatime)	Mount it with noatime, unless that is what is tested.	193
\.


--
-- Data for Name: fsync; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.fsync (run_id, method, writes, writers, "position", block_bytes, direct, syncs, ops_per_second, latency_avg_ms, latency_p50_ms, latency_p90_ms, latency_p95_ms, latency_p99_ms, latency_p999_ms, latency_min_ms, latency_max_ms, buckets, counts) FROM stdin;
3	open_sync	2	1	1	8192	t	2	92.64397997796833	10.7940095	9.5682555	11.9275515	11.9275515	11.9275515	\N	9.537756	12.050263	{612,621}	{1,1}
3	open_sync	1	1	2	8192	t	3	242.49139539491057	4.123857666666667	3.0474235	6.8812795	6.8812795	6.8812795	\N	2.374241	6.922826	{548,558,596}	{1,1,1}
3	none	1	1	3	8192	f	9999	668517.843990841	0.0014958463846384638	0.0006315	0.0007915	0.0008555	0.0011675	\N	0.00062	4.340003	{166,167,168,169,171,172,173,174,175,176,177,178,179,180,181,182,183,184,185,186,187,188,189,190,191,192,193,194,195,196,197,198,199,200,201,202,203,204,205,206,207,208,209,214,215,226,238,247,248,250,260,266,282,283,328,527,546,577}	{697,5480,2004,4,1,5,106,293,164,193,117,272,97,35,45,28,53,32,24,33,19,27,19,13,19,31,32,14,26,19,13,10,8,8,8,11,6,4,3,3,4,1,2,2,1,1,1,1,1,1,1,1,1,1,1,1,1,1}
3	fdatasync	2	1	4	8192	f	6	480.4872140350315	2.081220833333333	1.0649595	4.489676	4.489676	4.489676	\N	0.351104	4.489676	{458,460,512,545,573,578}	{1,1,1,1,1,1}
3	open_datasync	1	1	5	8192	t	6	498.1260084457265	2.0075241666666668	1.0649595	5.3084155	5.3084155	5.3084155	\N	0.407037	5.327486	{465,501,512,540,548,584}	{1,1,1,1,1,1}
3	fsync	2	1	6	8192	f	6	484.65521022525564	2.0633225	0.7618555	8.1919995	8.1919995	8.1919995	\N	0.141882	8.242664	{418,463,494,507,537,606}	{1,1,1,1,1,1}
3	fdatasync	1	1	7	8192	f	8	556.3829820528236	1.797323125	1.4581755	3.4406395	3.4406395	3.4406395	\N	0.274669	3.441833	{449,487,512,524,546,557,564}	{1,1,1,1,2,1,1}
3	open_datasync	2	1	8	8192	t	3	203.54587774817466	4.9128973333333334	5.0462715	6.948714	6.948714	6.948714	\N	2.737633	6.948714	{553,582,597}	{1,1,1}
3	fsync	1	1	9	8192	f	4	210.55285653112588	4.74940125	2.9818875	8.038219	8.038219	8.038219	\N	2.374341	8.038219	{548,557,586,605}	{1,1,1,1}
\.


--
-- Data for Name: helper_job; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.helper_job (job_id, run_id, target, action, request, status, requested_at, server_started, asked_by, started_at, ended_at, helper_version, steps, result, error, error_detail, error_hint, ticket) FROM stdin;
1	1	made	release	{}	queued	2026-11-23 01:43:31.735336+00	2026-11-23 01:43:25.092621+00	1014	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: histogram; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, min_ms, max_ms, buckets, counts) FROM stdin;
1	tpcb	latency	50	3.3458	1.5956140560740002	0.022914	1.224126	{332,339,340,342,345,350,352,355,356,357,359,360,361,362,363,364,365,366,367,368,369,371,372,375,379,381,393,517}	{1,1,1,1,1,1,2,3,3,3,1,1,6,3,3,2,2,2,3,1,1,2,1,1,1,1,1,1}
1	tpcb	commit	50	0.300291	0.005410282137000001	0.002423	0.059228	{229,234,235,236,237,238,239,240,241,242,243,244,245,253,257,259,293,294,298,305,320,377}	{1,1,3,2,1,1,3,3,5,6,5,1,5,1,1,1,1,2,2,1,3,1}
2	tpcb	latency	200	89.932991	107.39143987311101	0.050538	3.611743	{369,392,403,405,406,408,409,410,411,412,415,416,417,418,419,420,421,422,423,424,425,426,427,428,429,430,431,432,433,434,435,436,437,438,439,440,441,442,443,444,445,446,447,448,452,455,456,458,460,467,470,471,472,474,476,477,480,482,484,488,491,492,493,496,497,503,504,510,511,513,514,515,516,518,519,520,523,524,525,533,535,544,547,552,553,557,567}	{1,1,1,2,1,2,1,1,1,1,2,4,1,5,5,4,2,7,2,4,3,9,3,8,6,6,4,6,5,3,5,5,3,5,3,1,3,2,4,1,1,4,1,3,2,1,1,1,2,1,1,1,1,1,2,1,1,3,1,1,1,1,1,2,3,1,1,1,1,1,1,3,1,1,2,2,1,1,1,1,2,2,2,1,1,1,1}
2	tpcb	commit	200	2.522681	0.042850833647	0.002353	0.048392	{228,232,233,234,235,236,238,242,243,244,245,246,247,248,249,250,251,253,254,255,257,258,259,262,263,265,266,267,268,269,270,271,272,275,276,278,279,280,281,282,283,285,288,289,291,292,293,294,295,296,298,299,300,301,303,304,305,306,307,308,309,310,311,312,314,315,316,318,319,320,321,322,323,324,325,326,327,328,329,331,332,333,334,337,340,341,342,345,348,349,353,367}	{2,1,2,1,2,1,1,3,1,1,1,1,2,2,1,1,2,1,1,1,2,2,1,2,2,1,1,2,2,1,2,1,1,1,3,1,2,3,1,1,2,3,2,5,1,1,2,2,2,3,3,6,3,5,4,2,2,3,3,2,6,4,1,4,2,5,1,4,3,5,4,3,4,4,1,1,4,4,2,1,4,3,1,3,1,2,1,1,2,1,1,1}
2	tpcb	service	200	23.333611	10.050597387426997	0.028213	2.594499	{343,351,352,356,357,358,360,361,362,363,365,367,368,369,370,371,372,373,376,377,378,379,380,381,382,384,385,386,387,388,389,390,391,392,393,395,396,397,398,399,400,401,402,403,404,405,406,407,408,409,410,411,412,413,414,416,417,418,419,420,421,422,423,424,426,427,428,429,430,431,436,440,509,551}	{1,1,1,1,1,1,1,1,2,3,1,1,3,4,4,1,2,2,5,1,2,2,3,1,4,3,4,4,5,1,5,5,5,2,4,1,4,3,5,2,4,6,2,3,2,3,3,4,4,4,1,4,8,1,6,3,6,3,5,3,1,3,2,3,2,1,1,1,1,3,1,2,1,1}
3	fsync	latency	8	14.378585	34.608482002265	0.274669	3.441833	{449,487,512,524,546,557,564}	{1,1,1,1,2,1,1}
\.


--
-- Data for Name: imported_file; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_file (import_id, host, hostname, host_fingerprints, format, pgfsbench_version, exported_at, sha256, imported_by, imported_at) FROM stdin;
1	elsewhere	\N	\N	1	\N	\N	x	postgres	2026-11-23 01:43:31.734133+00
\.


--
-- Data for Name: imported_experiment; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_experiment (experiment_id, import_id, sha256) FROM stdin;
1	1	x
\.


--
-- Data for Name: imported_run; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.imported_run (run_id, import_id, run_id_there, sha256) FROM stdin;
1	1	1	x
\.


--
-- Data for Name: maintenance; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.maintenance (run_id, step, "position", ms, bytes, wal_bytes) FROM stdin;
1	x	1	1	\N	1
\.


--
-- Data for Name: probe; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.probe (run_id, number, purpose, rate, kept, latency_ms, latency_max_ms, tps, scheduled, misses, skipped, late, failed, started_at, seconds, cycle_scheduled, cycle_misses) FROM stdin;
1	1	x	\N	\N	\N	\N	\N	1	1	1	1	1	2026-11-23 01:43:31.735754+00	1	{}	{}
\.


--
-- Data for Name: recovery; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.recovery (run_id, stopped_after_ms, stop_ms, unmounted, unmount_ms, mount_ms, cache_cold, recovery_ms, redo_ms, first_transaction_ms, redo_start_lsn, redo_done_lsn, redo_end_lsn, wal_replayed_bytes, transactions_committed, transactions_found, balances_verified, problem, server_log) FROM stdin;
1	\N	\N	t	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: sample; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.sample (run_id, second, interval_ms, transactions, skipped, late, failed, latency_avg_ms, latency_p50_ms, latency_p95_ms, latency_max_ms, latency_p99_ms, commit_p99_ms, wal_bytes, wal_flushed_bytes, client_wal_bytes, client_wal_records, client_wal_fpi, client_wal_writes, client_wal_syncs, client_wal_write_ms, client_wal_sync_ms, client_blocks_hit, client_blocks_read, client_blocks_dirtied, client_blocks_written, client_block_read_ms, client_block_write_ms, device_reads, device_writes, device_flushes, device_read_bytes, device_write_bytes, device_r_await_ms, device_w_await_ms, device_f_await_ms, device_aqu_sz, device_util_percent, wal_device_writes, wal_device_flushes, wal_device_write_bytes, wal_device_w_await_ms, wal_device_f_await_ms, wal_device_util_percent, cpu_usr_percent, cpu_nice_percent, cpu_sys_percent, cpu_iowait_percent, cpu_irq_percent, cpu_soft_percent, cpu_steal_percent, cpu_idle_percent, client_cpu_ms, checkpointer_cpu_ms, walwriter_cpu_ms, bgwriter_cpu_ms, memory_free_bytes, memory_available_bytes, cached_bytes, dirty_bytes, writeback_bytes, pgpgin_bytes, pgpgout_bytes, pswpin_pages, pswpout_pages, pgmajfault, pressure_cpu_some_percent, pressure_memory_some_percent, pressure_memory_full_percent, pressure_io_some_percent, pressure_io_full_percent, io_read_bytes, io_write_bytes, io_extend_bytes) FROM stdin;
1	0	25.16278	50	0	0	0	0.066916	0.042495	0.062975	1.224126	1.224126	0.058879	0	0	751643	349	96	51	0	\N	\N	1227	50	109	2	\N	\N	0	0	0	0	0	\N	\N	\N	0	0	\N	\N	\N	\N	\N	\N	50	50	0	0	0	0	0	0	0	0	0	0	1.8022744e+10	2.2415417e+10	4.739748e+09	2.1082112e+07	155648	0	0	0	0	0	30.708	0	0	0	0	\N	\N	\N
2	0	223.71802	200	0	0	0	0.449664	0.206847	1.753087	3.611743	2.719743	0.031487	2741032	2741032	2749447	1393	342	200	0	\N	\N	4662	155	360	7	\N	\N	118	0	0	1.073152e+06	0	1.432	\N	\N	0.755	1.788	\N	\N	\N	\N	\N	\N	9.091	70.455	20.455	0	0	0	0	0	30.268	0	0	0	1.7823371e+10	2.2228115e+10	4.765475e+09	2.5530368e+07	0	1.073152e+06	1.5577088e+07	0	0	1	95.527	0	0	2.552	0	\N	\N	\N
3	0	242.81595	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	0	0	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	161	126	56	1.196032e+06	565248	1.193	0.071	0.054	0.84	0	\N	\N	\N	\N	\N	\N	6.25	77.083	16.667	0	0	0	0	0	28.028	0	0	0	1.77307e+10	2.2040306e+10	4.7212257e+09	1.6891904e+07	0	774144	1.769472e+06	0	0	6	94.626	0	0	19.041	0	\N	\N	\N
\.


--
-- Data for Name: scan; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.scan (run_id, scan, degree, repeat, started_at, workers_planned, workers_launched, used, why_not, ms, planning_ms, rows, bytes, gb_per_second, rows_per_second, buffers_hit, buffers_read, io_ms, worker_buffers, leader_buffers, skew, cached_bytes, process_read_bytes, others_read_bytes, device_read_bytes, page_cache_bytes, wait_events, plan) FROM stdin;
1	1	1	1	2026-11-23 01:43:31.735754+00	1	1	t	\N	1	1	1	1	\N	\N	1	1	\N	{}	1	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: scan_read; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.scan_read (run_id, readers, block_bytes, bytes, ms, gb_per_second, cached_bytes, device_read_bytes) FROM stdin;
1	1	1	1	1	\N	\N	\N
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
1	pg_stat_wal		wal_write	52
1	pg_stat_wal		wal_write_time	\N
1	pg_stat_bgwriter		buffers_alloc	52
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
1	pg_stat_database		blks_hit	1224
1	pg_stat_database		blks_read	52
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
2	pg_stat_wal		wal_bytes	2749447
2	pg_stat_wal		wal_fpi	342
2	pg_stat_wal		wal_records	1393
2	pg_stat_wal		wal_sync	0
2	pg_stat_wal		wal_sync_time	\N
2	pg_stat_wal		wal_write	200
2	pg_stat_wal		wal_write_time	\N
2	pg_stat_bgwriter		buffers_alloc	162
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
2	pg_stat_database		blks_hit	4656
2	pg_stat_database		blks_read	162
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
2	pg_stat_database		tup_returned	1074
2	pg_stat_database		tup_updated	600
2	pg_stat_database		xact_commit	200
2	pg_stat_database		xact_rollback	0
\.


--
-- Data for Name: target; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.target (target, kind, filesystem, device, device_identity, image_size_bytes, image_sparse, log_device, log_size_bytes, directory, mount_point, connection, mkfs_options, mount_options, pool_properties, dataset_properties, ssd_state, block_settings, kernel_settings, drop_caches, settings, bindir, data_checksums, power_loss_protected, log_device_identity, created_by, created_at) FROM stdin;
made	image	xfs	\N	\N	1073741824	\N	\N	\N	\N	\N	\N	\N	noatime	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	postgres	2026-11-23 01:43:31.655887+00
there	directory	\N	\N	\N	\N	\N	\N	\N	/tmp	/	\N	\N	\N	\N	\N	\N	\N	\N	\N	{"wal_compression": "on"}	\N	\N	\N	\N	postgres	2026-11-23 01:43:31.666886+00
there-too	directory	\N	\N	\N	\N	\N	\N	\N	/tmp	/	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	postgres	2026-11-23 01:43:31.674797+00
\.


--
-- Data for Name: wait_event; Type: TABLE DATA; Schema: fsbench; Owner: postgres
--

COPY fsbench.wait_event (run_id, second, wait_event_type, wait_event, samples) FROM stdin;
2	0	Extension	Extension	40
2	0	IO	DataFileRead	1
3	0	IO	WALSync	6
3	0	IO	WALWrite	8
\.


--
-- Name: experiment_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.experiment_id_seq', 1, true);


--
-- Name: experiment_log_id_seq; Type: SEQUENCE SET; Schema: fsbench; Owner: postgres
--

SELECT pg_catalog.setval('fsbench.experiment_log_id_seq', 1, true);


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
-- PostgreSQL database dump complete
--

\unrestrict pe457nKahwAeT9aUyIcR6MVcNCLZBSdBtCevOieCDXgxIk4ex9gLKCEvWE85PpF

