-- Studies: one of one's own is defined, planned, judged by its figures, and dropped.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on

-- A study of one's own, on targets that are there.
SELECT '{"study": "own-2026", "title": "Two directories", "author": "me", "year": 2026, "source": "here", "machine": "this", "part": "tps",
  "claims": [
    {"claim": "faster", "says": "b does more tps than a", "seen": "twice as many",
     "decision": {"question": "tps", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "by": "interval"}},
    {"claim": "twice", "says": "and twice as many", "seen": "twice as many", "needs": ["full_size"],
     "decision": {"question": "tps", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "factor": 2, "by": "interval"}},
    {"claim": "slower", "says": "a does more tps than b", "seen": "half as many",
     "decision": {"question": "tps", "variant": "a", "with": "b", "metric": "tps", "expected": "more", "by": "interval"}},
    {"claim": "same", "says": "d does as many tps as a", "seen": "nobody",
     "decision": {"question": "tps", "variant": "d", "with": "a", "metric": "tps", "expected": "same", "by": "interval"}},
    {"claim": "longest", "says": "the longest transaction of b is shorter", "seen": "much", 
     "decision": {"question": "tps", "variant": "b", "with": "a", "metric": "latency_max_ms", "expected": "less", "by": "ranges"}},
    {"claim": "device", "says": "c is faster", "seen": "nobody", "not_tested": "there is no c"}],
  "variants": [{"variant": "a", "target": "a"}, {"variant": "b", "target": "b"}, {"variant": "c", "not_tested": "there is no c"}, {"variant": "d", "target": "d"}],
  "questions": [
    {"question": "tps", "part": "tps", "asks": "b against a", "variants": ["a", "b", "c", "d"], "baseline": "a", "workload": "tpcb", "clients": 1, "metric": "tps",
     "margin": 0.05, "is_published": true, "full": {"scale": 2, "transactions": 10, "max_blocks": 3}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3}}],
  "published": [
    {"variant": "a", "metric": "tps", "value": 100, "unit": "tps", "runs": [95, 105], "question": "tps", "beside": "tps"},
    {"variant": "b", "metric": "tps", "value": 200, "unit": "tps", "runs": [195, 205], "question": "tps", "beside": "tps"},
    {"variant": "c", "metric": "tps", "value": 300, "unit": "tps", "question": "tps", "beside": "tps"},
    {"variant": "d", "metric": "tps", "value": 150, "unit": "tps", "runs": [140, 160], "question": "tps", "beside": "tps"}]}' AS own \gset
SELECT fsbench.define_study(:'own'::jsonb - 'author');
SELECT fsbench.define_study(:'own'::jsonb || '{"autor": "me"}');
SELECT fsbench.define_study(jsonb_set(:'own', '{claims,0,decision,variant}', '"z"'));
SELECT fsbench.define_study(jsonb_set(:'own', '{study}', '"heron-2010"'));
SELECT fsbench.define_study(:'own');
-- A published question is asked twice: with the settings of its time, and, in a part of its own, with those of today.
SELECT study, parts, claims, is_own, status FROM fsbench.studies WHERE is_own;
SELECT q ->> 'question', q ->> 'part', q ->> 'is_published', q ->> 'today_of' FROM fsbench.study_definitions, jsonb_array_elements(definition -> 'questions') q WHERE is_own;
SELECT fsbench.define_study(definition) FROM fsbench.study_definitions WHERE is_own;
SELECT jsonb_array_length(definition -> 'questions') FROM fsbench.study_definitions WHERE is_own;
SELECT fsbench.study('own-2026', image_size => '1GB');
SELECT fsbench.study('own-2026', duration => '1 min');
SELECT fsbench.study('own-2026', start => false);
SET client_min_messages = warning;
SELECT fsbench.create_target('a', directory => '/tmp'), fsbench.create_target('b', directory => '/tmp'), fsbench.create_target('d', directory => '/tmp');
SET client_min_messages = notice;
SELECT part, item, says FROM fsbench.study_plan('own-2026', blocks => 4) WHERE part <> 'run';
SELECT part, item, count(*) FROM fsbench.study_plan('own-2026', blocks => 4) WHERE part = 'run' GROUP BY 1, 2 ORDER BY 2;
SELECT part, item, says FROM fsbench.study_plan('own-2026', part => 'tps,tps-today') WHERE part IN ('plan', 'question', 'left out');
SELECT part, item, says FROM fsbench.study_plan('own-2026', part => 'all', period => false) WHERE part IN ('plan', 'question', 'left out');
-- A duration is of those questions only that have a window.
SELECT fsbench.define_study(jsonb_set(:'own'::jsonb || '{"study": "mixed-2026", "published": [], "part": "all"}', '{questions}', jsonb_build_array(
    :'own'::jsonb #> '{questions,0}' || '{"is_published": false}',
    :'own'::jsonb #> '{questions,0}' || '{"question": "window", "is_published": false, "full": {"scale": 2, "duration_seconds": 5, "max_blocks": 3}}')));
SELECT item, says FROM fsbench.study_plan('mixed-2026', duration => '20 s') WHERE part = 'question';
SELECT fsbench.study('mixed-2026', duration => '20 s', start => false);
SELECT fsbench.drop_study('mixed-2026'), fsbench.drop_study('mixed-2026');
-- Settings that this server lacks, and options that concern the disk of the host, are excluded by name.
SELECT fsbench.define_study(:'own'::jsonb || '{"study": "sync-2026", "published": [], "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}],
    "variants": [{"variant": "a", "filesystem": "ext4", "settings": {"wal_sync_method": "fsync_writethrough"}}, {"variant": "b", "filesystem": "ext4"},
                 {"variant": "c", "not_tested": "w"}, {"variant": "d", "not_tested": "w"}]}');
SELECT fsbench.study('sync-2026', image_size => '4GB');
SET client_min_messages = warning;
SELECT fsbench.create_target('flushes', filesystem => 'ext4', image_size => '1GB'), fsbench.create_target('does-not', filesystem => 'ext4', image_size => '1GB', mount_options => 'barrier=0');
SET client_min_messages = notice;
SELECT fsbench.define_study(:'own'::jsonb || '{"study": "sync-2026", "published": [], "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}],
    "variants": [{"variant": "a", "target": "flushes"}, {"variant": "b", "target": "does-not"}, {"variant": "c", "not_tested": "w"}, {"variant": "d", "not_tested": "w"}]}');
SELECT fsbench.study('sync-2026');
SELECT fsbench.drop_study('sync-2026'), fsbench.drop_target('flushes'), fsbench.drop_target('does-not');
SELECT count(*) FROM fsbench.experiment;
SELECT fsbench.study('own-2026', start => false);
SELECT fsbench.study('own-2026', start => false);
-- It is planned all the same, and nothing changes by that.
SELECT count(*) FROM fsbench.study_plan('own-2026', part => 'all') WHERE part = 'run';
SELECT experiment FROM fsbench.experiment;
SELECT status, experiments FROM fsbench.studies WHERE is_own;
SELECT parameters -> 'settings' FROM fsbench.experiment WHERE experiment = 'own-2026 tps';
SELECT claim, here, why FROM fsbench.study_claims('own-2026');

-- Claims by stored figures. A window of transactions is too short for a verdict by itself, so this one is declared long enough.
SELECT experiment_id AS id FROM fsbench.experiment WHERE experiment = 'own-2026 tps' \gset
INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by, tps, latency_max_ms, target_definition)
    SELECT 1000 + 3 * block + number, 'done', (ARRAY['a', 'b', 'd'])[number + 1], 'tpcb', '{}', '{}', current_user,
           (1 + number) * (1000 + block), (ARRAY[5, 2, 4])[number + 1] * (10 + block), '{"kind": "image"}'
    FROM generate_series(1, 3) block, generate_series(0, 2) number;
INSERT INTO fsbench.environment (run_id, virtualization) SELECT run_id, 'kvm' FROM fsbench.run_log WHERE run_id > 1000;
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome)
    SELECT :id, block, number + 1, number, 1, 1000 + 3 * block + number, 'measured' FROM generate_series(1, 3) block, generate_series(0, 2) number;
UPDATE fsbench.experiment SET status = 'done' WHERE experiment_id = :id;
SELECT claim, here, round(estimate::numeric, 2), why FROM fsbench.study_claims('own-2026') WHERE claim IN ('faster', 'longest');
UPDATE fsbench.experiment SET too_short = false WHERE experiment_id = :id;
SELECT claim, decided_by, here, round(estimate::numeric, 2), round(low::numeric, 2), round(high::numeric, 2), why FROM fsbench.study_claims('own-2026');
SELECT question, variant, metric, published, unit, round(published_percent::numeric, 1), measured, round(measured_percent::numeric, 1), runs,
       round(ratio::numeric, 2), compared, remark
FROM fsbench.study_report('own-2026');
SELECT number, claim, here, question, variant, compared_with, metric, expected, factor, rule, margin, round(estimate::numeric, 2) FROM fsbench.chart_claim WHERE study = 'own-2026' ORDER BY number;
SELECT number, variant, round(published_percent::numeric, 1), round(measured_percent::numeric, 1), compared FROM fsbench.chart_published WHERE study = 'own-2026' ORDER BY number;
-- The two words that are left: what is the same, and a ratio that is far from it.
UPDATE fsbench.run_log SET tps = CASE target WHEN 'd' THEN 1000 + run_id % 3 WHEN 'b' THEN 2200 ELSE 1000 END WHERE run_id > 1000;
SELECT claim, here, round(estimate::numeric, 2), round(low::numeric, 2), round(high::numeric, 2), why FROM fsbench.study_claims('own-2026') WHERE claim <> 'longest';
SELECT status FROM fsbench.studies WHERE is_own;

-- Drop with and without the runs.
SELECT fsbench.drop_study('own-2026', keep_runs => true);
SELECT (SELECT count(*) FROM fsbench.study), (SELECT count(*) FROM fsbench.experiment), (SELECT count(*) FROM fsbench.run_log WHERE run_id > 1000);
SELECT fsbench.study('own-2026', start => false, quick => true);
SELECT here, why FROM fsbench.study_claims('own-2026') WHERE claim = 'twice';
SELECT fsbench.drop_study('own-2026'), fsbench.drop_study('own-2026');
SELECT fsbench.drop_study('own-2026');
-- Targets of the user's own stay.
SELECT target FROM fsbench.target WHERE target IN ('a', 'b', 'd') ORDER BY 1;
SELECT fsbench.drop_target('a'), fsbench.drop_target('b'), fsbench.drop_target('d');
DELETE FROM fsbench.run_log WHERE run_id > 1000;
