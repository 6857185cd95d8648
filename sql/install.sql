-- CREATE EXTENSION: its objects, their rights, and a comment on each.
\pset format unaligned
\pset tuples_only on

-- All objects of the extension, but for the types of rows, which are members of their own from PostgreSQL 17 on.
SELECT object FROM (SELECT pg_describe_object(classid, objid, 0) AS object FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND classid <> 'pg_type'::regclass
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pgfsbench')) o
ORDER BY object COLLATE "C";

SELECT extversion = fsbench.version() AS library_and_extension_agree, nspname AS schema, extrelocatable AS relocatable
FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pgfsbench';

-- Tables, views, sequences and functions without a comment: none.
SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'fsbench'::regnamespace AND relkind NOT IN ('i', 't')
  AND obj_description(c.oid, 'pg_class') IS NULL ORDER BY 1;
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace = 'fsbench'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL ORDER BY 1;

-- Columns of tables and views without a comment: none.
SELECT attrelid::regclass || '.' || attname FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
WHERE relnamespace = 'fsbench'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped
  AND col_description(attrelid, attnum) IS NULL
ORDER BY attrelid::regclass::text, attnum;

-- A comment is a phrase: it has no full stop at its end, and says something.
SELECT objoid::regclass, objsubid, description FROM pg_description WHERE classoid = 'pg_class'::regclass AND (description ~ '[.]$' OR length(description) < 3)
  AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'fsbench'::regnamespace);

-- Rights of PUBLIC: arithmetic only.
SELECT p.oid::regprocedure FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
WHERE pronamespace = 'fsbench'::regnamespace AND grantee = 0 ORDER BY 1;
SELECT c.oid::regclass FROM pg_class c, aclexplode(coalesce(relacl, acldefault('r', relowner))) a
WHERE relnamespace = 'fsbench'::regnamespace AND grantee = 0 AND relkind IN ('r', 'v', 'S') ORDER BY 1;
SELECT has_schema_privilege('public', 'fsbench', 'USAGE') OR has_schema_privilege('public', 'fsbench', 'CREATE') AS public_in_schema;

-- Functions in SQL and PL/pgSQL whose operators and functions the caller's search_path could choose: only the procedures, which
-- commit and so cannot have one of their own. They name the schema of each operator and function.
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = prolang
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pgfsbench')
WHERE lanname NOT IN ('c', 'internal') AND prosqlbody IS NULL
  AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false);
SELECT regexp_replace(prosrc, '--[^\n]*|''[^'']*''|HINT =|OPERATOR[(]pg_catalog[.][^)]+[)]|(fsbench|pg_catalog)[.][a-z_]+[(]', '', 'g') ~ '[-+*/<>=~!@#%^&|`?]|[a-z0-9_] *[(]' AS uses_operators_or_functions
FROM pg_proc WHERE oid IN ('fsbench.wait(bigint[])'::regprocedure, 'fsbench.wait_experiment(text)'::regprocedure);
-- None that works with the rights of its owner.
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace = 'fsbench'::regnamespace AND prosecdef ORDER BY p.oid::regprocedure::text COLLATE "C";
-- Tables that steer what the server and the helper do: rights on tables alone do not change them.
SELECT tgrelid::regclass FROM pg_trigger
WHERE tgfoid = 'fsbench._check_writer()'::regprocedure AND tgenabled = 'O' AND tgtype = 2 | 4 | 8 | 16 | 32
ORDER BY tgrelid::regclass::text COLLATE "C";

-- Functions that pg_monitor may call.
SELECT p.oid::regprocedure FROM pg_proc p, aclexplode(proacl) a
WHERE pronamespace = 'fsbench'::regnamespace AND grantee = 'pg_monitor'::regrole ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT c.relname FROM pg_class c
WHERE relnamespace = 'fsbench'::regnamespace AND relkind IN ('r', 'v')
  AND NOT has_table_privilege('pg_monitor', c.oid, 'SELECT');
SELECT c.relname FROM pg_class c
WHERE relnamespace = 'fsbench'::regnamespace AND relkind IN ('r', 'v')
  AND has_table_privilege('pg_monitor', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE');

-- Tables and sequences that pg_dump does not save: only what the helper sees of this machine, and its session.
SELECT c.oid::regclass FROM pg_class c
WHERE relnamespace = 'fsbench'::regnamespace AND relkind IN ('r', 'S')
  AND c.oid <> ALL (SELECT unnest(extconfig) FROM pg_extension WHERE extname = 'pgfsbench') ORDER BY 1;

-- The settings of the server.
SELECT name, coalesce(unit, '-'), context, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'pgfsbench.%' ORDER BY name;

-- The columns of what run, wait and the main view give.
SELECT proname, pg_get_function_result(oid) FROM pg_proc
WHERE pronamespace = 'fsbench'::regnamespace AND proname IN ('run', 'wait') AND prokind = 'f' ORDER BY 1;
SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'fsbench.result'::regclass AND attnum > 0 ORDER BY attnum;

-- run and start take the same.
SELECT count(DISTINCT pg_get_function_arguments(oid)) = 1 AS same_arguments FROM pg_proc
WHERE pronamespace = 'fsbench'::regnamespace AND proname IN ('run', 'start');

-- Dropped and created again, in a database of its own.
CREATE DATABASE fsbench_install;
\c fsbench_install
CREATE EXTENSION pgfsbench;
DROP EXTENSION pgfsbench;
-- The schema is the database's by then, and empty.
SELECT count(*) FROM pg_class WHERE relnamespace = 'fsbench'::regnamespace;
CREATE EXTENSION pgfsbench SCHEMA public;
SELECT default_version FROM pg_available_extensions WHERE name = 'pgfsbench' \gset
CREATE EXTENSION pgfsbench VERSION :'default_version';
\c contrib_regression
DROP DATABASE fsbench_install;
