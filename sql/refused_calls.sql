-- Ways of calling run that would falsify its result are refused, and those that only look like them are not.
SET client_min_messages = warning;
\set small 'scale => 1, clients => 1, transactions => 10, seed => 1'
SELECT count(*) AS before FROM fsbench.run_log \gset

-- Other functions are called once per column by this; one that returns a set is called once.
SELECT (fsbench.run(:small)).* \gset
\echo :target
SELECT (fsbench.run(:small)).target, (fsbench.run(:small)).tps > 0 AS some_tps;
SELECT count(*) - :before AS runs FROM fsbench.run_log;

-- A snapshot that is kept.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM fsbench.run(:small);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM fsbench.wait(1);
ROLLBACK;

-- A transaction that has written.
BEGIN;
CREATE TEMP TABLE written ();
SELECT * FROM fsbench.run(:small);
ROLLBACK;
BEGIN;
SELECT pg_current_xact_id() IS NOT NULL AS has_id;
SELECT * FROM fsbench.wait(1);
ROLLBACK;
CREATE TEMP TABLE kept AS SELECT * FROM fsbench.run(:small);

-- A timeout that comes before the end. A number of transactions has no known length.
SET statement_timeout = '1 min';
SELECT * FROM fsbench.run(duration => '1 min', warmup => '1 s');
SELECT * FROM fsbench.run(duration => '1 min', warmup => '0');
SELECT target FROM fsbench.run(:small);
RESET statement_timeout;
-- start does not wait.
SET statement_timeout = '1 min';
SELECT fsbench.start(scale => 1, clients => 1, duration => '10 min', rate => 20) AS started \gset
RESET statement_timeout;
SELECT fsbench.cancel(:started);
CALL fsbench.wait(:started);

-- A timeout that comes none the less cancels the run.
SET statement_timeout = '10 s';
SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 100000000, rate => 20);
RESET statement_timeout;
SELECT max(run_id) AS last FROM fsbench.run_log \gset
CALL fsbench.wait(:last);
SELECT status, error_code, error, error_detail FROM fsbench.run_log WHERE run_id = :last;

-- Calls that are as many as they look: each is a run.
SELECT g, target FROM generate_series(1, 2) g, LATERAL fsbench.run(scale => g, clients => 1, transactions => 10) r;
SELECT a.target, b.target FROM fsbench.run(:small) a, fsbench.run(:small) b;
SELECT (SELECT target FROM fsbench.run(:small)), (SELECT target FROM fsbench.run(:small));
SELECT (fsbench.run(:small)).tps > 0 AS one_column;
DO $$
BEGIN
    FOR i IN 1..2 LOOP
        PERFORM FROM fsbench.run(scale => 1, clients => 1, transactions => 10);
    END LOOP;
END
$$;
PREPARE again AS SELECT target FROM fsbench.run(:small);
EXECUTE again;
EXECUTE again;
BEGIN;
SELECT target FROM fsbench.run(:small);
SELECT target FROM fsbench.run(:small);
COMMIT;
SELECT count(*) FILTER (WHERE status = 'done') AS done FROM fsbench.run_log WHERE run_id > :last;

-- In a cursor, a subtransaction, a function, a read-only transaction.
BEGIN;
SAVEPOINT s;
SELECT target FROM fsbench.run(:small);
RELEASE s;
DECLARE c CURSOR FOR SELECT target FROM fsbench.run(:small);
FETCH c;
FETCH c;
COMMIT;
BEGIN READ ONLY;
SELECT target FROM fsbench.run(:small);
ROLLBACK;
BEGIN READ ONLY;
SELECT fsbench.start(:small);
ROLLBACK;
BEGIN READ ONLY;
SELECT fsbench.cancel(1);
ROLLBACK;
-- NULL is no target, and means no other.
SELECT target FROM fsbench.run(NULL, 'tpcb', 1, clients => 1, transactions => 50);
SELECT fsbench.start(target => NULL);
EXPLAIN (COSTS OFF) SELECT * FROM fsbench.run(:small);

-- CALL wait in a transaction block cannot give its snapshot back.
SELECT fsbench.start(scale => 1, clients => 1, duration => '10 min', rate => 20) AS started \gset
BEGIN;
CALL fsbench.wait(:started);
ROLLBACK;
DO $$ DECLARE id bigint := (SELECT max(run_id) FROM fsbench.run_log); BEGIN CALL fsbench.wait(id); EXCEPTION WHEN active_sql_transaction THEN RAISE WARNING '%', SQLERRM; END $$;
SELECT fsbench.cancel(:started);
CALL fsbench.wait(:started);

-- Names that are in the way do not matter: everything is looked up where it belongs.
CREATE SCHEMA trap;
CREATE FUNCTION trap.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
CREATE FUNCTION trap.pg_size_bytes(text) RETURNS bigint LANGUAGE sql AS $$ SELECT -1::bigint $$;
CREATE TABLE trap.pg_database (datname name, oid oid);
CREATE TABLE trap.pg_stat_activity (pid int);
SET search_path = trap, pg_catalog;
SELECT target FROM fsbench.run(:small);
RESET search_path;
DROP SCHEMA trap CASCADE;
