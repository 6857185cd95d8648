-- What `make lab STUDY=...` does in its guest: the study on the guest's disk, small, and what came out. The variables study and part come before.
\set QUIET on
\pset footer off
SELECT format('SELECT fsbench.study(%L, device => %L, part => %s, quick => true, scale => 10);', :'study', :'device',
    coalesce(quote_literal(nullif(:'part', '')), 'NULL')) AS study_call \gset
\echo :study_call
:study_call
SELECT format('CALL fsbench.wait_experiment(%L);', e) FROM fsbench.studies, unnest(experiments) e WHERE study = :'study' \gexec
\echo 'This is of a guest: a virtual machine with one processor, on a file. It shows that each variant works, and says nothing of a machine of your own.'
SELECT question, variant, published, round(published_percent::numeric, 1) AS "% of best", round(measured::numeric, 1) AS "here, in the guest",
       round(measured_percent::numeric, 1) AS "% of best here", runs, compared, remark
FROM fsbench.study_report(:'study') WHERE question IS NOT NULL;
SELECT claim, says, here, why FROM fsbench.study_claims(:'study') \gx
SELECT set_config('lab.study', :'study', false) \gset lab_
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM fsbench.study_report(current_setting('lab.study')) WHERE runs > 0) THEN
        RAISE EXCEPTION 'no run of study % was complete', current_setting('lab.study');
    END IF;
END $$;
