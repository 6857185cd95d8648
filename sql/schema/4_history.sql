-- Histories: the same run every night. What a change is, is said by fsbench.change_points().

CREATE FUNCTION fsbench._is_more_better(metric text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF metric IN ('tps', 'scan_bytes_per_s', 'even_seconds') THEN
        RETURN true;
    ELSIF metric IN ('recovery_ms', 'maintenance_ms', 'cpu_ms_per_transaction', 'write_amplification', 'server_write_amplification',
        'filesystem_write_amplification', 'device_bytes_per_transaction', 'flushes_per_transaction', 'load_ms') OR metric ~ '^(latency|commit)_(avg|p50|p90|p95|p99|p999)_ms$' THEN
        RETURN false;
    END IF;
    RAISE EXCEPTION 'metric "%" decides nothing in a history', metric USING ERRCODE = 'invalid_parameter_value',
              DETAIL = 'It has to be a figure of a run that is never 0, and of which it is known whether more of it is better.',
              HINT = 'Use tps, a latency such as latency_p99_ms, or another metric of fsbench.experiment().';
END
$$;
COMMENT ON FUNCTION fsbench._is_more_better IS 'Whether more of a metric is better; an error when histories cannot decide by it. Private';

-- Runs that begin within six hours are one night: those that are repeated because the first was bad. Where they never stop, a night is six hours.
CREATE FUNCTION fsbench._nights(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, good bigint, value float8, last_good timestamptz)
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
    WITH run AS (
        SELECT r.run_id, r.requested_at AS at, fsbench._shown_target(r.target, r.target_version) AS target,
               jsonb_hash_extended(jsonb_build_array((SELECT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = r.run_id),
                   -- Another disk in the same place is marked, and does not cut.
                   coalesce(CASE WHEN jsonb_typeof(r.target_definition) = 'object' THEN nullif(r.target_definition - '{device_identity,log_device_identity}'::text[], '{}') END, to_jsonb(r.target)), r.workload, r.scale, r.clients, r.duration, r.transactions, r.warmup, r.rate,
                   r.latency_limit_ms, r.asked -> 'settings', r.asked -> 'options', r.asked -> 'size', r.asked -> 'data', r.asked -> 'database'), 0) AS alike,
               CASE WHEN r.status = 'done' AND NOT EXISTS (SELECT FROM fsbench.finding f WHERE f.run_id = r.run_id AND f.severity = 'invalid')
                    -- Values in the row itself are read from there: there may be thousands of rows.
                    THEN nullif(greatest(CASE $2 WHEN 'load_ms' THEN r.load_ms WHEN 'tps' THEN r.tps WHEN 'latency_avg_ms' THEN r.latency_avg_ms
                        WHEN 'latency_p50_ms' THEN r.latency_p50_ms WHEN 'latency_p90_ms' THEN r.latency_p90_ms WHEN 'latency_p95_ms' THEN r.latency_p95_ms
                        WHEN 'latency_p99_ms' THEN r.latency_p99_ms WHEN 'latency_p999_ms' THEN r.latency_p999_ms WHEN 'commit_avg_ms' THEN r.commit_avg_ms
                        WHEN 'commit_p50_ms' THEN r.commit_p50_ms WHEN 'commit_p99_ms' THEN r.commit_p99_ms WHEN 'cpu_ms_per_transaction' THEN r.cpu_ms_per_transaction
                        WHEN 'device_bytes_per_transaction' THEN r.device_bytes_per_transaction WHEN 'flushes_per_transaction' THEN r.flushes_per_transaction
                        WHEN 'server_write_amplification' THEN r.server_write_amplification WHEN 'filesystem_write_amplification' THEN r.filesystem_write_amplification
                        WHEN 'write_amplification' THEN r.write_amplification ELSE fsbench._metric(r.run_id, $2) END, 0), 0) END AS value
        FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('done', 'failed', 'cancelled')
    ), after AS (
        SELECT r.*, r.at - lag(r.at) OVER (PARTITION BY r.alike ORDER BY r.at, r.run_id) < interval '6 hours' AS is_repeat FROM run r
    ), chained AS (
        SELECT a.*, count(*) FILTER (WHERE a.is_repeat IS NOT TRUE) OVER (PARTITION BY a.alike ORDER BY a.at, a.run_id) AS chain FROM after a
    ), cut AS (
        SELECT c.*, floor(extract(epoch FROM c.at - min(c.at) OVER (PARTITION BY c.alike, c.chain)) / 21600) AS piece FROM chained c
    ), numbered AS (
        SELECT c.*, dense_rank() OVER (PARTITION BY c.alike ORDER BY c.chain, c.piece) AS night, min(c.run_id) OVER (PARTITION BY c.alike) AS first FROM cut c
    ), ordered AS (
        SELECT n.*, dense_rank() OVER (ORDER BY n.first) AS segment FROM numbered n
    )
    SELECT o.segment, o.night, min(o.at), min(o.target), coalesce(min(o.run_id) FILTER (WHERE o.value IS NOT NULL), min(o.run_id)), count(*), count(o.value),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY o.value), max(o.at) FILTER (WHERE o.value IS NOT NULL)
    FROM ordered o GROUP BY o.segment, o.night
    $$;
COMMENT ON FUNCTION fsbench._nights IS 'The nights of a label: like runs are a segment, and the median of the good runs of a night is its value. Private';

CREATE FUNCTION fsbench._differs_in_words(run_a bigint, run_b bigint, areas text[]) RETURNS text
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE WHEN m.place <= 10 THEN format('%s: %s, before %s', m.name, coalesce(m.b, 'none'), coalesce(m.a, 'none')) ELSE format('and %s more', m.of - 10) END, '; ' ORDER BY m.place)
    FROM (SELECT d.name, d.a, d.b, row_number() OVER () AS place, count(*) OVER () AS of
          FROM fsbench.diff($1, $2) d WHERE CASE WHEN $3 IS NULL THEN d.matters <> 'hardly' ELSE d.area = ANY ($3) END) m WHERE m.place <= 11
    $$;
COMMENT ON FUNCTION fsbench._differs_in_words IS 'What differs between two runs, in words: in these areas, or (NULL) whatever is likely to matter. Private';

CREATE FUNCTION fsbench._history(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, good bigint, last_good timestamptz)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
DECLARE
    s record;
    change record;
    began integer;
    spread record;
    places bigint[];            -- of the nights at which the level changes, and what is known of each
    befores float8[];
    afters float8[];
    factors float8[];
    lows float8[];
    highs float8[];
    seens integer[];
    differences text[];
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RAISE EXCEPTION 'label and metric must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A history is made of the runs that have this label.',
                  HINT = 'Call it as in SELECT * FROM fsbench.history(''nightly'').';
    END IF;
    PERFORM fsbench._is_more_better($2);
    IF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1) THEN
        RAISE EXCEPTION 'no run has the label "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database.',
                  HINT = 'Give it to the runs: fsbench.start(label => ...).';
    END IF;
    FOR s IN
        SELECT n.segment, array_agg(n.night ORDER BY n.night) AS nights, array_agg(n.at ORDER BY n.night) AS ats, array_agg(n.run_id ORDER BY n.night) AS ids,
               array_agg(n.runs ORDER BY n.night) AS counts, array_agg(n.good ORDER BY n.night) AS goods, array_agg(n.last_good ORDER BY n.night) AS lasts,
               array_agg(n.value ORDER BY n.night) AS of_night, array_agg(ln(n.value) ORDER BY n.night) AS x, min(n.target) AS target
        FROM fsbench._nights($1, $2) n GROUP BY n.segment ORDER BY n.segment
    LOOP
        -- Changes are few, and nights are many: these are taken as a set, and arrays of them are unnested, never subscripted.
        began := 1;
        places := '{}'; befores := '{}'; afters := '{}'; factors := '{}'; lows := '{}'; highs := '{}'; seens := '{}'; differences := '{}';
        FOR change IN SELECT * FROM fsbench.change_points(s.x) c ORDER BY c.night LOOP
            -- The nights by which it was seen, and those before it: a two-sample t interval of means.
            SELECT avg(u.x) FILTER (WHERE u.n >= change.night) - avg(u.x) FILTER (WHERE u.n < change.night) AS difference, count(*) - 2 AS freedom,
                   sqrt(greatest(coalesce(var_samp(u.x) FILTER (WHERE u.n < change.night), 0) * (count(*) FILTER (WHERE u.n < change.night) - 1)
                        + coalesce(var_samp(u.x) FILTER (WHERE u.n >= change.night), 0) * (count(*) FILTER (WHERE u.n >= change.night) - 1), 0) / (count(*) - 2)
                        * (1.0 / count(*) FILTER (WHERE u.n < change.night) + 1.0 / count(*) FILTER (WHERE u.n >= change.night))) AS error
            INTO spread
            FROM unnest(s.x) WITH ORDINALITY u (x, n),
                 (SELECT max(q.n) AS ends FROM (SELECT v.n FROM unnest(s.x) WITH ORDINALITY v (x, n) WHERE v.n >= change.night AND v.x IS NOT NULL
                                                ORDER BY v.n LIMIT change.seen_after) q) e
            WHERE u.x IS NOT NULL AND u.n BETWEEN greatest(began, e.ends - 59) AND e.ends;
            differences := differences || fsbench._differs_in_words((SELECT v.run_id FROM unnest(s.ids, s.x) WITH ORDINALITY v (run_id, x, n)
                WHERE v.n < change.night AND v.x IS NOT NULL ORDER BY v.n DESC LIMIT 1), s.ids[change.night], NULL);
            places := places || change.night::bigint; befores := befores || exp(change.before); afters := afters || exp(change.after); factors := factors || exp(change.size);
            lows := lows || exp(spread.difference - fsbench.student_t(0.025, spread.freedom) * spread.error);
            highs := highs || exp(spread.difference + fsbench.student_t(0.025, spread.freedom) * spread.error); seens := seens || change.seen_after;
            began := change.night;
        END LOOP;
        RETURN QUERY
        SELECT s.segment, u.night, u.at, s.target, u.run_id, u.runs, u.value,
               CASE WHEN c.n IS NOT NULL THEN 'changed' WHEN u.value IS NULL THEN 'missing' ELSE 'good' END,
               c.before, c.after, c.ratio, c.low, c.high, c.seen_after, c.differs, u.good, u.last_good
        FROM unnest(s.nights, s.ats, s.ids, s.counts, s.of_night, s.goods, s.lasts) WITH ORDINALITY u (night, at, run_id, runs, value, good, last_good, n)
        LEFT JOIN unnest(places, befores, afters, factors, lows, highs, seens, differences) c (n, before, after, ratio, low, high, seen_after, differs) ON c.n = u.n
        ORDER BY u.n;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._history IS 'The nights of a label, their changes of level, and what an alarm asks besides. Private';

CREATE FUNCTION fsbench.history(label text, metric text DEFAULT 'tps')
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, marks text)
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
    WITH night AS MATERIALIZED (
        SELECT h.* FROM fsbench._history($1, $2) h
    ), known AS (
        SELECT n.segment, n.night, n.run_id, lag(n.run_id) OVER w AS before, f.machine, lag(f.machine) OVER w AS machine_before, e.layers, lag(e.layers) OVER w AS layers_before
        FROM night n JOIN fsbench.environment e USING (run_id),
             LATERAL (SELECT concat_ws(' ', e.configuration_fingerprint, e.kernel, e.server_version, e.pgfsbench_version, e.device_model, e.storage #>> '{result,wwn}',
                                       e.storage #>> '{result,serial}') AS machine) f
        WINDOW w AS (PARTITION BY n.segment ORDER BY n.night)
    ), marked AS (
        -- Nearly all nights are as the one before, and a close look takes long.
        SELECT k.segment, k.night, fsbench._differs_in_words(k.before, k.run_id, '{kernel,version,settings,device}') AS marks
        FROM known k WHERE k.machine <> k.machine_before OR k.layers <> k.layers_before
    )
    SELECT n.segment, n.night, n.at, n.target, n.run_id, n.runs, n.value, n.status, n.before, n.after, n.ratio, n.low, n.high, n.seen_after, n.differs, m.marks
    FROM night n LEFT JOIN marked m USING (segment, night) ORDER BY n.segment, n.night
    $$;
COMMENT ON FUNCTION fsbench.history IS 'The nights of the runs with a label: like runs (target as defined, workload, parameters) are one segment, and runs within six hours of each other one night, whose value is the median of the good ones. status: good; changed, the first night of a new level, by the rule of fsbench.change_points(), with the medians before and after, their ratio with a 95 % interval, after how many nights it was seen, and what differs between its run and the last good one before, as candidates for the cause; missing: no good run. marks: what of kernel, versions, settings and disks is another than the night before, which cuts nothing';

CREATE FUNCTION fsbench._repeat(run_id bigint) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT fsbench.start(target => coalesce(r.asked ->> 'target', 'default'), workload => coalesce(r.asked ->> 'workload', 'tpcb'), scale => (r.asked ->> 'scale')::integer,
        size => r.asked ->> 'size', clients => (r.asked ->> 'clients')::integer, duration => make_interval(secs => (r.asked ->> 'duration_us')::float8 / 1e6),
        transactions => (r.asked ->> 'transactions')::bigint, warmup => make_interval(secs => (r.asked ->> 'warmup_us')::float8 / 1e6), rate => (r.asked ->> 'rate')::float8,
        latency_limit_ms => (r.asked ->> 'latency_limit_ms')::float8, seed => (r.asked ->> 'seed')::bigint, settings => nullif(r.asked -> 'settings', 'null'),
        options => nullif(r.asked -> 'options', 'null'), label => r.label, force => coalesce((r.asked ->> 'force')::boolean, false), data => r.asked ->> 'data', database => r.asked ->> 'database')
    FROM fsbench.run_log r WHERE r.run_id = $1
    $$;
COMMENT ON FUNCTION fsbench._repeat IS 'Queues a run once more, as it was asked for. Private';

CREATE FUNCTION fsbench.check_history(label text, metric text DEFAULT 'tps', worse_by float8 DEFAULT 0.05, due interval DEFAULT '36 hours', repeats integer DEFAULT 2)
    RETURNS TABLE (state text, segment bigint, at timestamptz, run_id bigint, value float8, expected float8, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
DECLARE
    more boolean;
    s record;
    k integer;
    tonight integer;
    p float8[];
    m float8;
    q float8;
    y float8;
    problem text;
    problem_detail text;
    code text;
BEGIN
    IF repeats IS NULL OR repeats NOT BETWEEN 0 AND 10 THEN
        RAISE EXCEPTION 'repeats must be between 0 and 10'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(repeats::text, 'null')),
                  HINT = 'So often is the run of a suspect night made again; 0 makes none.';
    END IF;
    -- NaN is above everything, and nothing would be worse by it.
    IF worse_by IS NULL OR due IS NULL OR NOT worse_by > 0 OR worse_by >= 'Infinity' OR NOT due > interval '0' THEN
        RAISE EXCEPTION 'worse_by and due must be above 0, and not infinite'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('They are %s and %s.', coalesce(worse_by::text, 'null'), coalesce(due::text, 'null')),
                  HINT = 'worse_by => 0.05 is 5 %; due is the time within which a good run has to come after the last one.';
    END IF;
    more := fsbench._is_more_better($2);
    FOR s IN
        -- A label with an @ may be one of this database, too: then what was imported under it does not count.
        SELECT x.* FROM (
            -- A date of the future is no reason why others have ended.
            SELECT y.*, max(least(y.last, clock_timestamp())) OVER (PARTITION BY y.is_here) AS last_of_all, bool_or(y.is_here) OVER () AS is_any_here FROM (
            SELECT h.segment, array_agg(h.at ORDER BY h.night) AS ats, array_agg(h.run_id ORDER BY h.night) AS ids, array_agg(h.value ORDER BY h.night) AS of_night,
                   array_agg(h.runs ORDER BY h.night) AS counts, array_agg(h.good ORDER BY h.night) AS goods, array_agg(h.ratio ORDER BY h.night) AS ratios,
                   array_agg(h.differs ORDER BY h.night) AS differs, array_agg(h.seen_after ORDER BY h.night) AS seen, max(h.at) AS last, max(h.last_good) AS last_good,
                   NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = min(h.run_id)) AS is_here
            FROM fsbench._history($1, $2) h GROUP BY h.segment) y) x
        WHERE x.is_here = x.is_any_here AND x.last >= x.last_of_all - due ORDER BY x.segment  -- others have ended
    LOOP
        segment := s.segment; expected := NULL; problem := NULL;
        SELECT max(u.n) FILTER (WHERE u.value IS NOT NULL), max(u.n) FILTER (WHERE u.ratio IS NOT NULL) INTO tonight, k
        FROM unnest(s.of_night, s.ratios) WITH ORDINALITY u (value, ratio, n);
        at := s.ats[coalesce(tonight, cardinality(s.ats))]; run_id := s.ids[coalesce(tonight, cardinality(s.ids))]; value := s.of_night[tonight];
        SELECT array_agg(ln(n.value) ORDER BY n.n) INTO p
        FROM (SELECT u.value, u.n FROM unnest(s.of_night) WITH ORDINALITY u (value, n)
              WHERE u.n BETWEEN coalesce(k, 1) AND coalesce(tonight, 0) - 1 AND u.value IS NOT NULL ORDER BY u.n DESC LIMIT 60) n;
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) INTO m FROM unnest(p) v;
        SELECT greatest(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(v - m)), 0.002) INTO q FROM unnest(p) v;
        y := CASE WHEN more THEN m - ln(value) ELSE ln(value) - m END;
        expected := exp(m);
        IF tonight IS NULL OR s.last_good + due < clock_timestamp() THEN
            state := 'missing';
            says := format('no good run since %s, and one is due every %s', coalesce(to_char(s.last_good AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'the beginning'), due);
        ELSIF k IS NOT NULL AND (CASE WHEN more THEN -ln(s.ratios[k]) ELSE ln(s.ratios[k]) END) >= ln(1 + worse_by)
              AND NOT EXISTS (SELECT FROM fsbench.acknowledgement a WHERE a.run_id = s.ids[k] AND a.metric = $2) THEN
            state := 'worse'; at := s.ats[k]; run_id := s.ids[k];
            says := format('it has %s times the %s that it had, since run %s; seen after %s nights', round(s.ratios[k]::numeric, 3), $2, s.ids[k], s.seen[k])
                || coalesce('; what differs there: ' || s.differs[k], '; nothing is known that differs there');
        ELSIF coalesce(cardinality(p), 0) + 1 < 11 THEN
            state := 'too_few';
            says := format('%s nights of this level, and it takes 11', coalesce(cardinality(p), 0) + 1);
        ELSIF y >= ln(1 + worse_by) AND y > 6 * q THEN
            state := CASE WHEN s.goods[tonight] >= 3 THEN 'suspect_repeated' ELSE 'suspect' END;
            says := format('one night of %s, where %s was to be expected', round(value::numeric, 3), round(expected::numeric, 3));
            PERFORM pg_notify('fsbench_history', jsonb_build_object('label', $1, 'metric', $2, 'state', state, 'run_id', run_id, 'value', value, 'expected', expected)::text);
            -- Once a night, and only while it is one; by those who may start runs. Of those who ask at the same time, one does it.
            IF repeats > 0 AND has_function_privilege('fsbench._repeat(bigint)', 'EXECUTE') AND s.goods[tonight] = 1 AND s.counts[tonight] < 3 AND at > clock_timestamp() - interval '6 hours' THEN
                IF NOT pg_try_advisory_xact_lock('fsbench.acknowledgement'::regclass::oid::integer, hashtext($1)) THEN
                    -- Any session may hold it.
                    says := says || format('; no repeats are queued by this call: process %s checks the same history, or holds its lock', (SELECT min(l.pid) FROM pg_locks l
                        WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid() AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                          AND l.classid = 'fsbench.acknowledgement'::regclass::oid AND l.objid = (hashtext($1)::bigint & 4294967295)::oid AND l.objsubid = 2));
                ELSIF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('queued', 'running'))
                   AND EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = s.ids[tonight] AND r.requested_by = current_user AND NOT r.copied) THEN
                    -- Runs of other roles are not repeated, nor runs from a dump or a file.
                    PERFORM fsbench._repeat(s.ids[tonight]) FROM generate_series(1, repeats);
                    says := says || format('; %s repeats are queued', repeats);
                END IF;
            END IF;
        ELSE
            state := 'good';
            says := format('%s nights of this level', cardinality(p) + 1);
        END IF;
        IF state IN ('worse', 'missing') THEN
            code := CASE state WHEN 'worse' THEN 'PF001' ELSE 'PF002' END;
            RAISE EXCEPTION 'history "%" is %', $1, CASE state WHEN 'worse' THEN 'worse' ELSE 'missing a run' END
                USING ERRCODE = code, DETAIL = upper(left(says, 1)) || substr(says, 2) || '.',
                      HINT = CASE state WHEN 'worse' THEN format('See fsbench.history(%L, %L). When it is to stay so: SELECT fsbench.acknowledge(%s, ''why'', %L).', $1, $2, run_id, $2)
                                  ELSE format('See fsbench.result for runs with the label %s, and what starts them.', $1) END;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench.check_history IS 'Checks the runs of every night, for a job or a pipeline that should fail. Raises an error when runs became worse by at least worse_by and stay so (SQLSTATE PF001), or when the last good run is older than due (PF002). Otherwise returns a row for each current segment: good; too_few, under 11 nights of this level; suspect, one bad night, reported on the channel fsbench_history and repeated twice; suspect_repeated. Only runs of the caller are repeated; repeats => 0 repeats none. See fsbench.acknowledge()';

CREATE FUNCTION fsbench.acknowledge(run_id bigint, note text DEFAULT NULL, metric text DEFAULT 'tps') RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fsbench._check_runs(ARRAY[$1]);
    PERFORM fsbench._is_more_better($3);
    IF octet_length($2) > 10000 THEN
        RAISE EXCEPTION 'the note is too long'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It has %s bytes, and at most 10000 are kept.', octet_length($2)),
                  HINT = 'Say in a few sentences why the change is accepted.';
    END IF;
    INSERT INTO fsbench.acknowledgement AS a (run_id, metric, note) VALUES ($1, $3, $2)
    ON CONFLICT ON CONSTRAINT acknowledgement_pkey DO UPDATE SET note = excluded.note, acknowledged_by = excluded.acknowledged_by, acknowledged_at = excluded.acknowledged_at;
    RETURN $1;
END
$$;
COMMENT ON FUNCTION fsbench.acknowledge IS 'Accepts a change for the worse that begins with this run: fsbench.check_history() then compares with the new level';

-- Results, histograms and findings stay: they are what histories and verdicts are made of.
CREATE FUNCTION fsbench.thin(older_than interval, only_say boolean DEFAULT false)
    RETURNS TABLE (runs bigint, seconds bigint, waits bigint, bytes bigint, removed boolean)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
DECLARE
    old bigint[];
    all_seconds bigint;
    all_waits bigint;
BEGIN
    IF older_than IS NULL OR older_than < interval '0' THEN
        RAISE EXCEPTION 'older_than must be 0 or above'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(older_than::text, 'null')),
                  HINT = 'Call it as in SELECT * FROM fsbench.thin(''90 days'', only_say => true).';
    END IF;
    SELECT array_agg(r.run_id) INTO old FROM fsbench.run_log r WHERE r.ended_at < clock_timestamp() - older_than AND r.status IN ('done', 'failed', 'cancelled');
    SELECT count(*), count(*) FILTER (WHERE s.run_id = ANY (old)), count(DISTINCT s.run_id) FILTER (WHERE s.run_id = ANY (old)) INTO all_seconds, seconds, runs FROM fsbench.sample s;
    SELECT count(*), count(*) FILTER (WHERE w.run_id = ANY (old)) INTO all_waits, waits FROM fsbench.wait_event w;
    bytes := pg_total_relation_size('fsbench.sample') * seconds / greatest(all_seconds, 1) + pg_total_relation_size('fsbench.wait_event') * waits / greatest(all_waits, 1);
    removed := NOT coalesce(only_say, false);
    IF removed THEN
        DELETE FROM fsbench.sample s WHERE s.run_id = ANY (old);
        DELETE FROM fsbench.wait_event w WHERE w.run_id = ANY (old);
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench.thin IS 'Removes the seconds and waits of runs that have ended so long ago, and keeps their results, histograms and findings; what is made of seconds only, such as the metric tps_cv and the worst second, is gone with them; says of how many runs, how many rows, and about how many bytes, which the tables use again after a VACUUM. only_say => true: beforehand, removing nothing. For the owner of the extension';
