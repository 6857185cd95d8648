-- A client's rows are numbered from 1 on, each number once, if there are as many as the highest number, and the sums of the numbers and of
-- their squares are those of the first numbers. Nothing has to be sorted for that, however many rows there are.
SELECT jsonb_build_object('rows', coalesce(sum(n), 0), 'clients', count(*),
    'wrong_clients', count(*) FILTER (WHERE least <> 1 OR most <> n
      OR numbers <> n * (n + 1) / 2 OR squares <> n * (n + 1) * (2 * n + 1) / 6),
    'rows_by_client', coalesce(sum((client + 1) * n), 0))
FROM (SELECT client, count(*)::numeric AS n, min(number) AS least, max(number) AS most,
        sum(number) AS numbers, sum(number::numeric * number) AS squares
      FROM public.fsbench_commit GROUP BY client) c
