-- Upgrades pgfsbench from 0.2.0 to 0.3.0. What is new has the rights that sql/schema/5_rights.sql gives it: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor. What
-- operators get of it, the library gives them afterwards.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit
