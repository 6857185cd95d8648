-- A row in each table that has none.
DO $$
DECLARE
    empty record;
    has_rows boolean;
BEGIN
    FOR empty IN
        SELECT t.oid::regclass AS name, string_agg(quote_ident(a.attname), ', ') AS columns,
            string_agg(CASE WHEN a.attname = 'run_id' THEN '1' WHEN a.attname = 'purpose' THEN $x$'free'$x$ WHEN a.attname = 'direction' THEN $x$'read'$x$ WHEN a.attname = 'part' THEN $x$'commits'$x$
                WHEN a.attname = 'kind' AND t.oid = 'fsbench.checkpoint'::regclass THEN $x$'checkpoint'$x$
                WHEN a.attname = 'operation' THEN $x$'flush'$x$ WHEN a.attname = 'outcome' THEN $x$'passed'$x$ WHEN y.typcategory = 'N' THEN '1' WHEN y.typcategory = 'S' THEN $x$'x'$x$
                WHEN y.typcategory = 'B' THEN 'true' WHEN y.typcategory = 'D' THEN 'now()' WHEN y.typcategory = 'T' THEN $x$'1 s'$x$
                ELSE $x$'{}'$x$ END, ', ') AS row_values
        FROM pg_extension e, unnest(e.extconfig) AS t (oid) JOIN pg_class c ON c.oid = t.oid AND c.relkind = 'r' JOIN pg_attribute a ON a.attrelid = t.oid JOIN pg_type y ON y.oid = a.atttypid
        WHERE e.extname = 'pgfsbench' AND a.attnum > 0 AND (a.attnotnull OR a.attname = 'run_id')
        GROUP BY 1
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', empty.name) INTO has_rows;
        IF NOT has_rows THEN
            EXECUTE format('INSERT INTO %s (%s) VALUES (%s)', empty.name, empty.columns, empty.row_values);
        END IF;
    END LOOP;
END
$$;
