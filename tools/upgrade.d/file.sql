-- Export of the runs of fill.sql by a released version, and of their experiment: as if that had made them itself, and were done.
DELETE FROM fsbench.imported_experiment;
DELETE FROM fsbench.imported_run;
DELETE FROM fsbench.imported_file;
UPDATE fsbench.experiment SET status = 'cancelled', started_at = created_at, ended_at = created_at WHERE experiment = 'planned';
SELECT fsbench.export('planned');
