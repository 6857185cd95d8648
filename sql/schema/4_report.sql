-- Pages are made by another extension, in PL/Python. What is called for them is here, so that it can say what is missing.

CREATE FUNCTION fsbench._page_by(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    page text;
BEGIN
    PERFORM fsbench._is_more_better($4);
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pgfsbench_report') THEN
        RAISE EXCEPTION 'pages need the extension "pgfsbench_report"' USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'It is not in this database.'
                      ELSE 'It is not in this database, and needs plpython3u, which is not installed on this machine.' END,
                  HINT = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'Have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.'
                      ELSE format('Install the package of PL/Python for PostgreSQL %s (on Debian and Ubuntu postgresql-plpython3-%s, on Red Hat and its kin postgresql%s-plpython3), then have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.',
                          current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000) END;
    END IF;
    IF to_regprocedure('fsbench._page(text, bigint[], text, text, text, boolean, boolean, text)') IS NULL THEN
        RAISE EXCEPTION 'the extension "pgfsbench_report" is older than pgfsbench' USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('It is of version %s, and pgfsbench is of %s.', (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench_report'),
                                  (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench')),
                  HINT = 'Have a superuser run ALTER EXTENSION pgfsbench_report UPDATE.';
    END IF;
    EXECUTE 'SELECT fsbench._page($1, $2, $3, $4, $5, $6, $7, $8)' INTO page USING $1, $2, $3, $4, $5, $6, $7, $8;
    RETURN page;
END
$$;
COMMENT ON FUNCTION fsbench._page_by IS 'Has the extension pgfsbench_report make a page, or says how to get it. Private: called by fsbench.report() and fsbench.chart_svg()';

CREATE FUNCTION fsbench.report(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, format text DEFAULT 'html', redact boolean DEFAULT false,
    force boolean DEFAULT false, history text DEFAULT NULL, metric text DEFAULT 'tps', study text DEFAULT NULL) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, run_ids, history, coalesce(metric, 'tps'), CASE WHEN format = 'svg' THEN 'SVG' ELSE format END, coalesce(redact, false), coalesce(force, false), study);
COMMENT ON FUNCTION fsbench.report IS 'A page about an experiment, about a study (by its name, or with study => where an experiment has the same), about runs, or about a history (a label, as in fsbench.history), as one HTML file that can be mailed and opens without a network: psql -XAtqc "SELECT fsbench.report(''new server'')" -o report.html. format => ''text'' or ''markdown'': the answer and one table, for the mail itself. redact => true takes hosts, serial numbers, paths and labels out. force => true gives a large page to a terminal, too. Needs the extension pgfsbench_report';

CREATE FUNCTION fsbench.chart_svg(experiment text, redact boolean DEFAULT false) RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, NULL, NULL, 'tps', 'svg', coalesce(redact, false), true, NULL);
COMMENT ON FUNCTION fsbench.chart_svg IS 'The verdict picture of an experiment alone, or the claims of a study, with a caption (runs, workload, version, machine): SVG, for print and for blogs. Needs the extension pgfsbench_report';
