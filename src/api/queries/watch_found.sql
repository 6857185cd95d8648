-- Numbers of the watch with the mark $1 that are there, of those up to $2, and whether the server has another start than $3. Its clock may be behind.
SELECT jsonb_build_object('found', count(DISTINCT number) FILTER (WHERE number BETWEEN 1 AND $2::bigint),
    'first_missing', (SELECT min(n) FROM generate_series(1, $2::bigint) n WHERE NOT EXISTS (SELECT FROM fsbench.power_cut_commit c WHERE c.mark = $1 AND c.number = n)),
    'has_restarted', pg_postmaster_start_time() <> $3::timestamptz)
FROM fsbench.power_cut_commit WHERE mark = $1
