-- Holders of xmin that keep dead rows of a work database, $1, from being pruned, except for the work in it.
SELECT 'session' AS kind, 'process ' || pid || coalesce(' in database ' || datname, '') AS name,
             age(backend_xid) AS age
      FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND backend_type NOT LIKE 'fsbench%' AND datid IS DISTINCT FROM $1::oid
    UNION ALL SELECT 'walsender', coalesce(application_name, '') || ' process ' || pid, age(backend_xmin)
      FROM pg_stat_replication WHERE backend_xmin IS NOT NULL
    UNION ALL SELECT 'slot', slot_name, age(xmin) FROM pg_replication_slots WHERE xmin IS NOT NULL
    UNION ALL SELECT 'prepared_transaction', gid, age(transaction) FROM pg_prepared_xacts
