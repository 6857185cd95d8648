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
COMMENT ON COLUMN fsbench.study.facts IS 'What of this machine and server decided what was left out: kernel, memory, processors, version, filesystems that are missing, and why, what the helper''s configuration does not allow, values that settings may have, and targets that are on images';
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

-- They outlive a study that is dropped without its runs: what nobody else has made is used again.
CREATE TABLE fsbench.study_target (
    study       text NOT NULL,
    variant     text NOT NULL,
    target_name text NOT NULL REFERENCES fsbench.target ON DELETE CASCADE,
    PRIMARY KEY (study, variant)
);
COMMENT ON TABLE fsbench.study_target IS 'The targets that each study has made, also those that are left of one that was dropped';
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
COMMENT ON FUNCTION fsbench.study IS 'Repeats a published benchmark on an image or a device of this machine: makes its targets, and starts an experiment for each question of the part. Returns its name at once. part: one of fsbench.studies.parts, several with commas between them, or all. See fsbench.study_claims() and fsbench.study_report(). quick: an hour''s worth in ten minutes; scale, duration and blocks shrink or enlarge it. period: with the settings of its time (true), of today (false), or those of its time only beside the published table (NULL), which parts with -today behind their names make once more with those of today. log_device: for variants whose log is elsewhere; bindir: a second build of the server; misaligned_device: a partition of the same disk that is misaligned on purpose; power_loss_protected: of the device, as in fsbench.create_target(); start => false only records it';

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
COMMENT ON FUNCTION fsbench.study_report IS 'The author''s table with ours beside it, each also in percent of its best: figures of two machines are not compared. ratio, low, high: here, to the baseline of the question; of figures by which its experiment does not decide of the medians, and of the ranges of their runs. A knee is a degree with its interval. compared: whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';

CREATE FUNCTION fsbench.study_pairs(study text)
    RETURNS TABLE (question text, variant text, compared_with text, metric text, published_ratio float8, there text, ratio float8, low float8, high float8,
        here text, compared text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 40
    AS 'MODULE_PATHNAME', 'fsbench_study_pairs_wrapper';
COMMENT ON FUNCTION fsbench.study_pairs IS 'Each two variants of which the author has published figures: how they stood to each other there (more, less, or not told apart: their runs overlap), how they do here, and what that comes to (compared): same order, reversed, not told apart there or here, or not tested. By figures that the experiment does not decide by, only where all runs of one are above all of the other. Pairs without the baseline were not declared: all of them together are wrong as rarely as one comparison, so that their intervals are the wider the more they are';

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
COMMENT ON COLUMN fsbench.studies.parts IS 'Parts: one is made at a time, several with commas between them, or all';
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
    fsbench.study_pairs, fsbench.define_study, fsbench.drop_study FROM PUBLIC;
GRANT SELECT ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.study_definitions, fsbench.studies, fsbench.published,
    fsbench.chart_claim, fsbench.chart_published TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench._builtin_studies(), fsbench.study_claims(text), fsbench.study_report(text), fsbench.study_pairs(text) TO pg_monitor;
REVOKE ALL ON FUNCTION fsbench.report, fsbench._page_by FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench.report, fsbench._page_by TO pg_monitor;

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
            WHEN starts_with($2, 'scan_gb_per_s_at_')
            THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) FROM fsbench.scan s
                WHERE s.run_id = r.run_id AND s.used AND s.degree = substr($2, 18)::integer)
            WHEN starts_with($2, 'fsync_ops_')
            THEN (SELECT f.ops_per_second FROM fsbench.fsync f
                WHERE f.run_id = r.run_id AND f.writes = 1 AND f.method = substr($2, 11) ORDER BY f.writers LIMIT 1)
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
    -- Of one snapshot: what is removed meanwhile is in the file, or nothing of it.
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 1000
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
                WHEN attname IN ('start_second', 'end_second') THEN '-2678400 AND 2678400'
                WHEN attname = 'second' THEN '0 AND 2678400'
                WHEN (relation, attname) IN (('wait_event', 'samples')) THEN '1 AND 2147483647'
                WHEN (relation, attname) IN (('scan', 'degree'), ('scan', 'repeat'), ('scan_read', 'readers')) THEN '1 AND 1024'
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
        WHEN (relation, attname) = ('fsync', 'method') THEN
            value := words;
            wrong := format('NOT coalesce(%s IN (''open_datasync'', ''fdatasync'', ''fsync'', ''fsync_writethrough'', ''open_sync'', ''none''), false)', words);
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
            -- Each look at a knee takes all of them, a thousand times.
            SELECT 'scans' INTO bad FROM fsbench.scan s JOIN fsbench.imported_run i USING (run_id) WHERE i.import_id = this_import GROUP BY s.run_id HAVING count(*) > 10000 LIMIT 1;
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
            -- A date of the future is no reason why others have ended.
            SELECT y.*, max(least(y.last, clock_timestamp())) OVER (PARTITION BY y.is_here) AS last_of_all, bool_or(y.is_here) OVER () AS is_any_here FROM (
            SELECT h.segment, array_agg(h.at ORDER BY h.night) AS ats, array_agg(h.run_id ORDER BY h.night) AS ids, array_agg(h.value ORDER BY h.night) AS of_night,
                   array_agg(h.runs ORDER BY h.night) AS counts, array_agg(h.good ORDER BY h.night) AS goods, array_agg(h.ratio ORDER BY h.night) AS ratios,
                   array_agg(h.differs ORDER BY h.night) AS differs, array_agg(h.seen_after ORDER BY h.night) AS seen, max(h.at) AS last, max(h.last_good) AS last_good,
                   NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = min(h.run_id)) AS is_here
            FROM fsbench._history($1, $2) h GROUP BY h.segment) y) x
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
        IF tonight IS NULL OR s.last_good + due < clock_timestamp() THEN
            state := 'missing';
            says := format('no good run since %s, and one is due every %s', coalesce(to_char(s.last_good AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'the beginning'), due);
        ELSIF k IS NOT NULL AND (CASE WHEN more THEN -ln(s.ratios[k]) ELSE ln(s.ratios[k]) END) >= ln(1 + worse_by)
              AND NOT EXISTS (SELECT FROM fsbench.acknowledgement a WHERE a.run_id = s.ids[k] AND a.metric = $2) THEN
            state := 'worse'; at := s.ats[k]; run_id := s.ids[k];
            says := format('it has %s times the %s that it had, since run %s; seen after %s nights', round(s.ratios[k]::numeric, 3), $2, s.ids[k], s.seen[k])
                || coalesce('; what differs there: ' || s.differs[k], '; nothing is known that differs there');
        ELSIF coalesce(cardinality(p), 0) + 1 < 11 THEN
            state := 'too_few';
            says := format('%s nights of this level, and it takes 11', coalesce(cardinality(p), 0) + 1);
        ELSIF y >= ln(1 + worse_by) AND y > 6 * q THEN
            state := CASE WHEN s.goods[tonight] >= 3 THEN 'suspect_repeated' ELSE 'suspect' END;
            says := format('one night of %s, where %s was to be expected', round(value::numeric, 3), round(expected::numeric, 3));
            PERFORM pg_notify('fsbench_history', jsonb_build_object('label', $1, 'metric', $2, 'state', state, 'run_id', run_id, 'value', value, 'expected', expected)::text);
            -- Once a night, and only while it is one; by those who may start runs. Of those who ask at the same time, one does it.
            IF repeats > 0 AND has_function_privilege('fsbench._repeat(bigint)', 'EXECUTE') AND s.goods[tonight] = 1 AND s.counts[tonight] < 3 AND at > clock_timestamp() - interval '6 hours'
               AND pg_try_advisory_xact_lock('fsbench.acknowledgement'::regclass::oid::integer, hashtext($1)) THEN
                -- Seen from here on, whatever they have queued. Nobody's runs are started in the name of another role, nor what a dump or a file has brought.
                IF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('queued', 'running'))
                   AND EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = s.ids[tonight] AND r.requested_by = current_user AND NOT r.copied) THEN
                    PERFORM fsbench._repeat(s.ids[tonight]) FROM generate_series(1, repeats);
                    says := says || format('; %s repeats are queued', repeats);
                END IF;
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
COMMENT ON COLUMN fsbench.experiment.pilot_cycle IS 'Whether an uncounted run of one checkpoint cycle of each target (block 0) tells first how much WAL a cycle takes: by the most of these, max_wal_size and the option wal_segments of all runs are set in parameters';
COMMENT ON COLUMN fsbench.experiment_run.outcome IS 'measured and behind (it could not keep the rate, or its search has found none) count; invalid, failed, interrupted (the server or machine stopped), repeated (its block was made again), disturbed (others took more than a tenth of the processors or a third of the disk), burn_in and pilot (block 0: from those follow the rate, and the WAL of a checkpoint cycle) do not; NULL while it is on';
ALTER TABLE fsbench.experiment_log DROP CONSTRAINT experiment_log_event_check;
ALTER TABLE fsbench.experiment_log ADD CONSTRAINT experiment_log_event_check
    CHECK (event IN ('recorded', 'started', 'look', 'failed', 'invalid', 'interrupted', 'repeated', 'throttled', 'disturbed', 'burn_in', 'pilot',
        'rate', 'wal', 'waits', 'set_aside', 'paused', 'resumed', 'extended', 'cancelled', 'done'));
COMMENT ON COLUMN fsbench.experiment_log.event IS 'recorded, started, look, failed, invalid, interrupted, repeated, throttled, disturbed, burn_in, pilot, rate, wal, waits, set_aside, paused, resumed, extended, cancelled, or done';
-- What ends experiments early, and for how long they were on.
ALTER TABLE fsbench.experiment DROP CONSTRAINT experiment_ended_by_check;
ALTER TABLE fsbench.experiment ADD CONSTRAINT experiment_ended_by_check CHECK (ended_by IN ('max_duration', 'cancelled', 'no_reference'));
ALTER TABLE fsbench.experiment ADD COLUMN on_seconds float8;
ALTER TABLE fsbench.experiment ADD COLUMN on_since timestamptz;
-- For how long one was on that is paused now, its runs tell.
UPDATE fsbench.experiment e
    SET on_seconds = (SELECT coalesce(sum(extract(epoch FROM r.ended_at - r.started_at)), 0) FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id)
                      WHERE x.experiment_id = e.experiment_id)
    WHERE e.status = 'paused' AND e.started_at IS NOT NULL;
COMMENT ON COLUMN fsbench.experiment.ended_by IS 'What ended it before everything was decided: max_duration, cancelled or no_reference; NULL when nothing did';
COMMENT ON COLUMN fsbench.experiment.max_seconds IS 'For so long it may be on in all (s): max_duration, and when it is extended max_duration once more from then on; no run begins that cannot end within it';
COMMENT ON COLUMN fsbench.experiment.on_seconds IS 'For how long it was running before it was paused, ended or extended last (s); not while it was paused, or queued behind another one. NULL of one that ended before pgfsbench 0.3.0';
COMMENT ON COLUMN fsbench.experiment.on_since IS 'Since when it is running; NULL while it is not';
COMMENT ON COLUMN fsbench.experiment_run.why IS 'Why it does not count, or has no value';
COMMENT ON FUNCTION fsbench.drop_prepared_data IS 'Removes all data that were loaded once to be copied to targets, and returns their bytes; refused while a run uses them, or an experiment that is not over is to copy them again';
COMMENT ON FUNCTION fsbench.extend_experiment IS 'Has an experiment make up to 16 or 24 blocks, or those of the looks that its early end has left out; max_duration counts anew from then on. Returns the status';
CREATE OR REPLACE FUNCTION fsbench._check_new_experiment() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    NEW.status_reason := format('its row was copied while it was %s: it comes from a dump, or was written by hand', NEW.status);
    NEW.status := 'paused';
    -- Nobody knows until when it was running.
    NEW.on_since := NULL;
    RETURN NEW;
END
$$;
CREATE FUNCTION fsbench._on_seconds(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT coalesce(($1).on_seconds, extract(epoch FROM ($1).ended_at - ($1).started_at)::float8, 0)
        + CASE WHEN ($1).status = 'running'
               THEN greatest(extract(epoch FROM clock_timestamp() - coalesce(($1).on_since, ($1).started_at))::float8, 0) ELSE 0 END
    $$;
COMMENT ON FUNCTION fsbench._on_seconds IS 'For how long an experiment was on (s): not while it was paused, or waited for another one. Private';

-- Targets that are decided are not run again, and so it may be over earlier; which those are only the arithmetic of looks tells.
CREATE FUNCTION fsbench._seconds_left(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT least(greatest(c.runs * c.seconds_each - least(coalesce(extract(epoch FROM clock_timestamp() - c.since)::float8, 0), c.seconds_each), 0),
                 CASE WHEN ($1).max_seconds IS NOT NULL THEN greatest(($1).max_seconds - fsbench._on_seconds($1), 0) END)
    FROM (SELECT greatest(($1).run_seconds, m.longest) + coalesce(($1).probe_wait_seconds, ($1).run_seconds / 10) AS seconds_each, m.since,
                 greatest(($1).max_blocks * t.targets - m.counting, 0) + CASE WHEN m.block > 0 THEN 0 ELSE greatest(b.before - m.before, 0) END AS runs
          FROM (SELECT max(extract(epoch FROM r.ended_at - r.started_at))::float8 AS longest, max(x.block) AS block, min(x.planned_at) FILTER (WHERE x.outcome IS NULL) AS since,
                       count(*) FILTER (WHERE x.outcome IN ('measured', 'behind') AND t.set_aside IS NULL) AS counting,
                       count(*) FILTER (WHERE x.outcome IN ('burn_in', 'pilot')) AS before
                FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) LEFT JOIN fsbench.run_log r USING (run_id)
                WHERE x.experiment_id = ($1).experiment_id) m,
               (SELECT count(*) AS targets FROM fsbench.experiment_target t WHERE t.experiment_id = ($1).experiment_id AND t.set_aside IS NULL) t,
               LATERAL (SELECT t.targets - CASE WHEN ($1).control_number IS NULL THEN 0 ELSE 1 END AS compared) k,
               LATERAL (SELECT CASE WHEN ($1).rate_share IS NULL THEN 0 ELSE k.compared END + CASE WHEN ($1).burn_in THEN 1 ELSE 0 END AS whole) w,
               LATERAL (SELECT greatest(w.whole, CASE WHEN ($1).pilot_cycle THEN k.compared ELSE 0 END) AS before) b) c
    $$;
COMMENT ON FUNCTION fsbench._seconds_left IS 'What is left of an experiment at most, as reckoned (s): all runs of all blocks that are left. Private';
REVOKE ALL ON FUNCTION fsbench._on_seconds, fsbench._seconds_left FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench._on_seconds, fsbench._seconds_left TO pg_monitor;
CREATE OR REPLACE VIEW fsbench.experiments AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin,
           n.block, e.max_blocks, n.runs, n.repeated, n.run_id, n.target AS target_on,
           p.phase, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => l.seconds) AS over_at_latest,
           e.answer, e.status_reason, e.requested_by, e.created_at, e.started_at, e.ended_at, e.experiment_id
    FROM fsbench.experiment e CROSS JOIN LATERAL (
        SELECT pg_catalog.max(r.block) AS block, pg_catalog.count(r.outcome) AS runs,
               pg_catalog.count(*) FILTER (WHERE r.outcome NOT IN ('measured', 'behind', 'burn_in', 'pilot')) AS repeated,
               pg_catalog.max(r.run_id) FILTER (WHERE r.outcome IS NULL) AS run_id,
               pg_catalog.max(t.target) FILTER (WHERE r.outcome IS NULL) AS target
        FROM fsbench.experiment_run r JOIN fsbench.experiment_target t USING (experiment_id, target_number)
        WHERE r.experiment_id = e.experiment_id) n
    LEFT JOIN fsbench._progress() p ON p.run_id = n.run_id
    LEFT JOIN (
        SELECT o.experiment_id, pg_catalog.sum(fsbench._seconds_left(o)) OVER (ORDER BY o.status = 'queued', o.experiment_id) AS seconds
        FROM fsbench.experiment o WHERE o.status IN ('queued', 'running')) l ON l.experiment_id = e.experiment_id
    ORDER BY e.experiment_id;
COMMENT ON COLUMN fsbench.experiments.runs IS 'Runs that are over, also those that do not count';
COMMENT ON COLUMN fsbench.experiments.repeated IS 'Those of them that do not count although they were to: failed, invalid, interrupted, disturbed, or of a block that was made again. Runs before the first block (burn_in, pilot) were not to, and are not among them';
COMMENT ON FUNCTION fsbench.recommend IS 'What to do after an experiment, to be read from top to bottom: the choice and why, each one''s figures, what it gains and costs, under which conditions, what was not tested, findings that touch it, and lines to be pasted';
COMMENT ON COLUMN fsbench.experiments.over_at_latest IS 'When it is over at the latest, as reckoned now: when no target is decided before the last block, each run takes as long as planned, or as the longest so far, and waits for the processor probe as long as it may; a queued one after those of this database before it; no later than max_duration has it. Runs that are made again, runs of others, and experiments of other databases are not in it. NULL unless it is queued or running';
ALTER VIEW fsbench.experiments SET (security_invoker = true);
CREATE OR REPLACE VIEW fsbench.device WITH (security_invoker = true) AS
    SELECT d.path, d.model, d.serial, d.bytes AS size_bytes, d.contents, d.usable, d.why_not, d.wwn, d.partition_uuid, d.node,
           d.hint, h.seen_at
    FROM fsbench.helper_description h,
         pg_catalog.jsonb_to_recordset(h.description -> 'devices') AS d (path text, model text, serial text, bytes bigint, contents text,
             usable boolean, why_not text, wwn text, partition_uuid text, node text, hint text)
    UNION ALL
    SELECT b.path, b.model, b.serial, b.size_bytes, NULL, false,
           pg_catalog.concat_ws(', and ', CASE WHEN EXISTS (SELECT FROM fsbench.helper_description)
               THEN 'the helper''s configuration does not name it' ELSE 'the helper has not told yet whether its configuration names it' END, b.in_use),
           b.wwn, NULL, b.node,
           CASE WHEN b.in_use IS NULL THEN pg_catalog.format(E'[[device]]\npath = "%s"\n# Two lines for /etc/pgfsbench/helper.toml; '
               'then: systemctl restart pgfsbench-helper',
               pg_catalog.replace(pg_catalog.replace(b.path, E'\\', E'\\\\'), '"', E'\\"')) END,
           pg_catalog.clock_timestamp()
    FROM fsbench._block_devices() b
    WHERE NOT EXISTS (SELECT FROM fsbench.helper_description h, pg_catalog.jsonb_array_elements(h.description -> 'devices') d
                      WHERE d ->> 'node' = b.node OR d ->> 'path' IN (b.path, b.node))
    ORDER BY 6 DESC, 1;

-- What a night of a history is: six hours at most, what its machine has, and which runs are this server's own.
ALTER TABLE fsbench.run_log ADD COLUMN copied boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN fsbench.run_log.copied IS 'Whether no run of this server wrote the row: it comes from a dump or a file, or was written by hand. It is not repeated by fsbench.check_history()';
COMMENT ON COLUMN fsbench.run_log.phases IS 'Phases in their order: each with started_ms (since started_at) and ms; cleanup has no ms while it goes on. On a target the first ones are load_once (loading the data that are copied, if they were not there), filesystem (making and mounting it), copy, and server (starting it, or connecting to it); with the option crash stop, remount, recovery and verify follow those of the run; where a server was made for the run, release is the last one of a run that is done, once that server, its files and its filesystem are gone';
COMMENT ON COLUMN fsbench.run_log.balances IS 'What the tables held after the run, and was verified; of pgbench''s scripts the sums of accounts, tellers, branches and history, rows of history, fingerprint of the accounts, and accounts_read: all, or changed where only those were read that the history names; of two runs the fingerprints compare';
COMMENT ON COLUMN fsbench.sample.device_reads IS 'Reads of the block device of the data in the interval (iostat: r/s, where that is a second); NULL where the data have no block device of their own, as all columns of it';
COMMENT ON COLUMN fsbench.environment.layers IS 'What the data lie on, from above to the disks: partitions, LVM, encryption, RAID, loop devices and what holds their files, each with its queue, and disks with WWN and serial number as far as everybody may read them; NULL for a filesystem without a device (tmpfs, NFS, overlay, zfs)';
DROP TRIGGER check_new_run ON fsbench.run_log;
CREATE TRIGGER check_new_run BEFORE INSERT ON fsbench.run_log
    FOR EACH ROW EXECUTE FUNCTION fsbench._check_new_run();
COMMENT ON TRIGGER check_new_run ON fsbench.run_log IS 'A row alone is no run';
DROP FUNCTION fsbench._nights(text, text);
DROP FUNCTION fsbench.history(text, text);

CREATE OR REPLACE FUNCTION fsbench._check_new_run() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_type = 'fsbench coordinator') THEN
        RETURN NEW;
    END IF;
    NEW.copied := true;
    IF NEW.status NOT IN ('queued', 'running') THEN
        RETURN NEW;
    END IF;
    NEW.error := format('the run was %s when its row was copied', NEW.status);
    NEW.error_code := '55000';
    NEW.error_detail := 'The row comes from a dump, or was written by hand: no run of this server belongs to it.';
    NEW.error_hint := 'Start the run again.';
    NEW.status := 'failed';
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION fsbench._check_new_run IS 'Marks rows that are copied, and ends runs whose rows are copied while they are queued or on. Private';

CREATE FUNCTION fsbench._nights(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, good bigint, value float8, last_good timestamptz)
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1000
    AS $$
    WITH run AS (
        SELECT r.run_id, r.requested_at AS at, fsbench._shown_target(r.target, r.target_version) AS target,
               jsonb_hash_extended(jsonb_build_array((SELECT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = r.run_id),
                   -- Another disk in the same place is marked, and does not cut.
                   coalesce(nullif(r.target_definition - '{device_identity,log_device_identity}'::text[], '{}'), to_jsonb(r.target)), r.workload, r.scale, r.clients, r.duration, r.transactions, r.warmup, r.rate,
                   r.latency_limit_ms, r.asked -> 'settings', r.asked -> 'options', r.asked -> 'size'), 0) AS alike,
               CASE WHEN r.status = 'done' AND NOT EXISTS (SELECT FROM fsbench.finding f WHERE f.run_id = r.run_id AND f.severity = 'invalid')
                    -- What is in the row itself is taken from there: there may be thousands of rows.
                    THEN nullif(greatest(CASE $2 WHEN 'load_ms' THEN r.load_ms WHEN 'tps' THEN r.tps WHEN 'latency_avg_ms' THEN r.latency_avg_ms
                        WHEN 'latency_p50_ms' THEN r.latency_p50_ms WHEN 'latency_p90_ms' THEN r.latency_p90_ms WHEN 'latency_p95_ms' THEN r.latency_p95_ms
                        WHEN 'latency_p99_ms' THEN r.latency_p99_ms WHEN 'latency_p999_ms' THEN r.latency_p999_ms WHEN 'commit_avg_ms' THEN r.commit_avg_ms
                        WHEN 'commit_p50_ms' THEN r.commit_p50_ms WHEN 'commit_p99_ms' THEN r.commit_p99_ms WHEN 'cpu_ms_per_transaction' THEN r.cpu_ms_per_transaction
                        WHEN 'device_bytes_per_transaction' THEN r.device_bytes_per_transaction WHEN 'flushes_per_transaction' THEN r.flushes_per_transaction
                        WHEN 'server_write_amplification' THEN r.server_write_amplification WHEN 'filesystem_write_amplification' THEN r.filesystem_write_amplification
                        WHEN 'write_amplification' THEN r.write_amplification ELSE fsbench._metric(r.run_id, $2) END, 0), 0) END AS value
        FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('done', 'failed', 'cancelled')
    ), after AS (
        SELECT r.*, r.at - lag(r.at) OVER (PARTITION BY r.alike ORDER BY r.at, r.run_id) < interval '6 hours' AS is_repeat FROM run r
    ), chained AS (
        SELECT a.*, count(*) FILTER (WHERE a.is_repeat IS NOT TRUE) OVER (PARTITION BY a.alike ORDER BY a.at, a.run_id) AS chain FROM after a
    ), cut AS (
        SELECT c.*, floor(extract(epoch FROM c.at - min(c.at) OVER (PARTITION BY c.alike, c.chain)) / 21600) AS piece FROM chained c
    ), numbered AS (
        SELECT c.*, dense_rank() OVER (PARTITION BY c.alike ORDER BY c.chain, c.piece) AS night, min(c.run_id) OVER (PARTITION BY c.alike) AS first FROM cut c
    ), ordered AS (
        SELECT n.*, dense_rank() OVER (ORDER BY n.first) AS segment FROM numbered n
    )
    SELECT o.segment, o.night, min(o.at), min(o.target), coalesce(min(o.run_id) FILTER (WHERE o.value IS NOT NULL), min(o.run_id)), count(*), count(o.value),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY o.value), max(o.at) FILTER (WHERE o.value IS NOT NULL)
    FROM ordered o GROUP BY o.segment, o.night
    $$;
COMMENT ON FUNCTION fsbench._nights IS 'The nights of a label: like runs are a segment, and the median of the good runs of a night is its value. Private';

CREATE FUNCTION fsbench._differs_in_words(run_a bigint, run_b bigint, areas text[]) RETURNS text
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(CASE WHEN m.place <= 10 THEN format('%s: %s, before %s', m.name, coalesce(m.b, 'none'), coalesce(m.a, 'none')) ELSE format('and %s more', m.of - 10) END, '; ' ORDER BY m.place)
    FROM (SELECT d.name, d.a, d.b, row_number() OVER () AS place, count(*) OVER () AS of
          FROM fsbench.diff($1, $2) d WHERE CASE WHEN $3 IS NULL THEN d.matters <> 'hardly' ELSE d.area = ANY ($3) END) m WHERE m.place <= 11
    $$;
COMMENT ON FUNCTION fsbench._differs_in_words IS 'What differs between two runs, in words: in these areas, or (NULL) whatever is likely to matter. Private';

CREATE FUNCTION fsbench._history(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, good bigint, last_good timestamptz)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000
    AS $$
DECLARE
    s record;
    changes jsonb;
    change record;
    began integer;
    spread record;
    differences text;
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RAISE EXCEPTION 'label and metric must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A history is made of the runs that have this label.',
                  HINT = 'Call it as in SELECT * FROM fsbench.history(''nightly'').';
    END IF;
    PERFORM fsbench._is_more_better($2);
    IF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1) THEN
        RAISE EXCEPTION 'no run has the label "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database.',
                  HINT = 'Give it to the runs: fsbench.start(label => ...).';
    END IF;
    FOR s IN
        SELECT n.segment, array_agg(n.night ORDER BY n.night) AS nights, array_agg(n.at ORDER BY n.night) AS ats, array_agg(n.run_id ORDER BY n.night) AS ids,
               array_agg(n.runs ORDER BY n.night) AS counts, array_agg(n.good ORDER BY n.night) AS goods, array_agg(n.last_good ORDER BY n.night) AS lasts,
               array_agg(n.value ORDER BY n.night) AS of_night, array_agg(ln(n.value) ORDER BY n.night) AS x, min(n.target) AS target
        FROM fsbench._nights($1, $2) n GROUP BY n.segment ORDER BY n.segment
    LOOP
        -- Changes are few, and nights are many: these are taken as a set, and arrays of them are unnested, never subscripted.
        began := 1;
        changes := '[]';
        FOR change IN SELECT * FROM fsbench.change_points(s.x) c ORDER BY c.night LOOP
            -- The nights by which it was seen, and those before it: a two-sample t interval of means.
            SELECT avg(u.x) FILTER (WHERE u.n >= change.night) - avg(u.x) FILTER (WHERE u.n < change.night) AS difference, count(*) - 2 AS freedom,
                   sqrt(greatest(coalesce(var_samp(u.x) FILTER (WHERE u.n < change.night), 0) * (count(*) FILTER (WHERE u.n < change.night) - 1)
                        + coalesce(var_samp(u.x) FILTER (WHERE u.n >= change.night), 0) * (count(*) FILTER (WHERE u.n >= change.night) - 1), 0) / (count(*) - 2)
                        * (1.0 / count(*) FILTER (WHERE u.n < change.night) + 1.0 / count(*) FILTER (WHERE u.n >= change.night))) AS error
            INTO spread
            FROM unnest(s.x) WITH ORDINALITY u (x, n),
                 (SELECT max(q.n) AS ends FROM (SELECT v.n FROM unnest(s.x) WITH ORDINALITY v (x, n) WHERE v.n >= change.night AND v.x IS NOT NULL
                                                ORDER BY v.n LIMIT change.seen_after) q) e
            WHERE u.x IS NOT NULL AND u.n BETWEEN greatest(began, e.ends - 59) AND e.ends;
            differences := fsbench._differs_in_words((SELECT v.run_id FROM unnest(s.ids, s.x) WITH ORDINALITY v (run_id, x, n)
                WHERE v.n < change.night AND v.x IS NOT NULL ORDER BY v.n DESC LIMIT 1), s.ids[change.night], NULL);
            changes := changes || jsonb_build_object('n', change.night, 'before', exp(change.before), 'after', exp(change.after), 'ratio', exp(change.size),
                'low', exp(spread.difference - fsbench.student_t(0.025, spread.freedom) * spread.error),
                'high', exp(spread.difference + fsbench.student_t(0.025, spread.freedom) * spread.error), 'seen_after', change.seen_after, 'differs', differences);
            began := change.night;
        END LOOP;
        RETURN QUERY
        SELECT s.segment, u.night, u.at, s.target, u.run_id, u.runs, u.value,
               CASE WHEN c.n IS NOT NULL THEN 'changed' WHEN u.value IS NULL THEN 'missing' ELSE 'good' END,
               c.before, c.after, c.ratio, c.low, c.high, c.seen_after, c.differs, u.good, u.last_good
        FROM unnest(s.nights, s.ats, s.ids, s.counts, s.of_night, s.goods, s.lasts) WITH ORDINALITY u (night, at, run_id, runs, value, good, last_good, n)
        LEFT JOIN jsonb_to_recordset(changes) c (n bigint, before float8, after float8, ratio float8, low float8, high float8, seen_after integer, differs text) ON c.n = u.n
        ORDER BY u.n;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._history IS 'The nights of a label, their changes of level, and what an alarm asks besides. Private';

CREATE FUNCTION fsbench.history(label text, metric text DEFAULT 'tps')
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, marks text)
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000
    AS $$
    WITH night AS MATERIALIZED (
        SELECT h.* FROM fsbench._history($1, $2) h
    ), known AS (
        SELECT n.segment, n.night, n.run_id, lag(n.run_id) OVER w AS before, f.machine, lag(f.machine) OVER w AS machine_before, e.layers, lag(e.layers) OVER w AS layers_before
        FROM night n JOIN fsbench.environment e USING (run_id),
             LATERAL (SELECT concat_ws(' ', e.configuration_fingerprint, e.kernel, e.server_version, e.pgfsbench_version, e.device_model, e.storage #>> '{result,wwn}',
                                       e.storage #>> '{result,serial}') AS machine) f
        WINDOW w AS (PARTITION BY n.segment ORDER BY n.night)
    ), marked AS (
        -- Nearly all nights are as the one before, and a close look takes long.
        SELECT k.segment, k.night, fsbench._differs_in_words(k.before, k.run_id, '{kernel,version,settings,device}') AS marks
        FROM known k WHERE k.machine <> k.machine_before OR k.layers <> k.layers_before
    )
    SELECT n.segment, n.night, n.at, n.target, n.run_id, n.runs, n.value, n.status, n.before, n.after, n.ratio, n.low, n.high, n.seen_after, n.differs, m.marks
    FROM night n LEFT JOIN marked m USING (segment, night) ORDER BY n.segment, n.night
    $$;
COMMENT ON FUNCTION fsbench.history IS 'The nights of the runs with a label: like runs (target as defined, workload, parameters) are one segment, and runs within six hours of each other one night, whose value is the median of the good ones. status: good; changed, the first night of a new level, by the rule of fsbench.change_points(), with the medians before and after, their ratio with a 95 % interval, after how many nights it was seen, and what differs between its run and the last good one before, as candidates for the cause; missing: no good run. marks: what of kernel, versions, settings and disks is another than the night before, which cuts nothing';

CREATE OR REPLACE FUNCTION fsbench.thin(older_than interval, only_say boolean DEFAULT false)
    RETURNS TABLE (runs bigint, seconds bigint, waits bigint, bytes bigint, removed boolean)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1
    AS $$
DECLARE
    old bigint[];
    all_seconds bigint;
    all_waits bigint;
BEGIN
    IF older_than IS NULL OR older_than < interval '0' THEN
        RAISE EXCEPTION 'older_than must be 0 or above'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(older_than::text, 'null')),
                  HINT = 'Call it as in SELECT * FROM fsbench.thin(''90 days'', only_say => true).';
    END IF;
    SELECT array_agg(r.run_id) INTO old FROM fsbench.run_log r WHERE r.ended_at < clock_timestamp() - older_than AND r.status IN ('done', 'failed', 'cancelled');
    SELECT count(*), count(*) FILTER (WHERE s.run_id = ANY (old)), count(DISTINCT s.run_id) FILTER (WHERE s.run_id = ANY (old)) INTO all_seconds, seconds, runs FROM fsbench.sample s;
    SELECT count(*), count(*) FILTER (WHERE w.run_id = ANY (old)) INTO all_waits, waits FROM fsbench.wait_event w;
    bytes := pg_total_relation_size('fsbench.sample') * seconds / greatest(all_seconds, 1) + pg_total_relation_size('fsbench.wait_event') * waits / greatest(all_waits, 1);
    removed := NOT coalesce(only_say, false);
    IF removed THEN
        DELETE FROM fsbench.sample s WHERE s.run_id = ANY (old);
        DELETE FROM fsbench.wait_event w WHERE w.run_id = ANY (old);
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench.thin IS 'Removes the seconds and waits of runs that have ended so long ago, and keeps their results, histograms and findings; what is made of seconds only, such as the metric tps_cv and the worst second, is gone with them; says of how many runs, how many rows, and about how many bytes, which the tables use again after a VACUUM. only_say => true: beforehand, removing nothing. For the owner of the extension';

CREATE OR REPLACE FUNCTION fsbench._exported() RETURNS TABLE (place integer, relation name, key text, parent text, left_out name[])
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 20
    AS $$
    SELECT row_number() OVER ()::integer, v.* FROM (VALUES
        ('run_log'::name, 'run_id', 'run_id', '{requested_by,work_database,work_database_oid,work_mark,kept,copied}'::name[]),
        ('environment', 'run_id', 'run_id', '{}'),
        ('finding', 'run_id, code', 'run_id', '{}'),
        ('histogram', 'run_id, transaction, measure', 'run_id', '{}'),
        ('sample', 'run_id, second', 'run_id', '{}'),
        ('wait_event', 'run_id, second, wait_event_type, wait_event', 'run_id', '{}'),
        ('checkpoint', 'run_id, number', 'run_id', '{}'),
        ('statistic', 'run_id, view, object, counter', 'run_id', '{}'),
        ('statement', 'run_id, queryid, toplevel', 'run_id', '{}'),
        ('maintenance', 'run_id, position', 'run_id', '{}'),
        ('probe', 'run_id, number', 'run_id', '{}'),
        ('recovery', 'run_id', 'run_id', '{}'),
        ('fsync', 'run_id, position', 'run_id', '{}'),
        ('scan', 'run_id, scan', 'run_id', '{}'),
        ('scan_read', 'run_id, readers, block_bytes', 'run_id', '{}'),
        ('experiment', 'experiment_id', 'experiment_id', '{requested_by,mark,confirms,probe_waited_seconds}'),
        ('experiment_target', 'experiment_id, target_number', 'experiment_id', '{}'),
        ('experiment_run', 'experiment_id, block, target_number, attempt', 'experiment_id', '{}'),
        ('experiment_log', 'experiment_id, log_id', 'experiment_id', '{log_id,by}')) AS v
    $$;
COMMENT ON FUNCTION fsbench._exported IS 'Tables that files of fsbench.export() hold, in their order, and columns that they do not hold. Private';

CREATE OR REPLACE FUNCTION fsbench._seconds_in_words(run_id bigint, from_second integer, to_second integer) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    -- A second of a stall may be longer than one: figures are added up, and divided by the time that it was.
    SELECT concat_ws('; ', format('%s s', round(w.seconds::numeric)), format('%s tps', round(w.transactions / w.seconds)),
        format('%s reads/s', round(w.reads / w.seconds)), format('%s MB/s read', round((w.read_bytes / w.seconds / 1e6)::numeric, 1)),
        format('%s writes/s', round(w.writes / w.seconds)), format('%s MB/s written', round((w.write_bytes / w.seconds / 1e6)::numeric, 1)),
        format('%s flushes/s', round(w.flushes / w.seconds)),
        -- Those of a second weigh as many as there were.
        CASE WHEN w.writes > 0 THEN format('%s ms a write', round((w.write_ms / w.writes)::numeric, 2)) END,
        CASE WHEN w.flushes > 0 THEN format('%s ms a flush', round((w.flush_ms / w.flushes)::numeric, 2)) END,
        format('%s requests under way', round((w.queue / w.seconds)::numeric, 1)), format('%s %% busy', round((w.busy / w.seconds)::numeric)),
        CASE WHEN w.wal_flushes > 0 THEN format('device of WAL: %s writes/s, %s flushes/s, %s ms a flush', round(w.wal_writes / w.seconds), round(w.wal_flushes / w.seconds),
            round((w.wal_flush_ms / w.wal_flushes)::numeric, 2)) END)
    FROM (SELECT sum(s.interval_ms::float8) / 1000 AS seconds, sum(s.transactions::float8) AS transactions, sum(s.device_reads::float8) AS reads, sum(s.device_read_bytes::float8) AS read_bytes,
                 sum(s.device_writes::float8) AS writes, sum(s.device_write_bytes::float8) AS write_bytes, sum(s.device_flushes::float8) AS flushes,
                 sum(s.device_w_await_ms::float8 * s.device_writes) AS write_ms, sum(s.device_f_await_ms::float8 * s.device_flushes) AS flush_ms,
                 sum(s.device_aqu_sz::float8 * s.interval_ms) / 1000 AS queue, sum(s.device_util_percent::float8 * s.interval_ms) / 1000 AS busy,
                 sum(s.wal_device_writes::float8) AS wal_writes, sum(s.wal_device_flushes::float8) AS wal_flushes, sum(s.wal_device_f_await_ms::float8 * s.wal_device_flushes) AS wal_flush_ms
          FROM fsbench.sample s WHERE s.run_id = $1 AND s.second BETWEEN $2 AND $3 AND s.interval_ms >= 500) w
    WHERE w.seconds > 0
    $$;
COMMENT ON FUNCTION fsbench._seconds_in_words IS 'What the device did in some seconds of a run, in words. Private';

CREATE OR REPLACE FUNCTION fsbench.evidence(run_id bigint) RETURNS TABLE (part text, at_utc text, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 30
    AS $$
DECLARE
    run fsbench.run_log;
    e fsbench.environment;
    device text;
    stall record;
    piece record;
    utc text := 'YYYY-MM-DD HH24:MI:SS "UTC"';
BEGIN
    PERFORM fsbench._check_runs(ARRAY[$1]);
    SELECT * INTO run FROM fsbench.run_log r WHERE r.run_id = $1;
    SELECT * INTO e FROM fsbench.environment v WHERE v.run_id = $1;
    IF run.measured_from IS NULL OR NOT EXISTS (SELECT FROM fsbench.sample s WHERE s.run_id = $1) THEN
        RAISE EXCEPTION 'run % has no seconds that could be shown', $1
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its status is %s.', run.status),
                  HINT = 'Take a run of fsbench.result that is done, and was made with samples.';
    END IF;
    RETURN QUERY SELECT 'window', to_char(run.measured_from AT TIME ZONE 'UTC', utc),
        concat_ws('; ', format('%s s', round(run.measured_ms / 1000)), format('%s tps', round(run.tps)), format('%s stalled seconds', run.stall_seconds));
    device := concat_ws('; ', e.device, e.device_model, 'WWN ' || (e.storage #>> '{result,wwn}'), 'serial number ' || (e.storage #>> '{result,serial}'),
        'partition ' || (e.storage #>> '{result,partition_uuid}'), 'mounted on ' || e.mount_point, 'write cache ' || e.write_cache);
    IF device <> '' THEN
        RETURN QUERY SELECT 'device', NULL::text, device;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN l.is_wal THEN 'path of WAL' ELSE 'path' END, NULL::text,
        concat_ws('; ', l.layer ->> 'kind', l.layer ->> 'name', 'number ' || (l.layer ->> 'device'), pg_size_pretty((l.layer ->> 'bytes')::bigint), l.layer ->> 'model', l.layer ->> 'level',
            'WWN ' || (l.layer ->> 'wwn'), 'serial number ' || (l.layer ->> 'serial'), 'scheduler ' || (l.layer #>> '{queue,scheduler}'), 'nr_requests ' || (l.layer #>> '{queue,nr_requests}'), 'queue depth ' || (l.layer #>> '{queue,queue_depth}'),
            'write cache ' || (l.layer #>> '{queue,write_cache}'))
    FROM (SELECT false AS is_wal, x.* FROM jsonb_array_elements(e.layers) WITH ORDINALITY x (layer, n)
          UNION ALL SELECT true, x.* FROM jsonb_array_elements(CASE WHEN e.wal_layers IS DISTINCT FROM e.layers THEN e.wal_layers END) WITH ORDINALITY x (layer, n)) l
    ORDER BY l.is_wal, l.n;
    -- Of means of seconds: the kernel counts, and does not keep single requests.
    RETURN QUERY
    SELECT f.part, NULL::text, format('%s in all; mean of a second: median %s ms, p90 %s ms, p99 %s ms, longest %s ms, over %s seconds', sum(f.flushes),
        round((percentile_cont(0.5) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round((percentile_cont(0.9) WITHIN GROUP (ORDER BY f.ms))::numeric, 3),
        round((percentile_cont(0.99) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round(max(f.ms)::numeric, 3), count(f.ms))
    FROM (SELECT 'flushes' AS part, s.device_flushes AS flushes, s.device_f_await_ms AS ms FROM fsbench.sample s WHERE s.run_id = $1
          UNION ALL SELECT 'flushes of WAL', s.wal_device_flushes, s.wal_device_f_await_ms FROM fsbench.sample s WHERE s.run_id = $1) f
    GROUP BY f.part HAVING count(f.ms) > 0 ORDER BY f.part;
    RETURN QUERY
    SELECT 'commits', NULL::text, concat_ws(', ', format('median %s ms', round(run.commit_p50_ms::numeric, 3)), format('p99 %s ms', round(run.commit_p99_ms::numeric, 3)),
        'longest ' || round(run.commit_max_ms::numeric, 3) || ' ms')
    WHERE run.commit_p99_ms IS NOT NULL;
    RETURN QUERY
    SELECT 'sync test', NULL::text, format('%s, %s writers: median %s ms, p99 %s ms, longest %s ms', f.method, f.writers, round(f.latency_p50_ms::numeric, 3), round(f.latency_p99_ms::numeric, 3),
        round(f.latency_max_ms::numeric, 3)) FROM fsbench.fsync f WHERE f.run_id = $1 AND f.method <> 'none' ORDER BY f.position;
    RETURN QUERY SELECT 'whole window', NULL::text, w FROM fsbench._seconds_in_words($1, 0, 2147483647) w;
    FOR stall IN
        SELECT min(s.second) AS first, max(s.second) AS last, row_number() OVER (ORDER BY min(s.second)) AS number
        FROM (SELECT c.second, c.second - row_number() OVER (ORDER BY c.second) AS island FROM fsbench.chart_second c WHERE c.run_id = $1 AND c.stalled) s
        GROUP BY s.island ORDER BY 1
    LOOP
        FOR piece IN SELECT * FROM (VALUES ('before', greatest(stall.first - 5, 0), stall.first - 1), ('during', stall.first, stall.last), ('after', stall.last + 1, stall.last + 5)) p (name, first, last) LOOP
            RETURN QUERY SELECT format('stall %s, %s', stall.number, piece.name), to_char((run.measured_from + make_interval(secs => piece.first)) AT TIME ZONE 'UTC', utc), w
            FROM fsbench._seconds_in_words($1, piece.first, piece.last) w WHERE w IS NOT NULL;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT 'configuration', NULL::text, c.says
    FROM (VALUES (1, concat_ws('; ', e.filesystem, e.mount_options, 'block size ' || e.block_size_bytes)), (2, e.mkfs_command), (3, e.kernel),
        (4, concat_ws('; ', 'scheduler ' || e.io_scheduler, 'nr_requests ' || e.nr_requests, 'queue depth ' || e.queue_depth, 'read-ahead ' || e.read_ahead_kb || ' kB')),
        (5, (SELECT string_agg(format('%s = %s', v.key, v.value), '; ' ORDER BY v.key) FROM jsonb_each_text(e.vm) v WHERE v.key ~ 'dirty')),
        (6, e.server_version)) c (n, says) WHERE c.says <> '' ORDER BY c.n;
END
$$;
COMMENT ON FUNCTION fsbench.evidence IS 'What a run shows of its storage, for a ticket to those who run that storage: the device and the path to it, what flushes and commits took, each stall in UTC with what the device did before, during and after it, and the configuration; nothing else';

CREATE OR REPLACE VIEW fsbench.chart_second WITH (security_invoker = true) AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, s.second, v.tps, v.tps < m.median / 10 AS stalled, s.latency_p99_ms, s.commit_p99_ms, s.device_write_bytes,
           s.device_f_await_ms, s.device_util_percent, s.dirty_bytes, s.writeback_bytes,
           s.cpu_usr_percent + s.cpu_nice_percent AS cpu_usr_percent, s.cpu_sys_percent + coalesce(s.cpu_irq_percent + s.cpu_soft_percent, 0) AS cpu_sys_percent,
           s.cpu_iowait_percent, s.cpu_steal_percent, s.device_write_bytes::float8 * 1000 / s.interval_ms AS device_write_bytes_per_s
    FROM fsbench.run_log r
    JOIN LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x.transactions * 1000.0 / x.interval_ms) AS median
                  FROM fsbench.sample x WHERE x.run_id = r.run_id AND x.interval_ms >= 500) m ON true
    JOIN fsbench.sample s ON s.run_id = r.run_id AND s.interval_ms >= 500,
    LATERAL (SELECT s.transactions * 1000.0 / s.interval_ms AS tps) v;
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes IS 'Bytes written to the device of the data in the interval, which may be longer than a second where the sampler came late';
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes_per_s IS 'Bytes written to the device of the data per second';
REVOKE ALL ON FUNCTION fsbench._nights, fsbench._history, fsbench._differs_in_words, fsbench.history FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench._nights, fsbench._history, fsbench._differs_in_words, fsbench.history TO pg_monitor;

CREATE OR REPLACE FUNCTION fsbench.chart_history(label text, metric text DEFAULT 'tps', nights integer DEFAULT 30, width integer DEFAULT 80, ascii boolean DEFAULT NULL)
    RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 32
    AS $$
BEGIN
    IF coalesce($3, 0) < 1 OR $4 IS NULL THEN
        RAISE EXCEPTION 'nights must be above 0, and width must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A bar is drawn for each of the last nights.',
                  HINT = 'Call it as in SELECT fsbench.chart_history(''nightly'').';
    END IF;
    RETURN QUERY
    WITH night AS (
        SELECT h.*, row_number() OVER (ORDER BY h.at DESC, h.run_id DESC) AS back FROM fsbench.history($1, $2) h
    )
    SELECT d FROM fsbench._draw(jsonb_build_object('bars', jsonb_build_object('title', format('history %s: %s by night', $1, $2),
        'bars', (SELECT jsonb_agg(jsonb_build_object('label', to_char(n.at AT TIME ZONE 'UTC', 'YYYY-MM-DD ') || n.target, 'values', CASE WHEN n.value IS NULL THEN '[]' ELSE jsonb_build_array(n.value) END,
                     'remark', CASE n.status WHEN 'good' THEN
                     coalesce('other ' || (SELECT string_agg(split_part(m, ':', 1), ', ') FROM unnest(string_to_array(n.marks, '; ')) m WHERE m LIKE '%: %'), '') WHEN 'changed' THEN format('changed: %s times', round(n.ratio::numeric, 2)) ELSE n.status END) ORDER BY n.back DESC)
                 FROM night n WHERE n.back <= $3))), $4, 8, fsbench._is_ascii_wanted($5)) d;
END
$$;
COMMENT ON FUNCTION fsbench.chart_history IS 'The last nights of a history (fsbench.history), drawn with characters: a bar each, and where the level has changed. width and ascii as in fsbench.chart()';

CREATE OR REPLACE FUNCTION fsbench.scan_curve(run_id bigint)
    RETURNS TABLE (degree integer, repeats bigint, not_used bigint, median_ms float8, min_ms float8, max_ms float8,
        gb_per_second float8, rows_per_second float8, speedup float8, efficiency float8, skew float8)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10
    AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    WITH curve AS (
        SELECT s.degree, count(*) FILTER (WHERE s.used) AS repeats, count(*) FILTER (WHERE NOT s.used) AS not_used,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FILTER (WHERE s.used) AS median_ms,
               min(s.ms) FILTER (WHERE s.used) AS min_ms, max(s.ms) FILTER (WHERE s.used) AS max_ms,
               max(s.bytes) AS bytes, max(s.rows) AS rows,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.skew) FILTER (WHERE s.used) AS skew
        FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity' GROUP BY s.degree
    ), base AS (
        SELECT c.degree * c.median_ms AS work FROM curve c ORDER BY c.degree LIMIT 1
    )
    SELECT c.degree, c.repeats, c.not_used, c.median_ms, c.min_ms, c.max_ms,
           c.bytes / 1e6 / c.median_ms, c.rows * 1000 / c.median_ms,
           b.work / c.median_ms, b.work / c.median_ms / c.degree, c.skew
    FROM curve c LEFT JOIN base b ON true ORDER BY c.degree;
END
$$;
COMMENT ON FUNCTION fsbench.scan_curve IS 'The curve of a run of the workload scan, for plotting: for each degree the scans that count and those that do not (not_used: not all workers were there, or the cache was not as asked), median, shortest and longest time (ms), bytes (10^9) and rows per second at the median, speed-up (how many times as fast as with one worker; without degree 1 the smallest one that was asked for counts as perfectly parallel; NULL when no scan of it counts), efficiency (speed-up / degree), and median skew';

CREATE OR REPLACE FUNCTION fsbench.scan_knee(run_id bigint)
    RETURNS TABLE (verdict text, degree integer, low float8, high float8, tolerance float8, says text)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1
    AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    SELECT k.verdict, k.degree, k.low, k.high, k.tolerance,
           CASE WHEN c.counting < 3 AND c.counting < c.asked
                THEN format('not identifiable: it takes at least three degrees, and only %s of %s have scans that count', c.counting, c.asked)
                ELSE k.says END
    -- A row that no scan has made breaks no view over all runs.
    FROM (SELECT coalesce((array_agg(s.degree ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS degrees,
                 coalesce((array_agg(s.ms ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS ms,
                 count(DISTINCT s.degree) AS asked, count(DISTINCT s.degree) FILTER (WHERE s.used) AS counting
          FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity') c, fsbench.knee(c.degrees, c.ms) k;
END
$$;
COMMENT ON FUNCTION fsbench.scan_knee IS 'The knee of a run of the workload scan: the degree after which another worker no longer helps; see fsbench.knee()';

-- Under a rate, what was started too late, and percentiles of all that was due.
ALTER TABLE fsbench.run_log ADD COLUMN behind bigint;
COMMENT ON COLUMN fsbench.run_log.behind IS 'Transactions that were committed and had started more than 10 s after they were due, under a rate; with those that were skipped or have failed, what was not done in time. NULL in runs from before 0.3.0, and of workloads without transactions';
COMMENT ON COLUMN fsbench.run_log.latency_p50_ms IS 'Median latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p90_ms IS '90th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p95_ms IS '95th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p99_ms IS '99th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p999_ms IS '99.9th percentile of the latency (ms); NULL under 10,000 transactions; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
CREATE OR REPLACE VIEW fsbench.result WITH (security_invoker = true) AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target,
           e.filesystem, e.scope, e.durability, r.workload, r.scale, r.clients, r.status, r.started_at,
           r.tps, r.latency_avg_ms, r.latency_stddev_ms, r.latency_p50_ms, r.latency_p90_ms, r.latency_p95_ms,
           r.latency_p99_ms, r.latency_p999_ms, r.latency_max_ms, r.commit_avg_ms, r.commit_p50_ms, r.commit_p99_ms,
           r.commit_max_ms, r.transactions_total, r.transactions_outside, r.skipped, r.late, r.skipped + r.late AS missed, r.failed, r.stall_seconds,
           r.zero_seconds, r.load_ms, r.measured_ms, r.data_bytes, r.wal_bytes, r.xids_used, r.complete_checkpoints, r.checkpoints_timed, r.checkpoints_requested, r.checkpoints_logged,
           r.track_io_timing, r.track_wal_io_timing, r.clock_read_ns,
           f.findings, f.worst AS worst_finding,
           r.duration, r.transactions, r.warmup, r.rate, r.latency_limit_ms, r.seed, r.label, r.forced, r.used, r.asked,
           r.requested_by, r.requested_at, r.measured_from, r.ended_at, r.phases, r.steps, r.work_database, r.kept,
           r.error_code, r.error, r.error_detail, r.error_hint, r.balances,
           e.pgfsbench_version, e.server_version, e.server_version_num, e.kernel, e.hostname, e.machine,
           e.virtualization, e.processors, e.processor_model, e.memory_bytes, e.shared_buffers_bytes, e.data_checksums, e.data_directory,
           e.device, e.mount_point, e.mount_options, e.st_dev, e.filesystem_size_bytes, e.filesystem_free_bytes, e.wal_directory, e.wal_filesystem, e.wal_device,
           e.wal_mount_options, e.wal_st_dev, e.settings,
           r.client_wal_records, r.client_wal_fpi, r.client_wal_bytes, r.client_wal_writes, r.client_wal_syncs,
           r.client_wal_write_ms, r.client_wal_sync_ms, r.client_blocks_hit, r.client_blocks_read,
           r.client_blocks_dirtied, r.client_blocks_written, r.client_block_read_ms, r.client_block_write_ms,
           r.client_cpu_seconds, r.cpu_seconds, r.cpu_ms_per_transaction, r.device_read_bytes, r.device_write_bytes,
           r.device_flushes, r.device_bytes_per_transaction, r.flushes_per_transaction, r.changed_bytes,
           r.server_write_bytes, r.io_read_bytes, r.io_write_bytes, r.io_extend_bytes, r.io_wal_write_bytes, r.server_write_amplification, r.filesystem_write_amplification,
           r.write_amplification, r.wal_start_lsn, r.wal_end_lsn,
           e.mkfs_version, e.block_size_bytes, e.device_model, e.rotational, e.write_cache, e.io_scheduler, e.read_ahead_kb,
           e.container, e.clock_source, e.host_fingerprint, e.configuration_fingerprint,
           r.data_bytes::float8 / nullif(e.memory_bytes, 0) AS data_ram_ratio,
           r.data_bytes::float8 / nullif(e.shared_buffers_bytes, 0) AS data_shared_buffers_ratio,
           r.sustainable_rate, r.sustainable_rate_low, r.sustainable_rate_high, r.sustainable_rate_estimate, r.sustainable_rate_says,
           r.target AS target_name, r.target_version,
           left(encode(sha256(convert_to(r.target_definition::text, 'UTF8')), 'hex'), 16) AS target_fingerprint, r.target_definition,
           r.behind
    FROM fsbench.run_log r
    LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN LATERAL (
        SELECT count(*)::integer AS findings,
               (ARRAY['info', 'warning', 'invalid'])[max(array_position(ARRAY['info', 'warning', 'invalid'], severity))] AS worst
        FROM fsbench.finding WHERE run_id = r.run_id) f ON true;
DO $$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT a.attname, pg_catalog.col_description(a.attrelid, a.attnum) AS text FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = 'fsbench.run_log'::pg_catalog.regclass
          AND a.attname IN ('behind', 'phases', 'balances', 'latency_p50_ms', 'latency_p90_ms', 'latency_p95_ms', 'latency_p99_ms', 'latency_p999_ms')
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON COLUMN fsbench.result.%I IS %L', col.attname, col.text);
    END LOOP;
END
$$;

COMMENT ON FUNCTION fsbench._renew_operators IS 'Gives operators what is new. Private: called by the library after ALTER EXTENSION UPDATE of pgfsbench and pgfsbench_report, and CREATE EXTENSION pgfsbench_report';
