-- A new run from its columns, $1, and the arguments as given, $2.
INSERT INTO fsbench.run_log (status, target, workload, scale, clients, duration, transactions, warmup, rate,
      latency_limit_ms, seed, label, forced, asked, used, requested_by, requested_at, started_at)
    SELECT status, target, workload, scale, clients, duration, transactions, warmup, rate,
      latency_limit_ms, seed, label, forced, $2::jsonb, used, requested_by, t.now,
      CASE WHEN status = 'running' THEN t.now END
    FROM jsonb_populate_record(NULL::fsbench.run_log, $1::jsonb), (SELECT clock_timestamp() AS now OFFSET 0) t
    RETURNING run_id
