-- Every function that is not private is in the list; the examples are run by tests/it/terminal_output.rs.
SELECT p.proname AS missing FROM pg_proc p
WHERE p.pronamespace = 'fsbench'::regnamespace AND p.proname NOT LIKE '\_%' AND p.proname NOT IN (SELECT verb FROM fsbench.help('all')) ORDER BY 1;
SELECT verb AS gone FROM fsbench.help('all') WHERE verb NOT IN (SELECT proname FROM pg_proc WHERE pronamespace = 'fsbench'::regnamespace);
SELECT verb AS no_example FROM fsbench.help('all') WHERE strpos(example, 'fsbench.' || verb || '(') = 0;
-- The first ones alone, those of a word, and none.
SELECT count(*) FROM fsbench.help();
SELECT verb FROM fsbench.help('Target');
SELECT verb FROM fsbench.help('nothing');
-- It fits a terminal of 120 columns.
SELECT max(length(verb)) + max(length(what)) + max(length(example)) + 8 <= 120 AS fits FROM fsbench.help('all');

-- The log of the helper.
BEGIN;
INSERT INTO fsbench.helper_job (target, action, request, status, started_at, ended_at, steps, error) VALUES
    ('t', 'prepare', '{}', 'failed', '2026-11-22 10:00:00.7+00', '2026-11-22 10:00:02.2+00',
     '[{"step": "create image", "argv": ["create file /x y"], "ms": 0.31, "exit_code": null, "output": ""},
       {"step": "mkfs", "argv": ["/sbin/mkfs.ext4", "-L", "it''s $(x)", "/dev/loop0"], "ms": 12.34, "exit_code": 1, "output": "a\nb"}]', 'mkfs.ext4 failed'),
    ('', 'describe', '{}', 'queued', NULL, NULL, NULL, NULL);
SET timezone = 'UTC';
SELECT target, action, step, ms, problem, command, at = '2026-11-22 10:00:00+00' AS at FROM fsbench.helper_log;
ROLLBACK;
