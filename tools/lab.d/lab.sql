-- Script of `make lab` in its guest: a target on the disk, a run on it, and its results.
\set QUIET on
\pset footer off
SELECT :'raid' <> '' AS has_raid \gset
\if :has_raid
\! cat /proc/mdstat
\endif
SELECT format('SELECT fsbench.create_target(''lab'', filesystem => %L, device => %L);', :'fs', :'device') AS create_target \gset
\echo :create_target
:create_target
\set run 'SELECT * FROM fsbench.run(target => ''lab'', scale => 2, clients => 2, warmup => ''2 s'', duration => ''10 s'');'
\echo :run
\set ON_ERROR_STOP off
:run
\set ON_ERROR_STOP on
\echo 'What the helper did (fsbench.helper_log):'
SELECT action, step, ms, problem, left(command, 90) AS command FROM fsbench.helper_log;
\echo 'Where the run was (fsbench.environment):'
SELECT filesystem, device, mount_options, scope, durability, virtualization, kernel FROM fsbench.environment \gx
\echo 'What can mislead about it (fsbench.finding):'
SELECT severity, message, hint FROM fsbench.finding ORDER BY severity DESC, code \gx
SELECT set_config('lab.fs', :'fs', false) \gset lab_
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM fsbench.result WHERE status = 'done' AND filesystem = current_setting('lab.fs')) THEN
        RAISE EXCEPTION 'there is no complete run on %', current_setting('lab.fs');
    END IF;
END $$;
