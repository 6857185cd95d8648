-- Whether to read the accounts that the history names takes less than to read all: of more than a gigabyte of accounts, which may be larger than memory, the rest
-- would have to come back from the disk. A history with as many rows as the accounts have pages names most pages.
SELECT s.bytes > 2 ^ 30 AND (SELECT count(*) FROM public.pgbench_history) < s.bytes / current_setting('block_size')::bigint
FROM (SELECT pg_relation_size('public.pgbench_accounts') AS bytes) s
