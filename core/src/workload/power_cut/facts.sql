-- Facts about the results of a run, $1, by the names of Facts.
SELECT coalesce(jsonb_agg(to_jsonb(f)), '[]') FROM (
    SELECT part, control, false AS is_error, outcome, cuts, failed, says FROM fsbench.power_cut_result WHERE run_id = $1::bigint
    UNION ALL
    SELECT operation || '_error', false, true, outcome, 0, 0, says FROM fsbench.power_cut_error WHERE run_id = $1::bigint) f
