-- Experiments that are refused before anything is made. Core has the other arguments (experiment/tests/arguments.rs).
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT fsbench.create_target('a', directory => '/tmp'), fsbench.create_target('b', directory => '/tmp');
SET client_min_messages = notice;
\set short 'scale => 1, clients => 1, transactions => 10, max_blocks => 3, start => false'

-- Arguments that name the targets.
SELECT fsbench.experiment('e', '{a,nowhere}', start => false);
SELECT fsbench.experiment('e', filesystems => '{ext4,xfs}', image_size => '1GB', device => '/dev/null');
SELECT fsbench.experiment('e', filesystems => '{ext4,fat12}', image_size => '1GB', start => false);

SELECT fsbench.experiment('e', '{a,b}', margin => 'NaN');
-- A budget that buys nothing.
SELECT fsbench.experiment('e', '{a,b}', budget => '5 min', scale => 1, clients => 1);
SELECT fsbench.experiment('e', '{a}', factors => '{"clients": [1, 2, 3, 4]}', budget => '15 min', scale => 1);
SELECT fsbench.experiment('e', '{a,b}', budget => '1 h', cycle => '5 min', scale => 1, clients => 1);
SELECT fsbench.experiment('e', '{a,b}', budget => '1 h', max_blocks => 24, scale => 1, clients => 1);
SELECT fsbench.experiment('e', '{a,b}', budget => '8 h', duration => '10 s', scale => 1, clients => 1);
SELECT fsbench.experiment('e', '{a,b}', neighbours => 'found');
SELECT fsbench.experiment('e', '{a,b}', cycle => '30 s', settings => '{"checkpoint_timeout": "1min"}');
SELECT fsbench.experiment('e', '{a,default}', cycle => '30 s');
SELECT fsbench.create_target('c', connection => 'host=/nowhere') \gset
SELECT fsbench.experiment('e', '{a,c}', cycle => '30 s');
SELECT fsbench.drop_target('c') \gset

-- At which rate.
SELECT fsbench.experiment('e', '{a,b}', rate => 'NaN'::float8);
SELECT fsbench.experiment('e', '{a,b}', rate => 0);
SELECT fsbench.experiment('e', '{a,b}', rate => -1.5);
SELECT fsbench.experiment('e', '{a,b}', rate => '70%', workload => 'scan');
SELECT fsbench.experiment('e', '{a,b}', rate => '70%', latency_limit_ms => 20, options => '{"sustain": 99}');
SELECT fsbench.experiment('e', factors => '{"rate": [1, 2]}', rate => '70%');
SELECT fsbench.experiment('e', '{a,b}', latency_limit_ms => 'NaN');
SELECT fsbench.experiment('e', '{a,b}', metric => 'sustainable_rate');
SELECT fsbench.experiment('e', '{a,b}', metric => 'tps', latency_limit_ms => 20, options => '{"sustain": 99}');

-- Factors.
SELECT fsbench.experiment('e', factors => '[]');
SELECT fsbench.experiment('e', factors => '{"clients": [1, "many"]}', scale => 1, transactions => 10, start => false);

SELECT fsbench.experiment('e', factors => '{"data_checksums": [true, false]}');
SET client_min_messages = warning;
SELECT fsbench.create_target('i', 'ext4', image_size => '1GB', settings => '{"work_mem": "8MB"}', mount_options => 'noatime');
SET client_min_messages = notice;
SELECT fsbench.experiment('e', '{i}', factors => '{"settings.work_mem": ["1MB", "2MB"]}');
SELECT fsbench.experiment('e', '{i}', factors => '{"target_settings.work_mem": ["1MB", "2MB"]}');
SELECT fsbench.experiment('e', '{i}', factors => '{"mount_options": ["", "lazytime"]}');
SELECT fsbench.experiment('e', '{nowhere}', factors => '{"data_checksums": [true, false]}');

-- Metrics that would not be measured.
SELECT fsbench.experiment('e', '{a,b}', metric => 'scan_gb_per_s_at_4', workload => 'scan');

-- Arguments that a run would refuse.
SELECT fsbench.experiment('e', '{a,b}', scale => 0);
\set VERBOSITY terse
SELECT fsbench.experiment('e', '{a}', factors => '{"scale": [1, 1000000]}', clients => 1, start => false);
\set VERBOSITY default
-- All that is too small is told at once.
SELECT part, item, says FROM fsbench.plan_experiment('small', filesystems => '{ext4,xfs}', image_size => '1GB', scale => 200, duration => '10 s', clients => 1);
SELECT fsbench.experiment('small', filesystems => '{ext4,xfs}', image_size => '1GB', scale => 200, duration => '10 s', clients => 1, start => false);
SELECT count(*) FROM fsbench.experiment;
SELECT fsbench.drop_target('i'), fsbench.drop_target('a'), fsbench.drop_target('b');
