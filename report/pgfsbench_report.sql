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

-- STABLE, so that all is read with one snapshot: what others remove meanwhile is on the page as a whole, or not at all. And nothing is written.
CREATE FUNCTION fsbench._report(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text,
    OUT page text, OUT refusal text[])
    LANGUAGE plpython3u STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 COST 100000
    AS $python$
@python@
return report_or_refusal(experiment, run_ids, history, metric, format, redact, force, study)
$python$;
COMMENT ON FUNCTION fsbench._report IS 'Makes pages, texts and pictures of experiments, studies, runs and histories, or says why not: SQLSTATE, message, DETAIL and HINT. Private: called by fsbench._page()';

CREATE FUNCTION fsbench._page(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    made record;
BEGIN
    SELECT * INTO made FROM fsbench._report($1, $2, $3, $4, $5, $6, $7, $8);
    IF made.refusal[3] IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2], DETAIL = made.refusal[3], HINT = coalesce(made.refusal[4], '');
    ELSIF made.refusal IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2];
    END IF;
    RETURN made.page;
END
$$;
COMMENT ON FUNCTION fsbench._page IS 'The same, with the refusal as an error. Private: called by fsbench.report() and fsbench.chart_svg()';

REVOKE ALL ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page TO pg_monitor;
