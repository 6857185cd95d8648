-- Names of the kinds of transactions that runs of experiment $1 have measured.
SELECT coalesce(jsonb_agg(DISTINCT h.transaction), '[]')
FROM fsbench.experiment_run x JOIN fsbench.histogram h USING (run_id) WHERE x.experiment_id = $1::bigint
