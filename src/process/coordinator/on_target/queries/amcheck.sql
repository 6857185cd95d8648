-- Checks all B-tree indexes with their tables, and all tables, as pg_amcheck does with --heapallindexed and --parent-check. A damaged index is an error.
WITH indexes AS (
    SELECT count(public.bt_index_parent_check(index => c.oid, heapallindexed => true)::text) AS checked
    FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam
    WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relpersistence = 'p' AND i.indisready AND i.indisvalid
), tables AS (
    SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'heap' AND c.relkind IN ('r', 't', 'm') AND c.relpersistence = 'p'
)
SELECT jsonb_build_object('relations', (SELECT checked FROM indexes) + (SELECT count(*) FROM tables),
    'damage', (SELECT format('table %s, block %s: %s', t.oid::regclass, v.blkno, v.msg)
       FROM tables t, public.verify_heapam(relation => t.oid, check_toast => true) v LIMIT 1))
