-- Functions and views for studies.

CREATE FUNCTION fsbench._builtin_studies() RETURNS TABLE (study text, definition text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 6 AS 'MODULE_PATHNAME', 'fsbench_builtin_studies_wrapper';
COMMENT ON FUNCTION fsbench._builtin_studies IS 'The studies that come with pgfsbench, as JSON. Private; read fsbench.study_definitions';

CREATE FUNCTION fsbench._study(asked jsonb, plan_only boolean) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_study_wrapper';
COMMENT ON FUNCTION fsbench._study IS 'Starts a study, or only says what that would be. Private: called by fsbench.study() and study_plan()';

CREATE FUNCTION fsbench.study(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL,
    neighbours text DEFAULT 'unexpected', devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._study(pg_catalog.jsonb_build_object('study', study, 'image_size', image_size, 'device', device, 'part', part, 'quick', quick,
        'period', period, 'scale', scale, 'duration_us', (CASE WHEN EXTRACT(epoch FROM duration) OPERATOR(pg_catalog.>) 1e9::numeric THEN 1e9::numeric ELSE EXTRACT(epoch FROM duration) END
        OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'blocks', blocks,
        'log_device', log_device, 'bindir', bindir, 'power_loss_protected', power_loss_protected, 'start', start,
        'misaligned_device', misaligned_device, 'neighbours', neighbours, 'devices', devices, 'image_count', image_count,
        'data', data, 'database', database), false);
COMMENT ON FUNCTION fsbench.study IS 'Repeats a published benchmark on an image or a device of this machine: makes its targets, and starts an experiment for each question of the part. Returns its name at once. part: one of fsbench.studies.parts, several with commas between them, or all. See fsbench.study_claims() and fsbench.study_report(). quick: an hour''s worth in ten minutes; scale, duration and blocks shrink or enlarge it. period: with the settings of its time (true), of today (false), or those of its time only beside the published table (NULL), which parts with -today behind their names make once more with those of today. log_device: for variants whose log is elsewhere; bindir: a second build of the server; misaligned_device: a partition of the same disk that is misaligned on purpose; power_loss_protected: of the device, as in fsbench.create_target(); start => false only records it; neighbours: as in fsbench.experiment(); devices: several devices, and image_count: several images, for variants with a layout; data and database: the runs make their tables in this database of a copy that fsbench.prepare_data() has made, and questions about data of a fixed size are left out';

CREATE FUNCTION fsbench.study_plan(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL,
    neighbours text DEFAULT 'unexpected', devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS TABLE (part text, item text, says text) LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 60 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.part, r.item, r.says FROM jsonb_to_recordset(fsbench._study(jsonb_build_object('study', $1, 'image_size', $2, 'device', $3, 'part', $4,
        'quick', $5, 'period', $6, 'scale', $7, 'duration_us', (CASE WHEN EXTRACT(epoch FROM $8) > 1e9 THEN 1e9 ELSE EXTRACT(epoch FROM $8) END * 1e6)::bigint, 'blocks', $9, 'log_device', $10, 'bindir', $11,
        'power_loss_protected', $12, 'start', $13, 'misaligned_device', $14, 'neighbours', $15, 'devices', $16, 'image_count', $17,
        'data', $18, 'database', $19), true)::jsonb) AS r (part text, item text, says text)
    $$;
COMMENT ON FUNCTION fsbench.study_plan IS 'Shows what fsbench.study() would do with these arguments, and changes nothing: its experiments, what they need, what is left out here and what would help, how each claim is decided, and each run';

CREATE FUNCTION fsbench.study_claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_study_claims_wrapper';
COMMENT ON FUNCTION fsbench.study_claims IS 'Each claim of a study: what is claimed (says), what the author saw (seen), what decides it, and whether it holds here: holds, does not hold, inconclusive or not tested. estimate, low, high: the ratio that decides with its interval; by ranges of the runs that of the medians, and of the ranges; of a knee degrees';

CREATE FUNCTION fsbench.study_report(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text, not_tested text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 30 AS 'MODULE_PATHNAME', 'fsbench_study_report_wrapper';
COMMENT ON FUNCTION fsbench.study_report IS 'The author''s table with ours beside it, each also in percent of its best: figures of two machines are not compared. ratio, low, high: here, to the baseline of the question; of figures by which its experiment does not decide of the medians, and of the ranges of their runs. A knee is a degree with its interval. compared: whether the variant stands to the baseline as it did there: same order, reversed, or not told apart. not_tested: why the variant was not tested here';

CREATE FUNCTION fsbench.define_study(definition jsonb) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_define_study_wrapper';
COMMENT ON FUNCTION fsbench.define_study IS 'Records a study of your own, in the form of those that come with pgfsbench (fsbench.study_definitions), checked as strictly, or puts it in place of one that you have defined before; returns its name';

CREATE FUNCTION fsbench.drop_study(study text, keep_runs boolean DEFAULT false) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_study_wrapper';
COMMENT ON FUNCTION fsbench.drop_study IS 'Removes a started study that is over, with its experiments, and with its targets and runs unless keep_runs. Removes the definition of a study of your own that was not started. Returns the name';

CREATE VIEW fsbench.study_definitions AS
    SELECT b.study, b.definition::jsonb AS definition, false AS is_own FROM fsbench._builtin_studies() b
    UNION ALL SELECT o.study, o.definition, true FROM fsbench.study_definition o;
COMMENT ON VIEW fsbench.study_definitions IS 'Studies as they are defined: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.study_definitions.is_own IS 'Whether it was defined in this database';

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
COMMENT ON COLUMN fsbench.studies.title IS 'Title';
COMMENT ON COLUMN fsbench.studies.author IS 'Author';
COMMENT ON COLUMN fsbench.studies.year IS 'Year of its publication';
COMMENT ON COLUMN fsbench.studies.parts IS 'Parts: one is made at a time, several with commas between them, or all';
COMMENT ON COLUMN fsbench.studies.claims IS 'Number of claims';
COMMENT ON COLUMN fsbench.studies.status IS 'on while an experiment of it is not over, over after that; NULL: not started here';
COMMENT ON COLUMN fsbench.studies.created_at IS 'Time of its start here';
COMMENT ON COLUMN fsbench.studies.experiments IS 'Names of its experiments, in the order in which they are made';

CREATE VIEW fsbench.published AS
    SELECT d.study, f.variant, f.metric, f.value, f.unit, f.runs, f.remark, coalesce(f.source, d.definition ->> 'source') AS source
    FROM fsbench.study_definitions d,
         LATERAL ROWS FROM (pg_catalog.jsonb_to_recordset(d.definition -> 'published')
             AS (variant text, metric text, value float8, unit text, runs float8[], remark text, source text)) WITH ORDINALITY
             AS f (variant, metric, value, unit, runs, remark, source, place)
    ORDER BY d.is_own, d.definition ->> 'year', d.study, f.place;
COMMENT ON VIEW fsbench.published IS 'The figures that the authors of studies have published, of their machines; fsbench.study_report() has ours beside them';
COMMENT ON COLUMN fsbench.published.variant IS 'Variant of the figure';
COMMENT ON COLUMN fsbench.published.metric IS 'The measured quantity, in the author''s words';
COMMENT ON COLUMN fsbench.published.value IS 'Figure';
COMMENT ON COLUMN fsbench.published.unit IS 'Unit of the figure';
COMMENT ON COLUMN fsbench.published.runs IS 'Each run, where they were published';
COMMENT ON COLUMN fsbench.published.remark IS 'Remark about the figure';
COMMENT ON COLUMN fsbench.published.source IS 'Source of the figure';

-- One study whose rows cannot be read hides no other one in a view.
CREATE FUNCTION fsbench._claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 20 AS $$
BEGIN
    RETURN QUERY SELECT c.* FROM fsbench.study_claims($1) c;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    why := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._claims IS 'fsbench.study_claims(), or why that cannot be read. Private: a view calls it';

CREATE FUNCTION fsbench._published(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text, not_tested text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 30 AS $$
BEGIN
    RETURN QUERY SELECT r.* FROM fsbench.study_report($1) r;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    remark := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._published IS 'fsbench.study_report(), or why that cannot be read. Private: a view calls it';

-- Data of pages and pictures of studies.
CREATE VIEW fsbench.chart_claim AS
    SELECT s.study, c.number::integer AS number, c.claim, c.says, c.seen, c.decided_by, c.here, d.question, d.variant, d.compared_with, d.metric, d.expected, d.factor, d.rule,
           (SELECT (q.question ->> 'margin')::float8 FROM pg_catalog.jsonb_array_elements(s.definition -> 'questions') q (question)
            WHERE q.question ->> 'question' = d.question) AS margin,
           c.estimate, c.low, c.high, c.why
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench._claims(s.study) WITH ORDINALITY
        AS c (claim, says, seen, decided_by, here, estimate, low, high, why, number)
    LEFT JOIN LATERAL (
        SELECT e.decision ->> 'question' AS question, e.decision ->> 'variant' AS variant, e.decision ->> 'with' AS compared_with, e.decision ->> 'metric' AS metric,
               e.decision ->> 'expected' AS expected, (e.decision ->> 'factor')::float8 AS factor, e.decision ->> 'by' AS rule
        FROM pg_catalog.jsonb_array_elements(s.definition -> 'claims') o (claim), LATERAL (SELECT o.claim -> 'decision' AS decision) e
        WHERE o.claim ->> 'claim' = c.claim AND pg_catalog.jsonb_typeof(e.decision) = 'object') d ON true;
COMMENT ON VIEW fsbench.chart_claim IS 'Claims of studies that were started, as fsbench.study_claims() judges them, to be drawn: with what they are about';
COMMENT ON COLUMN fsbench.chart_claim.number IS 'Place of the claim in its study, from 1';
COMMENT ON COLUMN fsbench.chart_claim.claim IS 'Claim';
COMMENT ON COLUMN fsbench.chart_claim.says IS 'The claim';
COMMENT ON COLUMN fsbench.chart_claim.seen IS 'The author''s observation';
COMMENT ON COLUMN fsbench.chart_claim.decided_by IS 'What decides it, in words';
COMMENT ON COLUMN fsbench.chart_claim.here IS 'holds, does not hold, inconclusive or not tested';
COMMENT ON COLUMN fsbench.chart_claim.question IS 'Question of the study that decides; NULL: nothing does';
COMMENT ON COLUMN fsbench.chart_claim.variant IS 'Variant of the claim';
COMMENT ON COLUMN fsbench.chart_claim.compared_with IS 'Variant that this is compared with';
COMMENT ON COLUMN fsbench.chart_claim.metric IS 'Metric that decides the claim';
COMMENT ON COLUMN fsbench.chart_claim.expected IS 'more, less, same or knee';
COMMENT ON COLUMN fsbench.chart_claim.factor IS 'Least ratio (more), or largest ratio (less) of the claim; NULL: 1';
COMMENT ON COLUMN fsbench.chart_claim.rule IS 'interval, ranges or knee';
COMMENT ON COLUMN fsbench.chart_claim.margin IS 'Margin of the question, within which two are the same';
COMMENT ON COLUMN fsbench.chart_claim.estimate IS 'Ratio that decides, here; of a knee its degree';
COMMENT ON COLUMN fsbench.chart_claim.low IS 'Low end of its interval';
COMMENT ON COLUMN fsbench.chart_claim.high IS 'High end of it';
COMMENT ON COLUMN fsbench.chart_claim.why IS 'Why it is judged so';

CREATE VIEW fsbench.chart_published AS
    SELECT s.study, r.number::integer AS number, r.question, r.variant, r.metric, r.published, r.unit, r.published_percent, r.measured, r.measured_percent, r.runs,
           r.ratio, r.low, r.high, r.compared, r.remark, r.not_tested
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench._published(s.study) WITH ORDINALITY
        AS r (question, variant, metric, published, unit, published_percent, measured, measured_percent, runs, ratio, low, high, compared, remark, not_tested, number);
COMMENT ON VIEW fsbench.chart_published IS 'Tables of fsbench.study_report() of studies that were started, to be drawn: what the author has published, with ours beside it';
COMMENT ON COLUMN fsbench.chart_published.number IS 'Place in the table, from 1';
COMMENT ON COLUMN fsbench.chart_published.question IS 'Question; NULL: nothing of ours stands beside it';
COMMENT ON COLUMN fsbench.chart_published.variant IS 'Variant';
COMMENT ON COLUMN fsbench.chart_published.metric IS 'Metric';
COMMENT ON COLUMN fsbench.chart_published.published IS 'Figure of the author, of his machine';
COMMENT ON COLUMN fsbench.chart_published.unit IS 'Unit of both figures';
COMMENT ON COLUMN fsbench.chart_published.published_percent IS 'Published figure in percent of the author''s best';
COMMENT ON COLUMN fsbench.chart_published.measured IS 'Mean of the runs that count here';
COMMENT ON COLUMN fsbench.chart_published.measured_percent IS 'Measured figure in percent of the best here';
COMMENT ON COLUMN fsbench.chart_published.runs IS 'Number of runs that count';
COMMENT ON COLUMN fsbench.chart_published.ratio IS 'Ratio to the baseline of the question, here';
COMMENT ON COLUMN fsbench.chart_published.compared IS 'Whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';
COMMENT ON COLUMN fsbench.chart_published.not_tested IS 'Why the variant was not tested here';
