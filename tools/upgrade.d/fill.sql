-- Runs of several kinds: what a released version may have stored. one_row_each.sql follows.
CREATE EXTENSION pgfsbench;
SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 50, seed => 1);
SELECT run_id FROM fsbench.run(scale => 1, clients => 2, transactions => 100, rate => 1000, latency_limit_ms => 10000, label => 'näme');
SELECT run_id FROM fsbench.run(workload => 'fsync', duration => '100 ms', options => '{"writers": [1]}');
SELECT fsbench.create_target('made', filesystem => 'xfs', image_size => '1GB', mount_options => 'noatime');
SELECT fsbench.create_target('there', directory => '/tmp', settings => '{"wal_compression": "on"}');
SELECT fsbench.create_target('there-too', directory => '/tmp');
SELECT fsbench.experiment('planned', targets => '{there,there-too}', duration => '1 s', start => false);
SELECT fsbench.define_study('{"study": "own", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all", "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}], "variants": [{"variant": "a", "target": "there"}, {"variant": "b", "target": "there-too"}], "questions": [{"question": "q", "part": "p", "asks": "a", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1, "metric": "tps", "margin": 0.05, "is_published": false, "full": {"scale": 1, "transactions": 10, "max_blocks": 3}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3}}], "published": []}');
SELECT fsbench.study('own', start => false);
INSERT INTO fsbench.study_target VALUES ('own', 'a', 'there');
INSERT INTO fsbench.imported_file (host, format, sha256, imported_by) VALUES ('elsewhere', 1, 'x', current_user);
INSERT INTO fsbench.imported_experiment (experiment_id, import_id, sha256) SELECT experiment_id, 1, 'x' FROM fsbench.experiment;
INSERT INTO fsbench.helper_job (run_id, target, action, request) VALUES (1, 'made', 'release', '{}');
INSERT INTO fsbench.script (sha256, document) VALUES ('x', '{"scripts": []}');
