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

-- One of each kind, and what SQL's types or the server decide; core has the others (workload/tests/refusals.rs, units.rs).
SELECT pg_temp.refused(a) FROM unnest(ARRAY[
    $$target => 'ext5'$$, $$target => ''$$, $$target => E'two\nlines'$$, $$workload => 'TPCB'$$,
    'scale => 0', $$scale => 1, size => '1GB'$$, $$size => ''$$, $$size => 'large'$$, $$size => '0'$$, $$size => '1 parsec'$$, $$size => '99999999999999999999GB'$$,
    'clients => 129', $$duration => '0'$$, $$duration => '31 days'$$, $$duration => '178000000 years'$$, $$duration => '-178000000 years'$$,
    $$duration => '1 s', transactions => 1$$, 'transactions => 0', 'transactions => 9223372036854775807', 'transactions => -9223372036854775808',
    $$warmup => '-1 us'$$, $$warmup => '1 year'$$, 'rate => 0', $$rate => 'NaN'$$, $$rate => 'Infinity'$$, $$rate => '-Infinity'$$, 'rate => 1e300',
    'latency_limit_ms => -0.5', $$latency_limit_ms => 'NaN'$$, $$latency_limit_ms => 'Infinity'$$, 'latency_limit_ms => 1e300',
    $$label => '  '$$, $$label => E'a\tb'$$, $$options => '7'$$, $$options => '{"Fillfactor": 90}'$$, $$options => '{"fillfactor": 90.5}'$$, $$options => '{"unlogged": 1}'$$]) a;
SELECT replace(pg_temp.refused(format('label => %L', repeat('x', 201))), repeat('x', 201), '201 times x');

-- Settings: names, values, and what a session may not set.
SELECT pg_temp.refused('settings => ' || quote_literal(a)) FROM unnest(ARRAY[
    '[]', '"off"', 'null', '{"": "1"}', '{"work mem": "1MB"}', '{"no_such_setting": 1}', '{"no.such_setting": 1}', '{"work_mem": null}', '{"work_mem": [1]}',
    '{"work_mem": "a lot"}', '{"work_mem": -1}', '{"synchronous_commit": "perhaps"}', '{"work_mem": "1MB", "WORK_MEM": "2MB"}', '{"shared_buffers": "1GB"}',
    '{"fsync": false}', '{"server_version": "16"}', '{"max_wal_size": "1GB"}', '{"search_path": "public"}', '{"role": "postgres"}', '{"session_authorization": "postgres"}',
    '{"transaction_isolation": "serializable"}', '{"default_transaction_read_only": true}']) a;

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
