-- Upgrades pgfsbench from 1.0.0 to 1.0.1. New objects get the rights of sql/schema/5_rights.sql here: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor.
-- The library grants them to operators after the upgrade.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit
