-- A role that owns a database has made a schema fsbench there, where the extension is not installed. Nothing of it is called.
CREATE DATABASE planted_schema;
\c planted_schema
CREATE SCHEMA fsbench;
CREATE FUNCTION fsbench._operators_have() RETURNS jsonb LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'it was called'; END$$;
ALTER EXTENSION pgfsbench UPDATE;
\set SHOW_CONTEXT never
CREATE EXTENSION pgfsbench;
\c contrib_regression
DROP DATABASE planted_schema;
