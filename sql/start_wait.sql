-- start returns at once, runs stand in a queue, and wait waits: as a function, and as a procedure.
SET client_min_messages = warning;
\set small 'scale => 1, clients => 1, transactions => 50, seed => 1'

-- As a function: the row.
SELECT fsbench.start(:small) AS a \gset
SELECT run_id = :a AS same_run, target, tps > 0 AS some_tps FROM fsbench.wait(:a);
-- Once more, when it is long over.
SELECT run_id = :a AS same_run FROM fsbench.wait(:a);
CALL fsbench.wait(:a);

-- Several: one runs, the others are queued, with ids at once.
SELECT fsbench.start(scale => 1, clients => 2, duration => '1 min', warmup => '0', rate => 20) AS long \gset
SELECT fsbench.start(:small, label => 'second') AS b, fsbench.start(:small, label => 'third') AS c \gset
SELECT array_agg(status ORDER BY run_id) AS status, array_agg(run_id ORDER BY run_id) = ARRAY[:long, :b, :c]::bigint[] AS in_order FROM fsbench.progress;
SELECT status, started_at IS NULL AS not_started FROM fsbench.result WHERE run_id IN (:b, :c) ORDER BY run_id;

-- run does not queue.
DO $$
BEGIN
    PERFORM FROM fsbench.run();
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    RAISE WARNING '%', SQLERRM;
END
$$;

-- A ROLLBACK does not undo a start.
BEGIN;
SELECT fsbench.start(:small, label => 'rolled back') AS d \gset
ROLLBACK;
SELECT status, label FROM fsbench.result WHERE run_id = :d;

-- Progress of the one that runs, up to its window.
DO $$
BEGIN
    FOR i IN 1..6000 LOOP
        IF EXISTS (SELECT FROM fsbench.progress WHERE phase = 'measure' AND done > 0)
           AND EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'fsbench sampler') THEN
            RETURN;
        END IF;
        PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
    END LOOP;
    RAISE EXCEPTION 'no progress: %', (SELECT jsonb_agg(p) FROM fsbench.progress p);
END
$$;
SELECT status, target, workload, phase, done BETWEEN 1 AND total AS some_done, total, percent = done * 100 / total AS percent,
       seconds_left BETWEEN 0 AND 60 AS some_left, pg_typeof(seconds_left) AS whole, phase_seconds >= 0 AS phase_seconds, tps >= 0 AS tps,
       coordinator_pid IN (SELECT pid FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator') AS coordinator
FROM fsbench.progress WHERE run_id = :long;
SELECT run_id = :long AS long, status, done, total, seconds_left, tps FROM fsbench.progress WHERE status = 'queued' AND run_id = :b;
-- The workers are who they say.
SELECT regexp_replace(backend_type, '\d+', 'N') AS backend_type, count(*) FROM pg_stat_activity WHERE backend_type LIKE 'fsbench%' GROUP BY 1 ORDER BY 1;

-- A queued run is cancelled, and one that runs.
SELECT fsbench.cancel(:c);
SELECT fsbench.cancel(:long);
CALL fsbench.wait(:c, :long, :b, :d);
SELECT run_id = :long AS long, label, status, error_code, error, error_detail = format('It was canceled by fsbench.cancel() of role "%s".', current_user) AS by_me,
       tps IS NOT NULL AS figures
FROM fsbench.result WHERE run_id IN (:long, :b, :c, :d) ORDER BY run_id;
-- One after the other, in the order of their ids.
SELECT b.ended_at <= d.started_at AS in_turn FROM fsbench.run_log b, fsbench.run_log d WHERE b.run_id = :b AND d.run_id = :d;
SELECT fsbench.cancel(:c), fsbench.cancel(:long), fsbench.cancel(:b);

-- wait raises the error of a run that did not end well.
SELECT * FROM fsbench.wait(:long);
-- The procedure only waits.
CALL fsbench.wait(:long);
CALL fsbench.wait(VARIADIC ARRAY[:long, :b]::bigint[]);

-- Not a run.
SELECT * FROM fsbench.wait(999999999);
CALL fsbench.wait(:b, 999999999);
SELECT fsbench.cancel(999999999);

-- A study in one statement, more than there are places for texts; with a mistake at its end the others stay, and are named.
SELECT fsbench.start(scale => 1, clients => 1, duration => '10 min', rate => 20) AS first \gset
SELECT count(fsbench.start(:small)) FROM generate_series(1, 20);
DO $$
DECLARE
    first bigint;
    told text;
BEGIN
    first := fsbench.start(scale => 1, clients => 1, transactions => 50);
    PERFORM fsbench.start(scale => 1, clients => 1, transactions => 50);
    PERFORM fsbench.start(target => 'nowhere');
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%: %', SQLERRM, replace(replace(told, first::text, 'N'), (first + 1)::text, 'N + 1');
END
$$;
SELECT count(*) AS queued, array_agg(runs_before ORDER BY run_id) = array_agg(n::integer ORDER BY n) AS in_order
FROM (SELECT run_id, runs_before, row_number() OVER (ORDER BY run_id) AS n FROM fsbench.progress WHERE status = 'queued') q;
SELECT status, runs_before FROM fsbench.progress WHERE run_id = :first;
-- One that waits for its turn is taken out of the queue with its statement.
SET statement_timeout = '10s';
SELECT fsbench.run(scale => 1, clients => 1, transactions => 50, warmup => '0', options => '{"wait_turn": true}');
RESET statement_timeout;
SELECT bool_and(fsbench.cancel(run_id)) AS cancelled FROM (SELECT run_id FROM fsbench.progress ORDER BY run_id DESC) p;
-- All of them: the row of a run says cancelled before its work database is gone.
SELECT array_agg(run_id) AS ids FROM fsbench.run_log WHERE run_id >= :first \gset
CALL fsbench.wait(VARIADIC :'ids');
SELECT status, count(*) FROM fsbench.run_log WHERE run_id >= :first GROUP BY status;
SELECT count(*) AS in_progress FROM fsbench.progress;
