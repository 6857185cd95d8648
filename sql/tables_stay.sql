-- Tables of a run are in the work database's own tablespace, whatever the server, the database or the role have set.
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE fsbench_elsewhere LOCATION '';
RESET allow_in_place_tablespaces;
ALTER ROLE ALL SET default_tablespace = 'fsbench_elsewhere';
ALTER ROLE ALL SET temp_tablespaces = 'fsbench_elsewhere';
-- A session of a user has them.
\c -
SET client_min_messages = warning;
SHOW default_tablespace;
SELECT run_id AS tpcb FROM fsbench.run(scale => 1, clients => 1, transactions => 5, keep => true, options => '{"maintenance": true}') \gset
SELECT run_id AS commit FROM fsbench.run(workload => 'commit', clients => 1, transactions => 5, keep => true) \gset
SELECT run_id AS scan FROM fsbench.run(workload => 'scan', scale => 1, keep => true, options => '{"degrees": [1], "repeats": 1, "readers": []}') \gset
SELECT work_database AS tpcb FROM fsbench.result WHERE run_id = :tpcb \gset
SELECT work_database AS commit FROM fsbench.result WHERE run_id = :commit \gset
SELECT work_database AS scan FROM fsbench.result WHERE run_id = :scan \gset
-- Runs take none of these settings for their clients either.
\set VERBOSITY default
SELECT fsbench.start(scale => 1, clients => 1, transactions => 5, settings => '{"default_tablespace": "fsbench_elsewhere"}');
SELECT fsbench.start(scale => 1, clients => 1, transactions => 5, settings => '{"temp_tablespaces": "fsbench_elsewhere"}');
SELECT fsbench.start(scale => 1, clients => 1, transactions => 5, settings => '{"default_table_access_method": "heap"}');
\set VERBOSITY terse
ALTER ROLE ALL RESET default_tablespace;
ALTER ROLE ALL RESET temp_tablespaces;
SELECT datname LIKE 'fsbench_work_%' AS work_database, spcname FROM pg_database d JOIN pg_tablespace t ON t.oid = dattablespace
WHERE datname IN (:'tpcb', :'commit', :'scan') ORDER BY datname;
\c :tpcb
SELECT relname, relkind, reltablespace FROM pg_class WHERE relname ~ '^(pgbench|fsbench)_' ORDER BY relname;
\c :commit
SELECT relname, relkind, reltablespace FROM pg_class WHERE relname ~ '^(pgbench|fsbench)_' ORDER BY relname;
\c :scan
SELECT relname, relkind, reltablespace FROM pg_class WHERE relname ~ '^(pgbench|fsbench)_' ORDER BY relname;
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"tpcb";
DROP DATABASE :"commit";
DROP DATABASE :"scan";
-- Nothing is left in it.
DROP TABLESPACE fsbench_elsewhere;
