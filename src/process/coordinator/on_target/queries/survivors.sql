-- Rows of each client that a power cut has left in the table TABLE; $1: acknowledged commits of each client, from client 0 on.
WITH acknowledged AS (
    SELECT (place - 1)::int AS client, commits FROM unnest($1::bigint[]) WITH ORDINALITY AS a(commits, place)
), found AS (
    SELECT client, count(*) AS rows, count(DISTINCT number) AS numbers, max(number) AS highest,
       count(DISTINCT number) FILTER (WHERE number <= commits) AS kept
    FROM public.TABLE LEFT JOIN acknowledged USING (client) GROUP BY client
)
SELECT coalesce(jsonb_agg(jsonb_build_object('client', client, 'rows', coalesce(rows, 0), 'numbers', coalesce(numbers, 0),
   'highest', coalesce(highest, 0), 'kept', coalesce(kept, 0),
   'first_missing', CASE WHEN commits > coalesce(kept, 0) THEN (SELECT min(n) FROM generate_series(1, commits) n
      WHERE NOT EXISTS (SELECT FROM public.TABLE t WHERE t.client = b.client AND t.number = n)) END) ORDER BY client), '[]')
FROM acknowledged FULL JOIN found b USING (client)
