-- Facts that decide whether a run may be made on this server.
SELECT jsonb_build_object(
      'archive_mode', current_setting('archive_mode'),
      'synchronous_standby_names', current_setting('synchronous_standby_names'),
      'walsenders', (SELECT count(*) FROM pg_stat_replication),
      'slots', (SELECT count(*) FROM pg_replication_slots),
      'oldest_database', d.datname, 'oldest_age', age(d.datfrozenxid),
      'freeze_max_age', current_setting('autovacuum_freeze_max_age')::bigint,
      'max_wal_bytes', pg_size_bytes(current_setting('max_wal_size')),
      'wal_segment_bytes', pg_size_bytes(current_setting('wal_segment_size')),
      'wal_level', current_setting('wal_level'))
    FROM pg_database d WHERE datallowconn ORDER BY age(d.datfrozenxid) DESC LIMIT 1
