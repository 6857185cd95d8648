-- Upgrades pgfsbench from 0.2.0 to 0.3.0. What is new has the rights that sql/schema/5_rights.sql gives it: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor. What
-- operators get of it, the library gives them afterwards.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit

-- Known in PostgreSQL 18, too.
COMMENT ON COLUMN fsbench.run_log.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.result.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.run_log.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.result.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.sample.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.sample.client_wal_syncs IS 'How often clients flushed WAL';
-- Studies: published benchmarks that are repeated here. What is claimed, and what was measured.

CREATE TABLE fsbench.study_definition (
    study      text PRIMARY KEY,
    definition jsonb NOT NULL,
    defined_by name NOT NULL DEFAULT session_user,
    defined_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study_definition IS 'Studies that somebody has defined (fsbench.define_study); read them with those that come with pgfsbench through the view fsbench.study_definitions';
COMMENT ON COLUMN fsbench.study_definition.study IS 'Name';
COMMENT ON COLUMN fsbench.study_definition.definition IS 'Claims, variants, questions and published figures, as docs/studies.md describes them';
COMMENT ON COLUMN fsbench.study_definition.defined_by IS 'Role that has defined it';
COMMENT ON COLUMN fsbench.study_definition.defined_at IS 'When';

CREATE TABLE fsbench.study (
    study        text PRIMARY KEY,
    definition   jsonb NOT NULL,
    asked        jsonb NOT NULL,
    facts        jsonb NOT NULL,
    requested_by name NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study IS 'Studies that were started in this database';
COMMENT ON COLUMN fsbench.study.study IS 'Name';
COMMENT ON COLUMN fsbench.study.definition IS 'As it was when it was started: what was claimed before the first run is what is judged';
COMMENT ON COLUMN fsbench.study.asked IS 'Arguments as given';
COMMENT ON COLUMN fsbench.study.facts IS 'What of this machine and server decided what was left out: kernel, memory, processors, version, filesystems that are missing, and why';
COMMENT ON COLUMN fsbench.study.requested_by IS 'Role that asked';
COMMENT ON COLUMN fsbench.study.created_at IS 'When it was recorded';

CREATE TABLE fsbench.study_experiment (
    study         text NOT NULL REFERENCES fsbench.study ON DELETE CASCADE,
    question      text NOT NULL,
    experiment_id bigint NOT NULL UNIQUE REFERENCES fsbench.experiment ON DELETE CASCADE,
    PRIMARY KEY (study, question)
);
COMMENT ON TABLE fsbench.study_experiment IS 'The experiments of each study, one a question';
COMMENT ON COLUMN fsbench.study_experiment.study IS 'Study';
COMMENT ON COLUMN fsbench.study_experiment.question IS 'Question of its definition';
COMMENT ON COLUMN fsbench.study_experiment.experiment_id IS 'Experiment that answers it';

CREATE TABLE fsbench.study_target (
    study       text NOT NULL REFERENCES fsbench.study ON DELETE CASCADE,
    variant     text NOT NULL,
    target_name text NOT NULL,
    PRIMARY KEY (study, variant)
);
COMMENT ON TABLE fsbench.study_target IS 'The targets that each study has made';
COMMENT ON COLUMN fsbench.study_target.study IS 'Study';
COMMENT ON COLUMN fsbench.study_target.variant IS 'Variant of its definition';
COMMENT ON COLUMN fsbench.study_target.target_name IS 'Target in fsbench.target';

-- They steer which filesystems are made, and which are removed.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['study_definition', 'study', 'study_experiment', 'study_target'] LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER check_writer BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON fsbench.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION fsbench._check_writer()', name);
        EXECUTE pg_catalog.format('COMMENT ON TRIGGER check_writer ON fsbench.%I IS %L', name, 'Only the owner of the extension changes studies');
    END LOOP;
END
$$;

SELECT pg_catalog.pg_extension_config_dump('fsbench.study_definition', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_experiment', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_target', '');

-- What users call and read of studies.

CREATE FUNCTION fsbench._builtin_studies() RETURNS TABLE (study text, definition text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 6
    AS 'MODULE_PATHNAME', 'fsbench_builtin_studies_wrapper';
COMMENT ON FUNCTION fsbench._builtin_studies IS 'The studies that come with pgfsbench, as JSON. Private; read fsbench.study_definitions';

CREATE FUNCTION fsbench._study(asked jsonb, plan_only boolean) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_study_wrapper';
COMMENT ON FUNCTION fsbench._study IS 'Starts a study, or only says what that would be. Private: called by fsbench.study() and study_plan()';

CREATE FUNCTION fsbench.study(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL)
    RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._study(pg_catalog.jsonb_build_object('study', study, 'image_size', image_size, 'device', device, 'part', part, 'quick', quick,
        'period', period, 'scale', scale, 'duration_us', (CASE WHEN EXTRACT(epoch FROM duration) OPERATOR(pg_catalog.>) 1e9::numeric THEN 1e9::numeric ELSE EXTRACT(epoch FROM duration) END
        OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'blocks', blocks,
        'log_device', log_device, 'bindir', bindir, 'power_loss_protected', power_loss_protected, 'start', start,
        'misaligned_device', misaligned_device), false);
COMMENT ON FUNCTION fsbench.study IS 'Repeats a published benchmark on an image or a device of this machine: makes its targets, and starts an experiment for each question of the part. Returns its name at once. See fsbench.study_claims() and fsbench.study_report(). quick: an hour''s worth in ten minutes; scale, duration and blocks shrink or enlarge it. period: with the settings of its time (true), of today (false), or those of its time only beside the published table (NULL). log_device: for variants whose log is elsewhere; bindir: a second build of the server; misaligned_device: a partition of the same disk that is misaligned on purpose; power_loss_protected: of the device, as in fsbench.create_target(); start => false only records it';

CREATE FUNCTION fsbench.study_plan(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL)
    RETURNS TABLE (part text, item text, says text)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 60 SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT r.part, r.item, r.says FROM jsonb_to_recordset(fsbench._study(jsonb_build_object('study', $1, 'image_size', $2, 'device', $3, 'part', $4,
        'quick', $5, 'period', $6, 'scale', $7, 'duration_us', (CASE WHEN EXTRACT(epoch FROM $8) > 1e9 THEN 1e9 ELSE EXTRACT(epoch FROM $8) END * 1e6)::bigint, 'blocks', $9, 'log_device', $10, 'bindir', $11,
        'power_loss_protected', $12, 'start', $13, 'misaligned_device', $14), true)::jsonb) AS r (part text, item text, says text)
    $$;
COMMENT ON FUNCTION fsbench.study_plan IS 'What fsbench.study() would do with these arguments, which it changes nothing by: its experiments, what they need, what is left out here and what would bring it, how each claim is decided, and run by run';

CREATE FUNCTION fsbench.study_claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20
    AS 'MODULE_PATHNAME', 'fsbench_study_claims_wrapper';
COMMENT ON FUNCTION fsbench.study_claims IS 'Each claim of a study: what is claimed (says), what the author saw (seen), what decides it, and whether it holds here: holds, does not hold, inconclusive or not tested. estimate, low, high: the ratio that decides with its interval; by ranges of the runs that of the medians, and of the ranges; of a knee degrees';

CREATE FUNCTION fsbench.study_report(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 30
    AS 'MODULE_PATHNAME', 'fsbench_study_report_wrapper';
COMMENT ON FUNCTION fsbench.study_report IS 'The author''s table with ours beside it, each also in percent of its best: figures of two machines are not compared. ratio, low, high: here, to the baseline of the question. compared: whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';

CREATE FUNCTION fsbench.study_pairs(study text)
    RETURNS TABLE (question text, variant text, compared_with text, metric text, published_ratio float8, there text, ratio float8, low float8, high float8,
        here text, compared text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 40
    AS 'MODULE_PATHNAME', 'fsbench_study_pairs_wrapper';
COMMENT ON FUNCTION fsbench.study_pairs IS 'Each two variants of which the author has published figures: how they stood to each other there (more, less, or not told apart: their runs overlap), how they do here, and what that comes to (compared): same order, reversed, not told apart there or here, or not tested. Pairs without the baseline were not declared: all of them together are wrong as rarely as one comparison, so that their intervals are the wider the more they are';

CREATE FUNCTION fsbench.define_study(definition jsonb) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_define_study_wrapper';
COMMENT ON FUNCTION fsbench.define_study IS 'Records a study of your own, in the form of those that come with pgfsbench (fsbench.study_definitions), checked as strictly, or puts it in place of one that you have defined before; returns its name';

CREATE FUNCTION fsbench.drop_study(study text, keep_runs boolean DEFAULT false) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_drop_study_wrapper';
COMMENT ON FUNCTION fsbench.drop_study IS 'Removes a study that was started and is not on, with its experiments, and with its targets and runs unless keep_runs; of one that was not started the definition, if it is your own. Returns its name';

CREATE VIEW fsbench.study_definitions AS
    SELECT b.study, b.definition::jsonb AS definition, false AS is_own FROM fsbench._builtin_studies() b
    UNION ALL SELECT o.study, o.definition, true FROM fsbench.study_definition o;
COMMENT ON VIEW fsbench.study_definitions IS 'Studies as they are defined: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.study_definitions.study IS 'Name';
COMMENT ON COLUMN fsbench.study_definitions.definition IS 'Claims, variants, questions and published figures, as fsbench.define_study() takes them';
COMMENT ON COLUMN fsbench.study_definitions.is_own IS 'Whether somebody has defined it here';

CREATE VIEW fsbench.studies AS
    SELECT d.study, d.definition ->> 'title' AS title, d.definition ->> 'author' AS author, (d.definition ->> 'year')::integer AS year,
           ARRAY(SELECT q.part FROM pg_catalog.jsonb_array_elements(d.definition -> 'questions') WITH ORDINALITY AS e (question, place),
                 LATERAL (SELECT e.question ->> 'part' AS part) q GROUP BY q.part ORDER BY pg_catalog.min(e.place)) AS parts,
           pg_catalog.jsonb_array_length(d.definition -> 'claims') AS claims, d.is_own,
           CASE WHEN s.study IS NULL THEN NULL
                WHEN n.open > 0 THEN 'on' ELSE 'over' END AS status,
           s.created_at, n.experiments
    FROM fsbench.study_definitions d
    LEFT JOIN fsbench.study s USING (study)
    LEFT JOIN LATERAL (SELECT pg_catalog.array_agg(e.experiment ORDER BY e.experiment_id) AS experiments,
                              pg_catalog.count(*) FILTER (WHERE e.status NOT IN ('done', 'cancelled')) AS open
        FROM fsbench.study_experiment x JOIN fsbench.experiment e USING (experiment_id) WHERE x.study = d.study) n ON true
    ORDER BY d.is_own, d.definition ->> 'year', d.study;
COMMENT ON VIEW fsbench.studies IS 'Studies that fsbench.study() repeats: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.studies.study IS 'Name';
COMMENT ON COLUMN fsbench.studies.title IS 'Title';
COMMENT ON COLUMN fsbench.studies.author IS 'Author';
COMMENT ON COLUMN fsbench.studies.year IS 'Year of its publication';
COMMENT ON COLUMN fsbench.studies.parts IS 'Parts: one is made at a time, or all';
COMMENT ON COLUMN fsbench.studies.claims IS 'How many claims it has';
COMMENT ON COLUMN fsbench.studies.is_own IS 'Whether somebody has defined it here';
COMMENT ON COLUMN fsbench.studies.status IS 'on while an experiment of it is not over, over after that; NULL: not started here';
COMMENT ON COLUMN fsbench.studies.created_at IS 'When it was started here';
COMMENT ON COLUMN fsbench.studies.experiments IS 'Names of its experiments, in the order in which they are made';

CREATE VIEW fsbench.published AS
    SELECT d.study, f.variant, f.metric, f.value, f.unit, f.runs, f.remark, coalesce(f.source, d.definition ->> 'source') AS source
    FROM fsbench.study_definitions d,
         LATERAL ROWS FROM (pg_catalog.jsonb_to_recordset(d.definition -> 'published')
             AS (variant text, metric text, value float8, unit text, runs float8[], remark text, source text)) WITH ORDINALITY
             AS f (variant, metric, value, unit, runs, remark, source, place)
    ORDER BY d.is_own, d.definition ->> 'year', d.study, f.place;
COMMENT ON VIEW fsbench.published IS 'The figures that the authors of studies have published, of their machines; fsbench.study_report() has ours beside them';
COMMENT ON COLUMN fsbench.published.study IS 'Study';
COMMENT ON COLUMN fsbench.published.variant IS 'Variant that it is of';
COMMENT ON COLUMN fsbench.published.metric IS 'What was measured, in the author''s words';
COMMENT ON COLUMN fsbench.published.value IS 'Figure';
COMMENT ON COLUMN fsbench.published.unit IS 'Its unit';
COMMENT ON COLUMN fsbench.published.runs IS 'Each run, where they were published';
COMMENT ON COLUMN fsbench.published.remark IS 'What is to be known about it';
COMMENT ON COLUMN fsbench.published.source IS 'Where it was published';

-- What pages and pictures of studies are drawn from.
CREATE VIEW fsbench.chart_claim AS
    SELECT s.study, c.number::integer AS number, c.claim, c.says, c.seen, c.decided_by, c.here, d.question, d.variant, d.compared_with, d.metric, d.expected, d.factor, d.rule,
           (SELECT (q.question ->> 'margin')::float8 FROM pg_catalog.jsonb_array_elements(s.definition -> 'questions') q (question)
            WHERE q.question ->> 'question' = d.question) AS margin,
           c.estimate, c.low, c.high, c.why
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench.study_claims(s.study) WITH ORDINALITY
        AS c (claim, says, seen, decided_by, here, estimate, low, high, why, number)
    LEFT JOIN LATERAL (
        SELECT e.decision ->> 'question' AS question, e.decision ->> 'variant' AS variant, e.decision ->> 'with' AS compared_with, e.decision ->> 'metric' AS metric,
               e.decision ->> 'expected' AS expected, (e.decision ->> 'factor')::float8 AS factor, e.decision ->> 'by' AS rule
        FROM pg_catalog.jsonb_array_elements(s.definition -> 'claims') o (claim), LATERAL (SELECT o.claim -> 'decision' AS decision) e
        WHERE o.claim ->> 'claim' = c.claim AND pg_catalog.jsonb_typeof(e.decision) = 'object') d ON true;
COMMENT ON VIEW fsbench.chart_claim IS 'Claims of studies that were started, as fsbench.study_claims() judges them, to be drawn: with what they are about';
COMMENT ON COLUMN fsbench.chart_claim.study IS 'Study';
COMMENT ON COLUMN fsbench.chart_claim.number IS 'Place of the claim in its study, from 1';
COMMENT ON COLUMN fsbench.chart_claim.claim IS 'Claim';
COMMENT ON COLUMN fsbench.chart_claim.says IS 'What is claimed';
COMMENT ON COLUMN fsbench.chart_claim.seen IS 'What the author saw';
COMMENT ON COLUMN fsbench.chart_claim.decided_by IS 'What decides it, in words';
COMMENT ON COLUMN fsbench.chart_claim.here IS 'holds, does not hold, inconclusive or not tested';
COMMENT ON COLUMN fsbench.chart_claim.question IS 'Question of the study that decides; NULL: nothing does';
COMMENT ON COLUMN fsbench.chart_claim.variant IS 'Variant that it is about';
COMMENT ON COLUMN fsbench.chart_claim.compared_with IS 'Variant that this is compared with';
COMMENT ON COLUMN fsbench.chart_claim.metric IS 'By which metric';
COMMENT ON COLUMN fsbench.chart_claim.expected IS 'more, less, same or knee';
COMMENT ON COLUMN fsbench.chart_claim.factor IS 'At least so many times (more), or at most (less); NULL: more or less than once';
COMMENT ON COLUMN fsbench.chart_claim.rule IS 'interval, ranges or knee';
COMMENT ON COLUMN fsbench.chart_claim.margin IS 'Margin of the question, within which two are the same';
COMMENT ON COLUMN fsbench.chart_claim.estimate IS 'Ratio that decides, here; of a knee its degree';
COMMENT ON COLUMN fsbench.chart_claim.low IS 'Low end of its interval';
COMMENT ON COLUMN fsbench.chart_claim.high IS 'High end of it';
COMMENT ON COLUMN fsbench.chart_claim.why IS 'Why it is judged so';

CREATE VIEW fsbench.chart_published AS
    SELECT s.study, r.number::integer AS number, r.question, r.variant, r.metric, r.published, r.unit, r.published_percent, r.measured, r.measured_percent, r.runs,
           r.ratio, r.low, r.high, r.compared, r.remark
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench.study_report(s.study) WITH ORDINALITY
        AS r (question, variant, metric, published, unit, published_percent, measured, measured_percent, runs, ratio, low, high, compared, remark, number);
COMMENT ON VIEW fsbench.chart_published IS 'Tables of fsbench.study_report() of studies that were started, to be drawn: what the author has published, with ours beside it';
COMMENT ON COLUMN fsbench.chart_published.study IS 'Study';
COMMENT ON COLUMN fsbench.chart_published.number IS 'Place in the table, from 1';
COMMENT ON COLUMN fsbench.chart_published.question IS 'Question; NULL: nothing of ours stands beside it';
COMMENT ON COLUMN fsbench.chart_published.variant IS 'Variant';
COMMENT ON COLUMN fsbench.chart_published.metric IS 'Metric';
COMMENT ON COLUMN fsbench.chart_published.published IS 'Figure of the author, of his machine';
COMMENT ON COLUMN fsbench.chart_published.unit IS 'Its unit';
COMMENT ON COLUMN fsbench.chart_published.published_percent IS 'The same in per cent of his best';
COMMENT ON COLUMN fsbench.chart_published.measured IS 'Mean of the runs that count here';
COMMENT ON COLUMN fsbench.chart_published.measured_percent IS 'The same in per cent of the best here';
COMMENT ON COLUMN fsbench.chart_published.runs IS 'How many runs count';
COMMENT ON COLUMN fsbench.chart_published.ratio IS 'Ratio to the baseline of the question, here';
COMMENT ON COLUMN fsbench.chart_published.low IS 'Low end of its interval';
COMMENT ON COLUMN fsbench.chart_published.high IS 'High end of it';
COMMENT ON COLUMN fsbench.chart_published.compared IS 'Whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';
COMMENT ON COLUMN fsbench.chart_published.remark IS 'What is to be known about it';

-- They know studies. pgfsbench_report is upgraded by itself, afterwards.
DROP FUNCTION fsbench.report(text, bigint[], text, boolean, boolean, text, text);
CREATE FUNCTION fsbench._page_by(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    page text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pgfsbench_report') THEN
        RAISE EXCEPTION 'pages need the extension "pgfsbench_report"'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'It is not in this database.'
                      ELSE 'It is not in this database, and needs plpython3u, which is not installed on this machine.' END,
                  HINT = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'Have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.'
                      ELSE format('Install the package of PL/Python for PostgreSQL %s (on Debian and Ubuntu postgresql-plpython3-%s, on Red Hat and its kin postgresql%s-plpython3), then have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.',
                          current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000) END;
    END IF;
    IF to_regprocedure('fsbench._page(text, bigint[], text, text, text, boolean, boolean, text)') IS NULL THEN
        RAISE EXCEPTION 'the extension "pgfsbench_report" is older than pgfsbench'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('It is of version %s, and pgfsbench is of %s.', (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench_report'),
                                  (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench')),
                  HINT = 'Have a superuser run ALTER EXTENSION pgfsbench_report UPDATE.';
    END IF;
    EXECUTE 'SELECT fsbench._page($1, $2, $3, $4, $5, $6, $7, $8)' INTO page USING $1, $2, $3, $4, $5, $6, $7, $8;
    RETURN page;
END
$$;

CREATE FUNCTION fsbench.report(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, format text DEFAULT 'html', redact boolean DEFAULT false,
    force boolean DEFAULT false, history text DEFAULT NULL, metric text DEFAULT 'tps', study text DEFAULT NULL) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, run_ids, history, coalesce(metric, 'tps'), CASE WHEN format = 'svg' THEN 'SVG' ELSE format END, coalesce(redact, false), coalesce(force, false), study);
COMMENT ON FUNCTION fsbench.report IS 'A page about an experiment, about a study (by its name, or with study => where an experiment has the same), about runs, or about a history (a label, as in fsbench.history), as one HTML file that can be mailed and opens without a network: psql -XAtqc "SELECT fsbench.report(''new server'')" -o report.html. format => ''text'' or ''markdown'': the answer and one table, for the mail itself. redact => true takes hosts, serial numbers, paths and labels out. force => true gives a large page to a terminal, too. Needs the extension pgfsbench_report';

CREATE OR REPLACE FUNCTION fsbench.chart_svg(experiment text, redact boolean DEFAULT false) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, NULL, NULL, 'tps', 'svg', coalesce(redact, false), true, NULL);
COMMENT ON FUNCTION fsbench.chart_svg IS 'The verdict picture of an experiment alone, or the claims of a study, with a caption (runs, workload, version, machine): SVG, for print and for blogs. Needs the extension pgfsbench_report';
DROP FUNCTION fsbench._page_by(text, bigint[], text, text, text, boolean, boolean);
COMMENT ON FUNCTION fsbench._page_by IS 'Has the extension pgfsbench_report make a page, or says how to get it. Private: called by fsbench.report() and fsbench.chart_svg()';

ALTER VIEW fsbench.study_definitions SET (security_invoker = true);
ALTER VIEW fsbench.studies SET (security_invoker = true);
ALTER VIEW fsbench.published SET (security_invoker = true);
ALTER VIEW fsbench.chart_claim SET (security_invoker = true);
ALTER VIEW fsbench.chart_published SET (security_invoker = true);
REVOKE ALL ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.study_definitions, fsbench.studies, fsbench.published,
    fsbench.chart_claim, fsbench.chart_published FROM PUBLIC;
REVOKE ALL ON FUNCTION fsbench._builtin_studies, fsbench._study, fsbench.study, fsbench.study_plan, fsbench.study_claims, fsbench.study_report,
    fsbench.define_study, fsbench.drop_study FROM PUBLIC;
GRANT SELECT ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.study_definitions, fsbench.studies, fsbench.published,
    fsbench.chart_claim, fsbench.chart_published TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench._builtin_studies(), fsbench.study_claims(text), fsbench.study_report(text) TO pg_monitor;
REVOKE ALL ON FUNCTION fsbench.report, fsbench._page_by FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench.report, fsbench._page_by TO pg_monitor;
REVOKE ALL ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.study_definitions, fsbench.studies, fsbench.published FROM PUBLIC;
REVOKE ALL ON FUNCTION fsbench._builtin_studies, fsbench._study, fsbench.study, fsbench.study_plan, fsbench.study_claims, fsbench.study_report, fsbench.study_pairs,
    fsbench.define_study, fsbench.drop_study FROM PUBLIC;
GRANT SELECT ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.study_definitions, fsbench.studies, fsbench.published TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench._builtin_studies(), fsbench.study_claims(text), fsbench.study_report(text), fsbench.study_pairs(text) TO pg_monitor;

CREATE OR REPLACE FUNCTION fsbench._metric(run_id bigint, metric text) RETURNS float8
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE $2
        WHEN 'tps' THEN r.tps
        WHEN 'missed' THEN (r.skipped + r.late)::float8
        WHEN 'even_seconds' THEN 1 - r.stall_seconds / nullif(r.measured_ms / 1000, 0)
        WHEN 'tps_cv' THEN (SELECT (stddev_samp(s.transactions / s.interval_ms) / nullif(avg(s.transactions / s.interval_ms), 0))::float8
            FROM fsbench.sample s WHERE s.run_id = r.run_id AND s.interval_ms > 0)
        WHEN 'recovery_ms' THEN (SELECT y.recovery_ms FROM fsbench.recovery y WHERE y.run_id = r.run_id)
        WHEN 'maintenance_ms' THEN (SELECT sum(m.ms) FROM fsbench.maintenance m WHERE m.run_id = r.run_id)
        WHEN 'scan_bytes_per_s' THEN (SELECT 1e9 * max(d.gb) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) AS gb
            FROM fsbench.scan s WHERE s.run_id = r.run_id AND s.used GROUP BY s.degree) d)
        WHEN 'load_gb_per_s' THEN (SELECT max(s.bytes) FROM fsbench.scan s WHERE s.run_id = r.run_id) / 1e6 / nullif(r.load_ms, 0)
        ELSE CASE WHEN starts_with($2, 'scan_ms_at_')
            THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FROM fsbench.scan s
                WHERE s.run_id = r.run_id AND s.used AND s.degree = substr($2, 12)::integer)
            ELSE (to_jsonb(r) ->> $2)::float8 END END
        FROM fsbench.run_log r WHERE r.run_id = $1);

CREATE OR REPLACE FUNCTION fsbench._operator_rights(verb text, preposition text, role regrole) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    what text;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'role must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It says who may run benchmarks.',
                  HINT = 'Give the name of a role.';
    END IF;
    FOR what IN
        SELECT r.what FROM (
            SELECT 'USAGE ON SCHEMA fsbench'
            UNION ALL SELECT 'SELECT ON ALL TABLES IN SCHEMA fsbench'
            UNION ALL SELECT format('EXECUTE ON ROUTINE %s', p.oid::regprocedure)
            FROM pg_proc p, aclexplode(p.proacl) a
            WHERE p.pronamespace = 'fsbench'::regnamespace AND a.grantee = 'pg_monitor'::regrole AND a.privilege_type = 'EXECUTE') r (what)
        WHERE role <> 'pg_monitor'::regrole
        UNION ALL
        VALUES ('INSERT, UPDATE ON TABLE fsbench.acknowledgement'),
            ('EXECUTE ON FUNCTION fsbench.run, fsbench.start, fsbench.sustainable_rate, fsbench.cancel, fsbench._renew_lease, fsbench._repeat, fsbench.acknowledge, '
             'fsbench._experiment, fsbench.experiment, fsbench.plan_experiment, fsbench._change_experiment, fsbench.pause_experiment, fsbench.resume_experiment, '
             'fsbench.cancel_experiment, fsbench.extend_experiment, fsbench.confirm_experiment, fsbench.drop_experiment, fsbench._change_imported, fsbench.import, fsbench.drop_imported, fsbench._study, '
             'fsbench.study, fsbench.study_plan, fsbench.drop_study')
    LOOP
        EXECUTE format('%s %s %s %s', verb, what, preposition, role);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION fsbench.help() RETURNS TABLE (verb text, what text, example text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    VALUES
        ('doctor', 'what is here, what is missing', 'SELECT * FROM fsbench.doctor()'),
        ('run', 'makes a run, and waits for it', 'SELECT * FROM fsbench.run(target => ''xfs'')'),
        ('sustainable_rate', 'how fast it can go at 20 ms', 'SELECT * FROM fsbench.sustainable_rate(''xfs'', 20)'),
        ('start', 'starts a run or queues it', 'SELECT fsbench.start(scale => 10, clients => 8)'),
        ('wait', 'waits for a run, and shows it', 'SELECT * FROM fsbench.wait(7)'),
        ('wait', 'waits for runs, holding nothing', 'CALL fsbench.wait(7)'),
        ('cancel', 'cancels a run', 'SELECT fsbench.cancel(7)'),
        ('judge', 'judges a run again', 'SELECT * FROM fsbench.judge(7)'),
        ('findings', 'in what several runs differ', 'SELECT * FROM fsbench.findings(''{7,8}'')'),
        ('diff', 'what differs between two runs', 'SELECT * FROM fsbench.diff(7, 8)'),
        ('percentile', 'any percentile of its latency', 'SELECT fsbench.percentile(0.999, 7)'),
        ('bucket_low_ms', 'where a histogram bucket begins', 'SELECT fsbench.bucket_low_ms(700)'),
        ('bucket_high_ms', 'where it ends', 'SELECT fsbench.bucket_high_ms(700)'),
        ('wait_profile', 'what a run''s clients waited for', 'SELECT * FROM fsbench.wait_profile(7)'),
        ('scan_curve', 'speed of scans, by degree', 'SELECT * FROM fsbench.scan_curve(7)'),
        ('scan_knee', 'where more workers do not help', 'SELECT * FROM fsbench.scan_knee(7)'),
        ('knee', 'the same of any curve', 'SELECT * FROM fsbench.knee(''{1,2,4}'', ''{9,5,5}'')'),
        ('chart', 'a run by second, as a chart', 'SELECT fsbench.chart(7)'),
        ('chart_scan', 'speed of scans, as a chart', 'SELECT fsbench.chart_scan(7)'),
        ('chart_experiment', 'verdicts, as a chart', 'SELECT fsbench.chart_experiment(''new'')'),
        ('evidence', 'a run, for the storage team', 'SELECT * FROM fsbench.evidence(7)'),
        ('history', 'nights of a label, and changes', 'SELECT * FROM fsbench.history(''nightly'')'),
        ('check_history', 'an error when it got worse', 'SELECT * FROM fsbench.check_history(''nightly'')'),
        ('acknowledge', 'accepts a change for the worse', 'SELECT fsbench.acknowledge(7, ''new disk'')'),
        ('thin', 'forgets seconds of old runs', 'SELECT * FROM fsbench.thin(''90 days'', only_say => true)'),
        ('report', 'a page to send', 'SELECT fsbench.report(''new'')'),
        ('chart_svg', 'its verdicts, as a picture', 'SELECT fsbench.chart_svg(''new'')'),
        ('export', 'an experiment, to be taken away', 'SELECT fsbench.export(''new'')'),
        ('import', 'reads what others have exported', 'SELECT * FROM fsbench.import(:''file'', ''db1'')'),
        ('drop_imported', 'forgets what came of a host', 'SELECT fsbench.drop_imported(''db1'')'),
        ('chart_history', 'nights of a label, as a chart', 'SELECT fsbench.chart_history(''nightly'')'),
        ('experiment', 'finds out which is best', 'SELECT fsbench.experiment(''new'', ''{ext4,xfs}'')'),
        ('plan_experiment', 'what that would do', 'SELECT * FROM fsbench.plan_experiment(''new'', ''{ext4,xfs}'')'),
        ('compare', 'what it says of each target', 'SELECT * FROM fsbench.compare(''new'')'),
        ('compare_runs', 'two runs side by side', 'SELECT * FROM fsbench.compare_runs(7, 8)'),
        ('recommend', 'what to do then', 'SELECT * FROM fsbench.recommend(''new'')'),
        ('wait_experiment', 'waits until it is over', 'CALL fsbench.wait_experiment(''new'')'),
        ('pause_experiment', 'makes no further run of it', 'SELECT fsbench.pause_experiment(''new'')'),
        ('resume_experiment', 'goes on with it', 'SELECT fsbench.resume_experiment(''new'')'),
        ('cancel_experiment', 'ends it with what is known', 'SELECT fsbench.cancel_experiment(''new'')'),
        ('extend_experiment', 'makes more blocks', 'SELECT fsbench.extend_experiment(''new'', 16)'),
        ('confirm_experiment', 'makes it once more', 'SELECT fsbench.confirm_experiment(''new'')'),
        ('drop_experiment', 'forgets it, keeps results', 'SELECT fsbench.drop_experiment(''new'')'),
        ('study_plan', 'what a study would do', 'SELECT * FROM fsbench.study_plan(''heron-2010'', ''4GB'')'),
        ('study', 'repeats a published benchmark', 'SELECT fsbench.study(''heron-2010'', ''4GB'')'),
        ('study_claims', 'which of its claims hold here', 'SELECT * FROM fsbench.study_claims(''heron-2010'')'),
        ('study_report', 'its table, ours beside it', 'SELECT * FROM fsbench.study_report(''heron-2010'')'),
        ('study_pairs', 'do two stand as they did there?', 'SELECT * FROM fsbench.study_pairs(''heron-2010'')'),
        ('define_study', 'records a study of your own', 'SELECT fsbench.define_study(''{"study": "own"}'')'),
        ('drop_study', 'forgets what was made of it', 'SELECT fsbench.drop_study(''heron-2010'')'),
        ('verdict', 'is the difference real?', 'SELECT * FROM fsbench.verdict(''{9,8,9}'', ''{{7,7,8}}'')'),
        ('verdict_best', 'which target is the best?', 'SELECT * FROM fsbench.verdict_best(''{{9,8,9},{7,7,8}}'')'),
        ('set_aside', 'mean without what is far away', 'SELECT * FROM fsbench.set_aside(''{1,1,2,1,2,9}'')'),
        ('change_points', 'when the level has changed', 'SELECT * FROM fsbench.change_points(''{4,4,4,5,5,5}'')'),
        ('rate_estimate', 'at which rate so many are late', 'SELECT fsbench.rate_estimate(''{1,2}'', ''{99,99}'', ''{0,9}'', 0.01)'),
        ('student_t', 'a quantile of Student''s t', 'SELECT fsbench.student_t(0.005, 3)'),
        ('create_target', 'records a directory as a target', 'SELECT fsbench.create_target(''a'', directory => ''/mnt/a'')'),
        ('create_target', 'records a filesystem to be made', 'SELECT fsbench.create_target(''xfs'', ''xfs'', image_size => ''2GB'')'),
        ('alter_target', 'changes a target', 'SELECT fsbench.alter_target(''xfs'', drop_caches => false)'),
        ('drop_target', 'forgets a target, keeps results', 'SELECT fsbench.drop_target(''xfs'')'),
        ('plan', 'every step of a run, beforehand', 'SELECT * FROM fsbench.plan(''xfs'')'),
        ('prepare_target', 'makes and mounts a filesystem', 'SELECT * FROM fsbench.prepare_target(''xfs'')'),
        ('release_target', 'unmounts and removes it', 'SELECT fsbench.release_target(''xfs'')'),
        ('describe_devices', 'lists devices, newly looked at', 'SELECT * FROM fsbench.describe_devices()'),
        ('drop_prepared_data', 'removes the data that runs copy', 'SELECT fsbench.drop_prepared_data()'),
        ('grant_operator', 'lets a role make runs', 'SELECT fsbench.grant_operator(''bob'')'),
        ('revoke_operator', 'takes that back', 'SELECT fsbench.revoke_operator(''bob'')'),
        ('version', 'version of the library', 'SELECT fsbench.version()'),
        ('help', 'this list; more: \df+ fsbench.*', 'SELECT * FROM fsbench.help()')
    $$;

-- Files of other databases: what of them is taken, and what is refused.

CREATE INDEX imported_run_run_id_there_idx ON fsbench.imported_run (run_id_there);
COMMENT ON COLUMN fsbench.imported_file.imported_by IS 'Role that has imported it, by its name then';

CREATE OR REPLACE FUNCTION fsbench._export_line(line text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
    AS $$
    SELECT regexp_replace(replace(replace(replace(replace(replace(replace(replace(replace($1, '%', '%25'), '\\', '%5C'), '\"', '%22'), '\n', '%0A'), '\r', '%0D'),
        '\t', '%09'), '\b', '%08'), '\f', '%0C'), '\\u00([0-9a-f]{2})', '%\1', 'g')
    $$;

CREATE OR REPLACE FUNCTION fsbench._line_hash(before bytea, line text) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
    AS $$
    SELECT sha256(before || CASE WHEN getdatabaseencoding() = 'SQL_ASCII' THEN decode(replace(line, '\', '\\'), 'escape') ELSE convert_to(line, 'UTF8') END)
    $$;

CREATE OR REPLACE FUNCTION fsbench.export(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, history text DEFAULT NULL) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1000
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
    experiment_ids bigint[] := '{}';
    problem text;
    hash bytea := '';
    line text;
    n integer := 0;
    part record;
    expression text;
    names jsonb;
BEGIN
    IF num_nonnulls($1, $2, $3) <> 1 THEN
        RAISE EXCEPTION 'one of experiment, run_ids and history must be given'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A file has one experiment, some runs, or all runs with a label.',
                  HINT = 'Call it as in \copy (SELECT fsbench.export(''new server'')) TO ''x.jsonl''.';
    END IF;
    IF $1 IS NOT NULL THEN
        SELECT array_agg(e.experiment_id), max(CASE WHEN e.status NOT IN ('done', 'cancelled') THEN e.status END) INTO experiment_ids, problem
        FROM fsbench.experiment e WHERE e.experiment = $1;
        IF experiment_ids IS NULL THEN
            RAISE EXCEPTION 'experiment "%" does not exist', $1
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no experiment of this name in this database.', HINT = 'See fsbench.experiments.';
        ELSIF problem IS NOT NULL THEN
            RAISE EXCEPTION 'experiment "%" is not over', $1
                USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Its status is %s.', problem),
                      HINT = 'Wait for it with CALL fsbench.wait_experiment(), or end it with fsbench.cancel_experiment().';
        END IF;
        SELECT array_agg(DISTINCT x.run_id) INTO ids
        FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = ANY (experiment_ids);
    ELSIF $2 IS NOT NULL THEN
        IF cardinality($2) = 0 THEN
            RAISE EXCEPTION 'run_ids must name runs'
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is empty.', HINT = 'Call it as in \copy (SELECT fsbench.export(run_ids => ''{7,8}'')) TO ''x.jsonl''.';
        END IF;
        PERFORM fsbench._check_runs($2);
        ids := ARRAY(SELECT DISTINCT r FROM unnest($2) r ORDER BY r);
    ELSE
        -- A label with an @ may be one of this database, too.
        SELECT coalesce(array_agg(r.run_id) FILTER (WHERE i.run_id IS NULL), array_agg(r.run_id)) INTO ids
        FROM fsbench.run_log r LEFT JOIN fsbench.imported_run i USING (run_id) WHERE r.label = $3 AND r.status IN ('done', 'failed', 'cancelled');
        IF ids IS NULL THEN
            RAISE EXCEPTION 'no run has the label "%"', $3
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database that is over.',
                      HINT = 'Give it to the runs: fsbench.start(label => ...).';
        END IF;
    END IF;
    ids := coalesce(ids, '{}');
    SELECT string_agg(r.run_id::text, ', ' ORDER BY r.run_id) INTO problem FROM fsbench.run_log r WHERE r.run_id = ANY (ids) AND r.status NOT IN ('done', 'failed', 'cancelled');
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % is not over', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Only what is over is exported.', HINT = 'Wait for it with CALL fsbench.wait().';
    END IF;
    SELECT string_agg(i.run_id::text, ', ' ORDER BY i.run_id) INTO problem FROM fsbench.imported_run i WHERE i.run_id = ANY (ids);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % was imported', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A file tells of what was measured where it is written.',
                  HINT = 'Take the file that it came from; fsbench.imported says of which host.';
    END IF;

    FOR part IN SELECT 0 AS place, NULL::name AS relation, NULL::text AS key, NULL::text AS parent, NULL::name[] AS left_out
                UNION ALL SELECT x.* FROM fsbench._exported() x ORDER BY place
    LOOP
        IF part.relation IS NULL THEN
            SELECT format('"pgfsbench_export": %s', jsonb_build_object('format', 1, 'pgfsbench', fsbench.version(), 'exported_at', clock_timestamp(),
                'hostname', max(e.hostname), 'host_fingerprints', coalesce(jsonb_agg(DISTINCT e.host_fingerprint) FILTER (WHERE e.host_fingerprint IS NOT NULL), '[]'),
                'runs', cardinality(ids), 'experiments', cardinality(experiment_ids))) INTO line
            FROM fsbench.environment e WHERE e.run_id = ANY (ids);
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, %s}', n, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
            CONTINUE;
        END IF;
        -- A function takes a hundred arguments, and a run has more columns.
        SELECT jsonb_agg(p.names ORDER BY p.g), string_agg(format('jsonb_build_array(%s)', p.list), ' || ' ORDER BY p.g) INTO names, expression
        FROM (SELECT (a.attnum / 90) AS g, jsonb_agg(a.attname ORDER BY a.attnum) AS names, string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum) AS list
              FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attname <> ALL (part.left_out) GROUP BY 1) p;
        SELECT jsonb_agg(c.name) INTO names FROM jsonb_array_elements(names) g, jsonb_array_elements(g) c (name);
        FOR line IN EXECUTE format('SELECT jsonb_agg(r.row ORDER BY r.nr)::text FROM (SELECT %s AS row, row_number() OVER (ORDER BY %s) AS nr FROM fsbench.%I t WHERE t.%I = ANY ($1)) r '
            'GROUP BY (r.nr - 1) / 200 ORDER BY (r.nr - 1) / 200', expression, part.key, part.relation, part.parent)
            USING CASE part.parent WHEN 'run_id' THEN ids ELSE experiment_ids END
        LOOP
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, "table": "%s", "columns": %s, "rows": %s}', n, part.relation, names, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
        END LOOP;
    END LOOP;
    RETURN NEXT format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', n + 1, n, encode(hash, 'hex'));
END
$$;

CREATE FUNCTION fsbench._import_line(line text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
    AS $$
DECLARE
    document jsonb;
BEGIN
    BEGIN
        document := regexp_replace(line, '%([0-9A-Fa-f]{2})', '\\u00\1', 'g')::jsonb;
    EXCEPTION WHEN feature_not_supported OR program_limit_exceeded THEN
        RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'data_exception';
    END;
    IF jsonb_path_exists(document, '$.**{50 to last}') THEN
        RAISE EXCEPTION 'values are nested more than 50 deep' USING ERRCODE = 'data_exception';
    ELSIF jsonb_path_exists(document, '$.** ? (@.type() == "number" && (@ > 1e310 || @ < -1e310 || (@ > 0 && @ < 1e-340) || (@ < 0 && @ > -1e-340)))')
       OR length(document::text) > 4 * length(line) + 1000 THEN
        RAISE EXCEPTION 'a number is too large, or has too many digits' USING ERRCODE = 'data_exception';
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_line IS 'A line of a file as JSON. Private';

CREATE FUNCTION fsbench._import_texts(document jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
    AS $$
DECLARE
    -- In other encodings a byte above 127 is a character or a part of one; where the server knows of none, texts are UTF-8.
    controls text := CASE getdatabaseencoding() WHEN 'UTF8' THEN '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
        WHEN 'SQL_ASCII' THEN '[\u0001-\u001f\u007f]|\u00c2[\u0080-\u009f]|\u00e2\u0080[\u00a8-\u00ae]|\u00e2\u0081[\u00a6-\u00a9]'
        ELSE '[\u0001-\u001f\u007f]' END;
    words text := document::text;
BEGIN
    IF words ~ controls OR words ~ '\\[bfnrtu]' THEN
        -- A backslash that stands for itself does not begin what follows.
        words := replace(regexp_replace(words, controls, ' ', 'g'), '\\', chr(1));
        words := regexp_replace(words, '\\([bfnrt]|u00[01][0-9a-f])', ' ', 'g');
        RETURN replace(words, chr(1), '\\')::jsonb;
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_texts IS 'JSON with a space for each control character. Private';

CREATE OR REPLACE FUNCTION fsbench._import_column(relation name, attname name, type oid, at integer, OUT value text, OUT wrong text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    given text := format('(r -> %s)', at);
    words text := format('(r ->> %s)', at);
BEGIN
    CASE
        WHEN type = 'jsonb'::regtype THEN
            value := format('nullif(%s, ''null'')', given);
            wrong := CASE WHEN attname IN ('phases', 'steps', 'layers', 'wal_layers', 'looks', 'run_order')
                THEN format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > %s)', given, given, given,
                    -- Each look is gone through whenever somebody asks for verdicts.
                    CASE WHEN attname IN ('looks', 'run_order') THEN 50 ELSE 10000 END)
                WHEN relation = 'scan' THEN format('jsonb_typeof(%s) NOT IN (''array'', ''object'', ''null'')', given)
                ELSE format('jsonb_typeof(%s) NOT IN (''object'', ''null'')', given) END;
        WHEN type IN ('smallint[]'::regtype, 'bigint[]'::regtype, 'text[]'::regtype) THEN
            value := format('CASE WHEN jsonb_typeof(%s) = ''array'' THEN ARRAY(SELECT e.x FROM jsonb_array_elements_text(%s) WITH ORDINALITY e (x, o) ORDER BY e.o)::%s END',
                given, given, type::regtype);
            wrong := format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > 10000)', given, given, given);
        WHEN type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN
            value := format('%s::%s', words, type::regtype);
            -- Sums and ratios of what is here can be taken, and charts have a row for each second: of 31 days at most, as a run takes 30.
            wrong := format('CASE jsonb_typeof(%s) WHEN ''number'' THEN NOT %s::numeric BETWEEN %s WHEN ''null'' THEN false ELSE true END', given, words, CASE
                WHEN attname IN ('second', 'start_second', 'end_second') THEN '-2678400 AND 2678400'
                WHEN (relation, attname) IN (('wait_event', 'samples')) THEN '1 AND 2147483647'
                WHEN (relation, attname) IN (('scan', 'ms'), ('scan_read', 'ms')) THEN '1e-9 AND 1e18'
                WHEN (relation, attname) IN (('scan', 'bytes'), ('scan_read', 'bytes')) THEN '0 AND 1e15'
                WHEN type IN ('smallint'::regtype, 'integer'::regtype) THEN '-2147483648 AND 2147483647'
                -- Hashes, seeds, and sizes of filesystems that have no end.
                WHEN type = 'bigint'::regtype AND (relation = 'environment' OR attname IN ('queryid', 'seed', 'run_id', 'experiment_id'))
                    THEN '-9223372036854775808 AND 9223372036854775807'
                WHEN type = 'bigint'::regtype THEN '-1e15 AND 1e15'
                WHEN type = 'real'::regtype THEN '-1e18 AND 1e18'
                ELSE '-1e24 AND 1e24' END);
        WHEN type = 'interval'::regtype THEN
            value := format('%s::interval', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR NOT %s::interval BETWEEN ''0'' AND ''31 days''', given, words);
        WHEN (relation, attname) IN (('finding', 'hint'), ('run_log', 'error_hint')) THEN
            -- It would be shown as a hint of pgfsbench.
            value := 'NULL::text';
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'')', given);
        WHEN type = 'boolean'::regtype THEN
            value := format('%s::boolean', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''boolean'', ''null'')', given);
        WHEN type = 'timestamptz'::regtype THEN
            value := format('%s::timestamptz', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR %s !~ ''^\d{4}-\d\d-\d\dT[0-9:.+-]+$'' '
                'OR NOT %s::timestamptz BETWEEN ''2000-01-01 UTC'' AND clock_timestamp() + interval ''1 day''', given, words, words);
        ELSE
            value := format('%s::%s', words, type::regtype);
            -- Short ones are names.
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR length(%s) > %s OR (%L AND fsbench._import_texts(%s) <> %s)', given, words,
                CASE WHEN attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'code', 'metric', 'transaction') THEN 200 ELSE 100000 END,
                attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'code', 'metric', 'transaction'), given, given);
    END CASE;
END
$$;

-- A run is not changed by a second file. Where its row is the same and a row below it is not, one of the two files was changed.
CREATE FUNCTION fsbench._import_differs(runs bigint[], host text, line integer, what text) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    RAISE EXCEPTION '% of host "%" is here with other figures',
        (SELECT CASE cardinality(runs) WHEN 1 THEN 'run ' ELSE 'one of the runs ' END || string_agg(i.run_id_there::text, ', ') || CASE WHEN cardinality(runs) > 10 THEN ', ...' ELSE '' END
         FROM (SELECT i.run_id_there FROM fsbench.imported_run i WHERE i.run_id = ANY (runs) ORDER BY 1 LIMIT 10) i), host
        USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: %s; one of the two files was changed after it was written.', line, what),
              HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
END
$$;
COMMENT ON FUNCTION fsbench._import_differs IS 'Refuses a file that tells something else of a run than one before it. Private';

CREATE FUNCTION fsbench._import_whole(relation name, runs bigint[], rows bigint, host text, line integer) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    there bigint;
BEGIN
    IF cardinality(runs) > 0 THEN
        EXECUTE format('SELECT count(*) FROM fsbench.%I t WHERE t.run_id = ANY ($1)', relation) INTO there USING runs;
        IF there <> rows THEN
            PERFORM fsbench._import_differs(runs, host, line, format('table %s has %s rows of %s in the file, and %s here', relation, rows,
                CASE cardinality(runs) WHEN 1 THEN 'it' ELSE 'them' END, there));
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._import_whole IS 'Refuses a file that lacks rows of runs that are here, or has more of them. Private';

CREATE FUNCTION fsbench._import(file text, host text, caller name) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    lines text[];
    n integer;
    hash bytea := '';
    document jsonb;
    header jsonb;
    stated text;
    called text;
    id bigint;
    digest text;
    old bigint;
    known jsonb := '{}';        -- run there: run here
    fresh jsonb := '{}';        -- the same, of those that were not here
    known_experiments jsonb := '{}';
    fresh_experiments jsonb := '{}';
    part record;
    columns text;
    expressions text;
    wrong text;
    bad text;
    names text[];
    brought jsonb;              -- of a line, those that were not here: their hashes
    item jsonb;
    rows jsonb;
    object jsonb;
    this_import bigint;
    name text;
    met integer := 1;
    place integer := 0;
    keys text;
    same text;
    of_relation name;           -- of the runs that were here: what was compared of this table
    compared bigint[] := '{}';
    compared_rows bigint := 0;
    old_runs bigint[];
    old_rows bigint;
BEGIN
    IF file IS NULL THEN
        RAISE EXCEPTION 'file must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is the text that fsbench.export() has written.',
                  HINT = 'In psql: \set file `cat x.jsonl` and SELECT * FROM fsbench.import(:''file'');';
    END IF;
    -- No line of a file is shorter, and an array of millions of them takes a gigabyte.
    IF length(file) - length(replace(file, E'\n', '')) > 10 + length(file) / 25 THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its lines are too short.');
    END IF;
    SELECT array_agg(l.line ORDER BY l.number, l.o) INTO lines
    FROM (SELECT rtrim(s.line, E'\r') AS line, s.o, substring(s.line FROM '^\{"n": (\d{1,9})[,}]')::integer AS number
          FROM unnest(string_to_array(file, E'\n')) WITH ORDINALITY s (line, o) WHERE s.line <> '') l;
    IF coalesce(lines[1] NOT LIKE '{"n": 1, "pgfsbench_export": %', true) THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its first line does not say so.');
    END IF;
    BEGIN
        header := fsbench._import_texts(fsbench._import_line(lines[1]) -> 'pgfsbench_export');
    EXCEPTION WHEN data_exception THEN
        PERFORM fsbench._import_problem(1, format('%s.', SQLERRM));
    END;
    IF jsonb_typeof(header -> 'format') IS DISTINCT FROM 'number' THEN
        PERFORM fsbench._import_problem(1, 'It does not say of what format the file is.');
    ELSIF (header ->> 'format')::numeric > 1 THEN
        RAISE EXCEPTION 'the file is of format %, which is newer than this pgfsbench', left(header ->> 'format', 20)
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = format('It was written by pgfsbench %s; pgfsbench %s reads formats up to 1.', coalesce(left(header ->> 'pgfsbench', 50), 'of a version that it does not tell'), fsbench.version()),
                  HINT = 'Update pgfsbench here.';
    ELSIF header -> 'format' <> '1' OR jsonb_typeof(header -> 'host_fingerprints') IS DISTINCT FROM 'array'
          OR jsonb_array_length(header -> 'host_fingerprints') > 10000
          OR NOT coalesce(header ->> 'exported_at' ~ '^\d{4}-\d\d-\d\dT[0-9:.+-]+$', false) THEN
        PERFORM fsbench._import_problem(1, 'It does not say when, on what host and in what format the file was written.');
    END IF;
    FOR n IN 1 .. cardinality(lines) - 1 LOOP
        IF lines[n] NOT LIKE format('{"n": %s, ', n) || '%' THEN
            PERFORM fsbench._import_problem(n, 'It is not where it should be: lines are missing, or there is one too many.');
        END IF;
        hash := fsbench._line_hash(hash, lines[n]);
    END LOOP;
    n := cardinality(lines);
    stated := substring(lines[n] FROM '"sha256": "([0-9a-f]{64})"\}\}$');
    IF stated IS NULL OR lines[n] NOT LIKE format('{"n": %s, "end": {"lines": %s, ', n, n - 1) || '%' THEN
        PERFORM fsbench._import_problem(n, 'The file is not complete: its last line is missing.');
    ELSIF stated <> encode(hash, 'hex') THEN
        PERFORM fsbench._import_problem(NULL, format('The checksum is wrong: it says %s, and its lines have %s.', left(stated, 16), left(encode(hash, 'hex'), 16)));
    END IF;
    suffix := coalesce($2, header ->> 'hostname');
    IF suffix !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' IS NOT FALSE THEN
        RAISE EXCEPTION 'there is no name for the host of the file'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It has to begin with a letter or a digit, and to consist of letters, digits and _ . - (ASCII), 63 at most.',
                  HINT = 'Say how it is to be called here: fsbench.import(..., host => ''db1'').';
    END IF;
    -- One import at a time: each knows what the others have brought.
    LOCK TABLE fsbench.imported_file IN SHARE ROW EXCLUSIVE MODE;
    called := suffix;
    PERFORM fsbench._check_importer(called, caller);
    experiments := 0; runs := 0; already_here := 0;
    suffix := '@' || suffix;
    BEGIN
        INSERT INTO fsbench.imported_file (host, hostname, host_fingerprints, format, pgfsbench_version, exported_at, sha256, imported_by)
        SELECT called, left(header ->> 'hostname', 200), (SELECT array_agg(left(f, 100)) FROM jsonb_array_elements_text(header -> 'host_fingerprints') f),
               (header ->> 'format')::integer, left(header ->> 'pgfsbench', 50), (header ->> 'exported_at')::timestamptz, stated, caller
        RETURNING import_id INTO this_import;
        FOR n IN 2 .. cardinality(lines) - 1 LOOP
            met := n;
            document := fsbench._import_line(lines[n]);
            SELECT * INTO part FROM fsbench._exported() x WHERE x.relation = document ->> 'table';
            IF part.relation IS NULL OR part.place < place THEN
                PERFORM fsbench._import_problem(n, format('There is no table "%s", or not here.', left(document ->> 'table', 63)));
            END IF;
            place := part.place;
            rows := document -> 'rows';
            IF of_relation IS DISTINCT FROM part.relation THEN
                PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n - 1);
                of_relation := part.relation; compared := '{}'; compared_rows := 0;
            END IF;
            IF jsonb_typeof(document -> 'columns') IS DISTINCT FROM 'array' OR jsonb_typeof(rows) IS DISTINCT FROM 'array' OR jsonb_array_length(rows) > 200
               OR jsonb_array_length(document -> 'columns') > 500
               OR EXISTS (SELECT FROM jsonb_array_elements(rows) r WHERE jsonb_typeof(r) <> 'array')
               OR EXISTS (SELECT FROM jsonb_array_elements(rows) r WHERE jsonb_array_length(r) <> jsonb_array_length(document -> 'columns')) THEN
                PERFORM fsbench._import_problem(n, 'It has no columns, no rows, or not as many values as columns.');
            END IF;
            SELECT string_agg(DISTINCT coalesce(left(c.name, 63), 'null'), ', ') INTO bad
            FROM (SELECT c.name, count(*) FROM jsonb_array_elements_text(document -> 'columns') c (name) GROUP BY 1) c
            WHERE c.count > 1 OR c.name = ANY (part.left_out)
               OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = c.name);
            IF bad IS NOT NULL THEN
                RAISE EXCEPTION 'the file has columns that are not known here'
                    USING ERRCODE = 'feature_not_supported',
                          DETAIL = format('Line %s: %s of table %s. It was written by pgfsbench %s, and this is %s.', n, left(bad, 200), part.relation, left(header ->> 'pgfsbench', 50), fsbench.version()),
                          HINT = 'Nothing was changed. If that is a newer version, update pgfsbench here.';
            END IF;
            IF NOT document -> 'columns' ? part.parent THEN
                PERFORM fsbench._import_problem(n, format('It has no %s.', part.parent));
            END IF;
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY c.o), string_agg(CASE
                       WHEN a.attname = 'run_id' AND part.relation = 'experiment_run' THEN format('($2 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'run_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'experiment_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN (part.relation, a.attname) IN (('run_log', 'target'), ('run_log', 'label'), ('experiment', 'experiment'), ('experiment_target', 'target_name')) THEN format('(r ->> %s) || %L', c.o - 1, suffix)
                       ELSE i.value END, ', ' ORDER BY c.o),
                   string_agg(format('WHEN %s THEN %L', i.wrong, a.attname), ' ' ORDER BY c.o),
                   -- What an older import has stored may lack a column that was not there yet, and may have control characters.
                   string_agg(format('t.%I = f.%I', a.attname, a.attname), ' AND ') FILTER (WHERE a.attname = ANY (string_to_array(part.key, ', '))),
                   coalesce(string_agg(CASE WHEN a.atttypid IN ('text'::regtype, 'jsonb'::regtype)
                       THEN format('(t.%I IS NULL OR fsbench._import_texts(to_jsonb(t.%I)) = to_jsonb(f.%I))', a.attname, a.attname, a.attname)
                       ELSE format('(t.%I IS NULL OR t.%I = f.%I)', a.attname, a.attname, a.attname) END, ' AND ') FILTER (WHERE a.attname <> ALL (string_to_array(part.key, ', '))), 'true')
            INTO columns, expressions, wrong, keys, same
            FROM jsonb_array_elements_text(document -> 'columns') WITH ORDINALITY c (name, o)
            JOIN pg_attribute a ON a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attname = c.name AND a.attnum > 0
            CROSS JOIN LATERAL fsbench._import_column(part.relation, a.attname, a.atttypid, (c.o - 1)::integer) i;
            EXECUTE format('SELECT max(CASE %s END) FROM jsonb_array_elements($1) r', wrong) INTO bad USING rows;
            IF bad IS NOT NULL THEN
                PERFORM fsbench._import_problem(n, format('A value of column %s of table %s is of a wrong kind, too long, or cannot be.', bad, part.relation));
            END IF;
            IF part.relation IN ('run_log', 'experiment') THEN
                names := ARRAY(SELECT c.name FROM jsonb_array_elements_text(document -> 'columns') WITH ORDINALITY c (name, o) ORDER BY c.o);
                brought := '{}';
                FOR item IN SELECT r FROM jsonb_array_elements(rows) r LOOP
                    SELECT jsonb_object_agg(names[v.o], v.value) FILTER (WHERE v.value <> 'null') INTO object FROM jsonb_array_elements(item) WITH ORDINALITY v (value, o);
                    name := object ->> part.parent;
                    IF name IS NULL OR (CASE part.relation WHEN 'run_log' THEN known ELSE known_experiments END) ? name THEN
                        PERFORM fsbench._import_problem(n, format('There are two rows of one %s.', part.parent));
                    ELSIF coalesce(object ->> 'status' NOT IN ('done', 'cancelled'), true) AND (part.relation = 'experiment' OR object ->> 'status' IS DISTINCT FROM 'failed') THEN
                        PERFORM fsbench._import_problem(n, 'It tells of something that is not over.');
                    END IF;
                    -- What 0.2.0 did not tell of an experiment, and an upgrade has said of it since, does not make it another one.
                    digest := encode(sha256(convert_to((object - CASE WHEN object -> 'pilot_cycle' = 'false' THEN 'pilot_cycle' ELSE '' END)::text, 'UTF8')), 'hex');
                    old := NULL;
                    IF part.relation = 'run_log' THEN
                        SELECT i.run_id INTO old FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        -- Numbers of runs begin anew in a new database; the moment does not.
                        IF old IS NULL AND EXISTS (SELECT FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) JOIN fsbench.run_log r USING (run_id)
                                                   WHERE i.run_id_there = name::bigint AND f.host = called AND r.requested_at = (object ->> 'requested_at')::timestamptz) THEN
                            RAISE EXCEPTION 'run % of host "%" is here with other figures', name, called
                                USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: one of the two files was changed after it was written.', n),
                                      HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
                        END IF;
                        id := coalesce(old, nextval('fsbench.run_id_seq'));
                        known := known || jsonb_build_object(name, id);
                        IF old IS NOT NULL THEN
                            already_here := already_here + 1;
                            CONTINUE;
                        END IF;
                        fresh := fresh || jsonb_build_object(name, id);
                        runs := runs + 1;
                    ELSE
                        SELECT i.experiment_id INTO old FROM fsbench.imported_experiment i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        id := coalesce(old, nextval('fsbench.experiment_id_seq'));
                        known_experiments := known_experiments || jsonb_build_object(name, id);
                        IF old IS NOT NULL THEN
                            already_here := already_here + 1;
                            CONTINUE;
                        END IF;
                        IF EXISTS (SELECT FROM fsbench.experiment e WHERE e.experiment = (object ->> 'experiment') || suffix) THEN
                            RAISE EXCEPTION 'experiment "%" already exists', (object ->> 'experiment') || suffix
                                USING ERRCODE = 'duplicate_object', DETAIL = 'Nothing was changed: it is another one, or what it was when it was not over yet.',
                                      HINT = 'Drop it with fsbench.drop_experiment(), or call the host something else: fsbench.import(..., host => ...).';
                        END IF;
                        fresh_experiments := fresh_experiments || jsonb_build_object(name, id);
                        experiments := experiments + 1;
                    END IF;
                    brought := brought || jsonb_build_object(name, digest);
                END LOOP;
                -- At once: a statement for each row takes five times as long.
                EXECUTE format('INSERT INTO fsbench.%I (%s, requested_by%s) SELECT %s, $4%s FROM jsonb_array_elements($1) r WHERE $5 ? (r ->> %s)', part.relation, columns,
                        CASE part.relation WHEN 'experiment' THEN ', mark' ELSE '' END, expressions, CASE part.relation WHEN 'experiment' THEN ', ''''' ELSE '' END,
                        array_position(names, part.parent) - 1)
                    USING fsbench._import_texts(rows), known, CASE part.relation WHEN 'run_log' THEN fresh ELSE fresh_experiments END, caller, brought;
                IF part.relation = 'run_log' THEN
                    INSERT INTO fsbench.imported_run SELECT (fresh ->> b.key)::bigint, this_import, b.key::bigint, b.value FROM jsonb_each_text(brought) b;
                ELSE
                    INSERT INTO fsbench.imported_experiment SELECT (fresh_experiments ->> b.key)::bigint, this_import, b.value FROM jsonb_each_text(brought) b;
                END IF;
            ELSE
                SELECT a.o - 1 INTO id FROM jsonb_array_elements_text(document -> 'columns') WITH ORDINALITY a (name, o) WHERE a.name = part.parent;
                IF EXISTS (SELECT FROM jsonb_array_elements(rows) r
                           WHERE NOT coalesce(CASE part.parent WHEN 'run_id' THEN known ELSE known_experiments END ? (r ->> id::integer), false)) THEN
                    PERFORM fsbench._import_problem(n, format('It tells of a %s of which the file has no row.', part.parent));
                END IF;
                -- Findings are made anew; seconds and waits may have been dropped since, here or there.
                IF part.parent = 'run_id' AND part.relation <> 'finding' AND already_here > 0 THEN
                    -- Row by row, by the primary key: tables are long, and a line is not.
                    EXECUTE format('SELECT min(f.run_id) FILTER (WHERE f.same IS NOT TRUE), array_agg(DISTINCT f.run_id), count(*) '
                        'FROM (SELECT f.run_id, (SELECT bool_and(%s) FROM fsbench.%I t WHERE %s) AS same '
                              'FROM (SELECT %s FROM jsonb_array_elements($1) r WHERE NOT $4 ? (r ->> %s)) f (%s) '
                              'WHERE (SELECT min(x.run_id) FROM (SELECT t.run_id FROM fsbench.%I t WHERE t.run_id = f.run_id LIMIT 1) x) IS NOT NULL) f',
                            same, part.relation, keys, expressions, id, columns, part.relation)
                        INTO old, old_runs, old_rows USING fsbench._import_texts(rows), known, known, fresh;
                    IF old IS NOT NULL THEN
                        PERFORM fsbench._import_differs(ARRAY[old], called, n, format('a row of table %s is another one', part.relation));
                    END IF;
                    compared := ARRAY(SELECT x FROM unnest(compared || old_runs) x WHERE x IS NOT NULL GROUP BY x);
                    compared_rows := compared_rows + old_rows;
                END IF;
                EXECUTE format('INSERT INTO fsbench.%I (%s) SELECT %s FROM jsonb_array_elements($1) r WHERE $3 ? (r ->> %s)', part.relation, columns, expressions, id)
                    USING fsbench._import_texts(rows), known, CASE part.parent WHEN 'run_id' THEN fresh ELSE fresh_experiments END;
            END IF;
        END LOOP;
        PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n);
        -- What the types allow, and no run has.
        met := NULL;
        SELECT 'a histogram' INTO bad
        FROM (SELECT h.run_id, h.buckets, h.counts FROM fsbench.histogram h UNION ALL SELECT f.run_id, f.buckets, f.counts FROM fsbench.fsync f) h JOIN fsbench.imported_run i USING (run_id)
        WHERE i.import_id = this_import AND (cardinality(h.buckets) <> cardinality(h.counts) OR 0 > ANY (h.counts) OR 1000000000000000 < ANY (h.counts) OR 0 > ANY (h.buckets) OR 2048 < ANY (h.buckets)
              OR array_position(h.buckets, NULL) IS NOT NULL OR array_position(h.counts, NULL) IS NOT NULL) LIMIT 1;
        IF bad IS NULL THEN
            SELECT 'a second' INTO bad FROM fsbench.sample s JOIN fsbench.imported_run i USING (run_id)
            WHERE i.import_id = this_import AND NOT s.interval_ms > 0 LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a target' INTO bad FROM fsbench.imported_experiment i JOIN fsbench.experiment e USING (experiment_id)
            LEFT JOIN LATERAL (SELECT count(*) AS targets, max(t.target_number) AS last, min(t.target_number) AS first FROM fsbench.experiment_target t WHERE t.experiment_id = i.experiment_id) t ON true
            LEFT JOIN LATERAL (SELECT max(x.block) AS block, max(x.attempt) AS attempt FROM fsbench.experiment_run x WHERE x.experiment_id = i.experiment_id) x ON true
            WHERE i.import_id = this_import AND NOT (t.targets BETWEEN 1 AND 100 AND t.first = 0 AND t.last = t.targets - 1 AND coalesce(x.block, 0) <= 100 AND coalesce(x.attempt, 1) <= 1000
                AND coalesce(e.baseline_number, 0) BETWEEN 0 AND t.last AND coalesce(e.control_number, 0) BETWEEN 0 AND t.last) LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a measurement without its run' INTO bad FROM fsbench.experiment_run x JOIN fsbench.imported_experiment i USING (experiment_id)
            WHERE i.import_id = this_import AND x.outcome IN ('measured', 'behind') AND x.run_id IS NULL LIMIT 1;
        END IF;
        IF bad IS NOT NULL THEN
            PERFORM fsbench._import_problem(NULL, format('It has figures of %s that cannot be.', bad));
        END IF;
        DELETE FROM fsbench.finding f USING fsbench.imported_run i WHERE i.import_id = this_import AND f.run_id = i.run_id AND f.code = 'imported';
        INSERT INTO fsbench.finding (run_id, code, severity, message, hint)
        SELECT i.run_id, 'imported', 'info', format('run %s of host %s, imported from a file: it was not measured here', i.run_id_there, called),
               'Nothing but the file, and who gave it, vouches for its figures.'
        FROM fsbench.imported_run i WHERE i.import_id = this_import;
        -- What cannot be read back would break views that show all experiments.
        FOR name IN SELECT e.experiment FROM fsbench.experiment e JOIN fsbench.imported_experiment i USING (experiment_id) WHERE i.import_id = this_import LOOP
            PERFORM FROM fsbench.compare(name);
            PERFORM FROM fsbench.recommend(name);
            PERFORM FROM fsbench.chart_block b WHERE b.experiment = name;
            PERFORM FROM fsbench.chart_target t WHERE t.experiment = name;
        END LOOP;
        IF experiments = 0 AND runs = 0 THEN
            DELETE FROM fsbench.imported_file f WHERE f.import_id = this_import;
        END IF;
    EXCEPTION
        WHEN bad_copy_file_format OR feature_not_supported OR duplicate_object OR insufficient_privilege THEN
            RAISE;
        WHEN data_exception OR integrity_constraint_violation OR invalid_parameter_value OR internal_error OR undefined_object OR program_limit_exceeded THEN
            PERFORM fsbench._import_problem(met, upper(left(SQLERRM, 1)) || substr(left(SQLERRM, 300), 2) || '.');
    END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._import IS 'Reads a file in the name of a role. Private: called with the rights of the owner';

CREATE FUNCTION fsbench._change_imported(verb text, file text, host text) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_change_imported_wrapper';
COMMENT ON FUNCTION fsbench._change_imported IS 'Imports a file, or drops what was imported. Private';

CREATE OR REPLACE FUNCTION fsbench.import(file text, host text DEFAULT NULL) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT r.suffix, r.experiments, r.runs, r.already_here
    FROM jsonb_to_record(fsbench._change_imported('import', $1, $2)::jsonb) r (suffix text, experiments bigint, runs bigint, already_here bigint)
    $$;

CREATE FUNCTION fsbench._drop_imported(host text, caller name) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    files bigint[];
    gone bigint[];
BEGIN
    IF $1 IS NULL THEN
        RAISE EXCEPTION 'host must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It says what is dropped.', HINT = 'See fsbench.imported.';
    END IF;
    SELECT array_agg(f.import_id) INTO files FROM fsbench.imported_file f WHERE f.host = $1;
    IF files IS NULL THEN
        RAISE EXCEPTION 'nothing was imported of host "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this host in fsbench.imported_file of this database.', HINT = 'See fsbench.imported.';
    END IF;
    PERFORM fsbench._check_importer($1, $2);
    DELETE FROM fsbench.experiment e USING fsbench.imported_experiment i WHERE i.experiment_id = e.experiment_id AND i.import_id = ANY (files);
    SELECT array_agg(i.run_id) INTO gone FROM fsbench.imported_run i WHERE i.import_id = ANY (files);
    DELETE FROM fsbench.run_log r WHERE r.run_id = ANY (gone);
    DELETE FROM fsbench.imported_file f WHERE f.import_id = ANY (files);
    RETURN coalesce(cardinality(gone), 0);
END
$$;
COMMENT ON FUNCTION fsbench._drop_imported IS 'Removes what was imported of a host, in the name of a role. Private: called with the rights of the owner';

CREATE OR REPLACE FUNCTION fsbench.drop_imported(host text) RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_imported('drop', NULL, host)::bigint;

CREATE OR REPLACE FUNCTION fsbench.check_history(label text, metric text DEFAULT 'tps', worse_by float8 DEFAULT 0.05, due interval DEFAULT '36 hours', repeats integer DEFAULT 2)
    RETURNS TABLE (state text, segment bigint, at timestamptz, run_id bigint, value float8, expected float8, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1
    AS $$
DECLARE
    more boolean;
    s record;
    k integer;
    tonight integer;
    p float8[];
    m float8;
    q float8;
    y float8;
    problem text;
    problem_detail text;
    code text;
BEGIN
    IF repeats IS NULL OR repeats NOT BETWEEN 0 AND 10 THEN
        RAISE EXCEPTION 'repeats must be between 0 and 10'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(repeats::text, 'null')),
                  HINT = 'So often is the run of a suspect night made again; 0 makes none.';
    END IF;
    -- NaN is above everything, and nothing would be worse by it.
    IF worse_by IS NULL OR due IS NULL OR NOT worse_by > 0 OR worse_by >= 'Infinity' OR NOT due > interval '0' THEN
        RAISE EXCEPTION 'worse_by and due must be above 0, and not infinite'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('They are %s and %s.', coalesce(worse_by::text, 'null'), coalesce(due::text, 'null')),
                  HINT = 'worse_by => 0.05 is 5 %; due is the time within which a good run has to come after the last one.';
    END IF;
    more := fsbench._is_more_better($2);
    FOR s IN
        -- A label with an @ may be one of this database, too: then what was imported under it does not count.
        SELECT x.* FROM (
            SELECT y.*, max(y.last) OVER (PARTITION BY y.is_here) AS last_of_all, bool_or(y.is_here) OVER () AS is_any_here FROM (
            SELECT h.segment, array_agg(h.at ORDER BY h.night) AS ats, array_agg(h.run_id ORDER BY h.night) AS ids, array_agg(h.value ORDER BY h.night) AS of_night,
                   array_agg(h.runs ORDER BY h.night) AS counts, array_agg(h.ratio ORDER BY h.night) AS ratios, array_agg(h.differs ORDER BY h.night) AS differs,
                   array_agg(h.seen_after ORDER BY h.night) AS seen, max(h.at) AS last,
                   NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = min(h.run_id)) AS is_here
            FROM fsbench.history($1, $2) h GROUP BY h.segment) y) x
        WHERE x.is_here = x.is_any_here AND x.last >= x.last_of_all - due ORDER BY x.segment  -- others have ended
    LOOP
        segment := s.segment; expected := NULL; problem := NULL;
        SELECT max(u.n) FILTER (WHERE u.value IS NOT NULL), max(u.n) FILTER (WHERE u.ratio IS NOT NULL) INTO tonight, k
        FROM unnest(s.of_night, s.ratios) WITH ORDINALITY u (value, ratio, n);
        at := s.ats[coalesce(tonight, cardinality(s.ats))]; run_id := s.ids[coalesce(tonight, cardinality(s.ids))]; value := s.of_night[tonight];
        SELECT array_agg(ln(n.value) ORDER BY n.n) INTO p
        FROM (SELECT u.value, u.n FROM unnest(s.of_night) WITH ORDINALITY u (value, n)
              WHERE u.n BETWEEN coalesce(k, 1) AND coalesce(tonight, 0) - 1 AND u.value IS NOT NULL ORDER BY u.n DESC LIMIT 60) n;
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) INTO m FROM unnest(p) v;
        SELECT greatest(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(v - m)), 0.002) INTO q FROM unnest(p) v;
        y := CASE WHEN more THEN m - ln(value) ELSE ln(value) - m END;
        expected := exp(m);
        IF tonight IS NULL OR at + due < clock_timestamp() THEN
            state := 'missing';
            says := format('no good run since %s, and one is due every %s', coalesce(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'the beginning'), due);
        ELSIF k IS NOT NULL AND (CASE WHEN more THEN -ln(s.ratios[k]) ELSE ln(s.ratios[k]) END) >= ln(1 + worse_by)
              AND NOT EXISTS (SELECT FROM fsbench.acknowledgement a WHERE a.run_id = s.ids[k] AND a.metric = $2) THEN
            state := 'worse'; at := s.ats[k]; run_id := s.ids[k];
            says := format('it has %s times the %s that it had, since run %s; seen after %s nights', round(s.ratios[k]::numeric, 3), $2, s.ids[k], s.seen[k])
                || coalesce('; what differs there: ' || s.differs[k], '; nothing is known that differs there');
        ELSIF coalesce(cardinality(p), 0) + 1 < 11 THEN
            state := 'too_few';
            says := format('%s nights of this level, and it takes 11', coalesce(cardinality(p), 0) + 1);
        ELSIF y >= ln(1 + worse_by) AND y > 6 * q THEN
            state := CASE WHEN s.counts[tonight] >= 3 THEN 'suspect_repeated' ELSE 'suspect' END;
            says := format('one night of %s, where %s was to be expected', round(value::numeric, 3), round(expected::numeric, 3));
            PERFORM pg_notify('fsbench_history', jsonb_build_object('label', $1, 'metric', $2, 'state', state, 'run_id', run_id, 'value', value, 'expected', expected)::text);
            -- Once a night, and only while it is one; by those who may start runs.
            IF repeats > 0 AND has_function_privilege('fsbench._repeat(bigint)', 'EXECUTE') AND s.counts[tonight] = 1 AND at > clock_timestamp() - interval '6 hours' AND NOT EXISTS (
                SELECT FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('queued', 'running'))
                -- Nobody's runs are started in the name of another role.
                AND (SELECT r.requested_by = current_user FROM fsbench.run_log r WHERE r.run_id = s.ids[tonight])
                AND NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = s.ids[tonight]) THEN
                PERFORM fsbench._repeat(s.ids[tonight]) FROM generate_series(1, repeats);
                says := says || format('; %s repeats are queued', repeats);
            END IF;
        ELSE
            state := 'good';
            says := format('%s nights of this level', cardinality(p) + 1);
        END IF;
        IF state IN ('worse', 'missing') THEN
            code := CASE state WHEN 'worse' THEN 'PF001' ELSE 'PF002' END;
            RAISE EXCEPTION 'history "%" is %', $1, CASE state WHEN 'worse' THEN 'worse' ELSE 'missing a run' END
                USING ERRCODE = code, DETAIL = upper(left(says, 1)) || substr(says, 2) || '.',
                      HINT = CASE state WHEN 'worse' THEN format('See fsbench.history(%L, %L). When it is to stay so: SELECT fsbench.acknowledge(%s, ''why'', %L).', $1, $2, run_id, $2)
                                  ELSE format('See fsbench.result for runs with the label %s, and what starts them.', $1) END;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

CREATE OR REPLACE VIEW fsbench.chart_wait WITH (security_invoker = true) AS
    SELECT w.run_id, w.second, CASE WHEN w.wait_event_type = w.wait_event THEN w.wait_event ELSE w.wait_event_type || ' ' || w.wait_event END AS wait,
           w.samples, (100.0 * w.samples / nullif(sum(w.samples) OVER (PARTITION BY w.run_id, w.second), 0))::float8 AS percent
    FROM fsbench.wait_event w;

CREATE OR REPLACE VIEW fsbench.chart_scan_speed WITH (security_invoker = true) AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, c.degree, c.gb_per_second, c.repeats,
           c.bytes / 1e6 / nullif(c.max_ms, 0) AS lowest_gb_per_second, c.bytes / 1e6 / nullif(c.min_ms, 0) AS highest_gb_per_second, k.degree = c.degree AS is_knee
    FROM fsbench.run_log r, LATERAL fsbench.scan_knee(r.run_id) k, LATERAL (
        SELECT s.degree, count(*) AS repeats, max(s.bytes) AS bytes, min(s.ms) AS min_ms, max(s.ms) AS max_ms,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.bytes / 1e6 / nullif(s.ms, 0)) AS gb_per_second
        FROM fsbench.scan s WHERE s.run_id = r.run_id AND s.used GROUP BY s.degree) c
    WHERE r.workload = 'scan';

REVOKE ALL ON FUNCTION fsbench._import_line, fsbench._import_texts, fsbench._import_differs, fsbench._import_whole, fsbench._import, fsbench._change_imported, fsbench._drop_imported FROM PUBLIC;
-- End of files of other databases.
-- Experiments see first how much WAL a checkpoint cycle takes.
ALTER TABLE fsbench.experiment ADD COLUMN pilot_cycle boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fsbench.experiment.pilot_cycle IS 'Whether an uncounted run of one checkpoint cycle (block 0) tells first how much WAL a cycle takes: by that, max_wal_size and the option wal_segments of all runs are set in parameters';
COMMENT ON COLUMN fsbench.experiment_run.outcome IS 'measured and behind (it could not keep the rate) count; invalid, failed, interrupted (the server or machine stopped), repeated (its block was made again), disturbed (others took more than a tenth of the processors or a third of the disk), burn_in and pilot (block 0: from those follow the rate, and the WAL of a checkpoint cycle) do not; NULL while it is on';
ALTER TABLE fsbench.experiment_log DROP CONSTRAINT experiment_log_event_check;
ALTER TABLE fsbench.experiment_log ADD CONSTRAINT experiment_log_event_check
    CHECK (event IN ('recorded', 'started', 'look', 'failed', 'invalid', 'interrupted', 'repeated', 'throttled', 'disturbed', 'burn_in', 'pilot',
        'rate', 'wal', 'waits', 'set_aside', 'paused', 'resumed', 'extended', 'cancelled', 'done'));
COMMENT ON COLUMN fsbench.experiment_log.event IS 'recorded, started, look, failed, invalid, interrupted, repeated, throttled, disturbed, burn_in, pilot, rate, wal, waits, set_aside, paused, resumed, extended, cancelled, or done';
CREATE OR REPLACE VIEW fsbench.experiments AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin,
           n.block, e.max_blocks, n.runs, n.repeated, n.run_id, n.target AS target_on,
           p.phase,
           CASE WHEN e.status IN ('queued', 'running') THEN coalesce(e.started_at, pg_catalog.clock_timestamp())
               + pg_catalog.make_interval(secs => least(coalesce(e.max_seconds, 'Infinity'::float8),
                   e.run_seconds * ((e.max_blocks + CASE WHEN e.rate_share IS NULL THEN 0 ELSE 1 END) * n.targets
                       + CASE WHEN e.burn_in OR e.pilot_cycle THEN 1 ELSE 0 END))) END AS over_at_latest,
           e.answer, e.status_reason, e.requested_by, e.created_at, e.started_at, e.ended_at, e.experiment_id
    FROM fsbench.experiment e, LATERAL (
        SELECT (SELECT count(*) FROM fsbench.experiment_target t WHERE t.experiment_id = e.experiment_id) AS targets,
               pg_catalog.max(r.block) AS block, pg_catalog.count(r.outcome) AS runs,
               pg_catalog.count(*) FILTER (WHERE r.outcome NOT IN ('measured', 'behind', 'burn_in', 'pilot')) AS repeated,
               pg_catalog.max(r.run_id) FILTER (WHERE r.outcome IS NULL) AS run_id,
               pg_catalog.max(t.target) FILTER (WHERE r.outcome IS NULL) AS target
        FROM fsbench.experiment_run r JOIN fsbench.experiment_target t USING (experiment_id, target_number)
        WHERE r.experiment_id = e.experiment_id) n
    LEFT JOIN fsbench._progress() p ON p.run_id = n.run_id
    ORDER BY e.experiment_id;
ALTER VIEW fsbench.experiments SET (security_invoker = true);
