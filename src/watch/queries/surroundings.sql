-- Other work of the server during a run.
SELECT jsonb_build_object('started', extract(epoch FROM pg_postmaster_start_time()),
    'statistics_since', (SELECT extract(epoch FROM max(stats_reset)) FROM ({since}) s),
    'autovacuum', current_setting('autovacuum')::bool, 'archiving', current_setting('archive_mode') <> 'off',
    'walsenders', (SELECT count(*) FROM pg_stat_replication), 'slots', (SELECT count(*) FROM pg_replication_slots),
    'synchronous_standbys', current_setting('synchronous_standby_names') <> '')
