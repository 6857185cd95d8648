-- Every member of the extension (variable extension) with its full definition, its comments and its rights, and what a dump has of it, in a stable order.
-- Differences between a fresh schema and an upgraded one that mean nothing are left out: numbers of objects, and the order of columns, since a new
-- one comes last.
\pset format unaligned
\pset tuples_only on
SET search_path = pg_catalog;
SELECT pg_describe_object(d.classid, d.objid, 0),
       CASE d.classid
         WHEN 'pg_proc'::regclass THEN
              (SELECT CASE prokind WHEN 'a' THEN (SELECT concat_ws(' ', 'aggregate', aggtransfn, aggfinalfn, aggtranstype::regtype, agginitval)
                                                    FROM pg_aggregate WHERE aggfnoid = p.oid)
                                   ELSE pg_get_functiondef(oid) END
                 || coalesce((SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(proacl) a), '') || proowner::regrole
                FROM pg_proc p WHERE oid = d.objid)
         WHEN 'pg_class'::regclass THEN
              (SELECT concat_ws(E'\n', c.relkind, c.relpersistence, c.reloptions::text, c.relrowsecurity::text,
                 (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM unnest(relacl) a),
                 CASE WHEN relkind = 'v' THEN pg_get_viewdef(c.oid) END,
                 (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'NOT NULL' END,
                         attidentity, attgenerated, attstorage, nullif(ARRAY(SELECT o FROM unnest(attoptions) o WHERE o NOT LIKE 'pg_attver=%')::text, '{}'), attacl::text, pg_get_expr(adbin, adrelid), '-- ' || col_description(attrelid, attnum)), E'\n' ORDER BY attname)
                    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
                   WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
                 (SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\n' ORDER BY conname) FROM pg_constraint WHERE conrelid = c.oid),
                 (SELECT string_agg(pg_get_indexdef(indexrelid), E'\n' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = c.oid),
                 (SELECT string_agg(pg_get_triggerdef(oid) || tgenabled::text, E'\n' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
                 (SELECT string_agg(concat_ws(' ', polname, polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), E'\n' ORDER BY polname)
                    FROM pg_policy WHERE polrelid = c.oid),
                 (SELECT string_agg(pg_get_ruledef(oid), E'\n' ORDER BY rulename) FROM pg_rewrite WHERE ev_class = c.oid AND relkind <> 'v'),
                 (SELECT 'dumped ' || coalesce(e.extcondition[n], '') FROM generate_subscripts(e.extconfig, 1) n WHERE e.extconfig[n] = c.oid))
                FROM pg_class c WHERE c.oid = d.objid)
         WHEN 'pg_type'::regclass THEN (SELECT concat_ws(' ', typtype, typcategory, format_type(typbasetype, typtypmod)) FROM pg_type WHERE oid = d.objid)
         WHEN 'pg_namespace'::regclass THEN (SELECT array_to_string(nspacl, ',') FROM pg_namespace WHERE oid = d.objid)
         WHEN 'pg_event_trigger'::regclass THEN (SELECT concat_ws(' ', evtevent, evtfoid::regproc, evtenabled, evttags::text) FROM pg_event_trigger WHERE oid = d.objid)
       END,
       '-- ' || obj_description(d.objid, d.classid::regclass::name)
  FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = :'extension'
 ORDER BY pg_describe_object(d.classid, d.objid, 0) COLLATE "C";
