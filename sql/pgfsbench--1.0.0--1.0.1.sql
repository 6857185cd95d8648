-- Upgrades pgfsbench from 1.0.0 to 1.0.1. New objects get the rights of sql/schema/5_rights.sql here: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor.
-- The library grants them to operators after the upgrade.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit
COMMENT ON COLUMN fsbench.progress.done IS 'Steps of the phase that are done: rows in load, statements in vacuum, milliseconds or transactions in warmup and measure, cycles of a search for the sustainable rate (of how many it can take at most); in provision, percent of the sync of an array that the helper makes; of the workload fsync, bytes of its file in provision and tests in measure; steps in maintenance';
