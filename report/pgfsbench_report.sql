-- Pages of what pgfsbench has measured. This file is put together by report/build from what stands in report/.
\echo Use "CREATE EXTENSION pgfsbench_report CASCADE" to load this file. \quit

CREATE FUNCTION fsbench._report_files() RETURNS TABLE (name text, text text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 3
    AS $files$
    SELECT 'page.css', $css$@page.css@$css$
    UNION ALL SELECT 'page.js', $js$@page.js@$js$
    UNION ALL SELECT 'plotly.js', $plotly$@plotly.js@$plotly$
    $files$;
COMMENT ON FUNCTION fsbench._report_files IS 'Style and scripts of pages: page.css, page.js, and plotly.js (MIT licence, Copyright Plotly, Inc.), which draws the charts. Private';

CREATE FUNCTION fsbench._report(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean,
    OUT page text, OUT refusal text[])
    LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp COST 100000
    AS $python$
@python@
return report_or_refusal(experiment, run_ids, history, metric, format, redact, force)
$python$;
COMMENT ON FUNCTION fsbench._report IS 'Makes pages, texts and pictures of experiments, runs and histories, or says why not: SQLSTATE, message, DETAIL and HINT. Private: called by fsbench._page()';

CREATE FUNCTION fsbench._page(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    made record;
BEGIN
    SELECT * INTO made FROM fsbench._report($1, $2, $3, $4, $5, $6, $7);
    IF made.refusal[3] IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2], DETAIL = made.refusal[3], HINT = coalesce(made.refusal[4], '');
    ELSIF made.refusal IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2];
    END IF;
    RETURN made.page;
END
$$;
COMMENT ON FUNCTION fsbench._page IS 'The same, with the refusal as an error. Private: called by fsbench.report() and fsbench.chart_svg()';

CREATE FUNCTION fsbench.report(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, format text DEFAULT 'html', redact boolean DEFAULT false,
    force boolean DEFAULT false, history text DEFAULT NULL, metric text DEFAULT 'tps') RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page(experiment, run_ids, history, coalesce(metric, 'tps'), CASE WHEN format = 'svg' THEN NULL ELSE format END, coalesce(redact, false), coalesce(force, false));
COMMENT ON FUNCTION fsbench.report IS 'A page about an experiment, about runs, or about a history (a label, as in fsbench.history), as one HTML file that can be mailed and opens without a network: psql -XAtqc "SELECT fsbench.report(''new server'')" -o report.html. format => ''text'' or ''markdown'': the answer and one table, for the mail itself. redact => true takes hosts, serial numbers, paths and labels out. force => true gives a large page to a terminal, too';

CREATE FUNCTION fsbench.chart_svg(experiment text, redact boolean DEFAULT false) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page(experiment, NULL, NULL, 'tps', 'svg', coalesce(redact, false), true);
COMMENT ON FUNCTION fsbench.chart_svg IS 'The verdict picture of an experiment alone, with a caption (runs, workload, version, machine): SVG, for print and for blogs';

REVOKE ALL ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page, fsbench.report, fsbench.chart_svg FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page, fsbench.report, fsbench.chart_svg TO pg_monitor;
