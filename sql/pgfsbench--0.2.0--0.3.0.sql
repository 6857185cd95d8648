-- Upgrades pgfsbench from 0.2.0 to 0.3.0. What is new has the rights that sql/schema/5_rights.sql gives it: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor. What
-- operators get of it, the library gives them afterwards.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit

-- Known in PostgreSQL 18, too.
COMMENT ON COLUMN fsbench.run_log.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.result.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.run_log.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.result.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.sample.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.sample.client_wal_syncs IS 'How often clients flushed WAL';
