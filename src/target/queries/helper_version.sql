-- The version of the helper whose session is still the one that has entered itself, and has the rights to: the server shows not
-- everybody when a session began.
SELECT s.helper_version FROM fsbench.helper_session s JOIN pg_stat_activity a
      ON a.pid = s.pid AND (a.backend_start = s.backend_start OR a.backend_start IS NULL)
    WHERE a.datname = current_database() AND a.application_name LIKE 'pgfsbench-helper %'
      AND EXISTS (SELECT FROM pg_class c WHERE c.oid = 'fsbench.helper_session'::regclass
        AND pg_has_role(a.usesysid, c.relowner, 'USAGE')) LIMIT 1
