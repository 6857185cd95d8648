-- Script of `make lab STUDY=...` in its guest: the study on the guest's disk or disks, small, and its results. The variables study and part come before.
\set QUIET on
\pset footer off
SELECT format('SELECT fsbench.study(%L, %s, part => %s, quick => true, scale => 2, blocks => 3, start => false);', :'study',
    CASE :'devices' WHEN '{}' THEN format('device => %L', :'device') ELSE format('devices => %L', :'devices') END,
    coalesce(quote_literal(nullif(:'part', '')), 'NULL')) AS study_call \gset
\echo :study_call
:study_call
-- A guest is slow where many processes take turns, and what its processor does meanwhile is nothing to wait for: the runs are a tenth of
-- what is quick on a machine. Each pattern of fio takes three seconds at least.
UPDATE fsbench.experiment SET parameters = parameters
    || CASE WHEN parameters ? 'transactions' THEN '{"transactions": 10}' ELSE '{}' END::jsonb
    || CASE WHEN parameters ? 'duration_us' AND parameters ->> 'workload' IS DISTINCT FROM 'io' THEN '{"duration_us": 2000000}' ELSE '{}' END::jsonb
    || CASE WHEN parameters ? 'warmup_us' THEN '{"warmup_us": 500000}' ELSE '{}' END::jsonb;
-- Their sync takes most of the time of such runs; tests/lab/arrays.sql shows that runs wait for it.
UPDATE fsbench.target SET initial_sync = 'skip' WHERE layout IN ('raid1', 'raid10');
\echo 'Each run is a tenth of that here: about a quarter of the time.'
SELECT format('SELECT fsbench.resume_experiment(%L);', e) FROM fsbench.studies, unnest(experiments) WITH ORDINALITY AS x (e, place)
WHERE study = :'study' ORDER BY place \gexec
SELECT format('CALL fsbench.wait_experiment(%L);', e) FROM fsbench.studies, unnest(experiments) WITH ORDINALITY AS x (e, place)
WHERE study = :'study' ORDER BY place \gexec
\echo 'This is of a guest: a virtual machine, on a file. It shows that each variant works, and says nothing of a machine of your own.'
SELECT question, variant, published, round(published_percent::numeric, 1) AS "% of best", round(measured::numeric, 1) AS "in the guest",
       round(measured_percent::numeric, 1) AS "% of best there", runs, compared, remark
FROM fsbench.study_report(:'study') WHERE question IS NOT NULL;
SELECT claim, says, here, why FROM fsbench.study_claims(:'study') \gx
\echo 'What it took:'
SELECT experiment, count(*) AS runs, date_trunc('second', max(r.ended_at) - min(r.started_at)) AS time
FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) JOIN fsbench.run_log r USING (run_id) GROUP BY 1 ORDER BY min(r.started_at);
\echo 'Runs that failed:'
SELECT experiment, count(*) AS runs, why FROM fsbench.experiment_run JOIN fsbench.experiment USING (experiment_id) WHERE outcome = 'failed' GROUP BY 1, 3 ORDER BY 1;
SELECT set_config('lab.study', :'study', false) \gset lab_
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM fsbench.study_report(current_setting('lab.study')) WHERE runs > 0) THEN
        RAISE EXCEPTION 'no run of study % was complete', current_setting('lab.study');
    END IF;
END $$;
