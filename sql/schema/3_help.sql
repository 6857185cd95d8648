-- The verbs. Each example is run by a test; what is in quotes there, and 7, are those of the reader.
CREATE FUNCTION fsbench.help() RETURNS TABLE (verb text, what text, example text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    VALUES
        ('doctor', 'what is here, what is missing', 'SELECT * FROM fsbench.doctor()'),
        ('run', 'makes a run, and waits for it', 'SELECT * FROM fsbench.run(target => ''xfs'')'),
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
COMMENT ON FUNCTION fsbench.help IS 'What can be called, in a few words, each with an example';
