-- Every bad argument is refused before anything is made: what, in which circumstances, and what to do.
\pset format unaligned
\pset tuples_only on

-- The refusal of a call. From PostgreSQL 18 on, the ranges of settings have units.
CREATE FUNCTION pg_temp.refused(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    code text; message text; detail text; hint text;
BEGIN
    EXECUTE 'SELECT fsbench.start(' || arguments || ')';
    RETURN arguments || ': NOT REFUSED';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(E'\n', arguments, '  ' || code || ': ' || regexp_replace(message, '(\d)( kB)? \.\. (\d+)( kB)?\)', '\1 .. \3)'),
        '  DETAIL: ' || nullif(detail, ''), '  HINT: ' || nullif(hint, ''));
END
$$;

SELECT count(*) AS runs_before FROM fsbench.run_log \gset

-- Target and workload.
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    $$target => 'ext5'$$, $$target => ''$$, $$target => E'two\nlines'$$,
    $$workload => 'tpcc'$$, $$workload => 'TPCB'$$, $$workload => ''$$]) a;

-- Scale and size.
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    'scale => 0', 'scale => -1', 'scale => 2147483647', $$scale => 1, size => '1GB'$$,
    $$size => ''$$, $$size => 'large'$$, $$size => '0'$$, $$size => '-1GB'$$, $$size => '1 parsec'$$, $$size => 'NaN GB'$$,
    $$size => 'inf'$$, $$size => '1e300GB'$$, $$size => '99999999999999999999GB'$$, $$size => '0x ram'$$, $$size => '-5% ram'$$]) a;

-- Clients, duration, transactions, warm-up.
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    'clients => 0', 'clients => -5', 'clients => 129', 'clients => 2147483647',
    $$duration => '0'$$, $$duration => '-1 s'$$, $$duration => '31 days'$$, $$duration => '178000000 years'$$,
    $$duration => '-178000000 years'$$, $$duration => '1 s', transactions => 1$$,
    'transactions => 0', 'transactions => -1', 'transactions => 9223372036854775807', 'transactions => -9223372036854775808',
    $$warmup => '-1 us'$$, $$warmup => '1 year'$$]) a;

-- Rate and latency limit.
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    'rate => 0', 'rate => -1', $$rate => 'NaN'$$, $$rate => 'Infinity'$$, $$rate => '-Infinity'$$, 'rate => 1e300',
    'latency_limit_ms => 0', 'latency_limit_ms => -0.5', $$latency_limit_ms => 'NaN'$$, $$latency_limit_ms => 'Infinity'$$,
    'latency_limit_ms => 1e300']) a;

-- Settings: names, values, and what a session may not set.
SELECT pg_temp.refused('settings => ' || quote_literal(a)) FROM unnest(ARRAY[
    '[]', '"off"', 'null', '{"": "1"}', '{"work mem": "1MB"}', '{"no_such_setting": 1}', '{"no.such_setting": 1}',
    '{"work_mem": null}', '{"work_mem": [1]}', '{"work_mem": "a lot"}', '{"work_mem": -1}',
    '{"synchronous_commit": "perhaps"}', '{"work_mem": "1MB", "WORK_MEM": "2MB"}',
    '{"shared_buffers": "1GB"}', '{"fsync": false}', '{"server_version": "16"}', '{"max_wal_size": "1GB"}',
    '{"search_path": "public"}', '{"role": "postgres"}', '{"session_authorization": "postgres"}',
    '{"transaction_isolation": "serializable"}', '{"default_transaction_read_only": true}']) a;

-- Options.
SELECT pg_temp.refused('options => ' || quote_literal(a)) FROM unnest(ARRAY[
    '[]', '7', '{"fill": 90}', '{"Fillfactor": 90}', '{"fillfactor": 9}', '{"fillfactor": 101}', '{"fillfactor": 90.5}',
    '{"fillfactor": "90"}', '{"fillfactor": null}', '{"unlogged": 1}', '{"sample": "no"}']) a;

-- Label.
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    $$label => ''$$, $$label => '  '$$, $$label => E'a\tb'$$]) a;
SELECT replace(pg_temp.refused(format('label => %L', repeat('x', 201))), repeat('x', 201), '201 times x');

-- Arguments that are too long to be passed on.
SELECT regexp_replace(replace(pg_temp.refused(format('settings => %L', jsonb_build_object('dynamic_library_path', repeat(' ', 9000)))), repeat(' ', 9000), '9000 blanks'), 'take \d+ bytes', 'take N bytes');

-- Not run, not stored, nothing made.
SELECT count(*) - :runs_before AS new_rows FROM fsbench.run_log;
SELECT count(*) AS work_databases FROM pg_database WHERE datname LIKE 'fsbench_work%';

-- run refuses as start does.
\set VERBOSITY default
SELECT * FROM fsbench.run(workload => 'tpcc');
SELECT * FROM fsbench.wait(NULL);
\set SHOW_CONTEXT never
CALL fsbench.wait(NULL);
CALL fsbench.wait(VARIADIC NULL);
SELECT * FROM fsbench.wait(0);
CALL fsbench.wait(-1);
SELECT fsbench.cancel(0), fsbench.cancel(NULL);
