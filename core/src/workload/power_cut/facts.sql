-- Facts about the results of a run, $1, by the names of Facts.
SELECT coalesce(jsonb_agg(jsonb_build_object('part', part, 'control', control, 'outcome', outcome, 'cuts', cuts, 'failed', failed, 'says', says)), '[]')
FROM fsbench.power_cut_result WHERE run_id = $1::bigint
