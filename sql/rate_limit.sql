-- Under a rate each transaction has a time when it is due; its latency counts from then.
SET client_min_messages = warning;

-- A rate that is easily held: as many as asked, none skipped.
SELECT run_id AS held FROM fsbench.run(scale => 2, clients => 2, transactions => 200, rate => 400, seed => 5) \gset
SELECT status, rate, latency_limit_ms, transactions_total, skipped, late, failed,
       tps BETWEEN 1 AND 800 AS no_faster, tps > 0 AND measured_ms > 300 AS took_its_time
FROM fsbench.result WHERE run_id = :held;
-- Two histograms: from when it was due, and from when it began.
SELECT transaction, measure, transactions FROM fsbench.histogram WHERE run_id = :held ORDER BY 2;
SELECT fsbench.percentile(0.5, :held) >= fsbench.percentile(0.5, :held, 'service') * 0.968 AS due_before_begun,
       (SELECT a.sum_ms >= b.sum_ms FROM fsbench.histogram a, fsbench.histogram b
        WHERE a.run_id = :held AND b.run_id = :held AND a.measure = 'latency' AND b.measure = 'service') AS more_in_all;

-- A rate that nothing can hold, with a limit: what was too late to start is skipped. Scheduled = skipped + done + failed.
SELECT run_id AS hopeless FROM fsbench.run(scale => 2, clients => 2, transactions => 50000, rate => 1000000, latency_limit_ms => 5, seed => 5) \gset
SELECT status, skipped + transactions_total + failed = 2 * 50000 AS all_accounted_for, skipped > 0 AS skipped, transactions_total > 0 AS some_done,
       late <= transactions_total AS late_are_done, skipped = (SELECT sum(skipped) FROM fsbench.sample s WHERE s.run_id = r.run_id) AS samples_have_skipped,
       late = (SELECT sum(late) FROM fsbench.sample s WHERE s.run_id = r.run_id) AS samples_have_late,
       (balances ->> 'history_rows')::bigint = transactions_total AS history_has_the_done
FROM fsbench.result r WHERE run_id = :hopeless;
-- Percentiles are of all that were due: what was skipped took for ever. With a limit nothing starts ten seconds late.
SELECT latency_p50_ms, latency_p99_ms, latency_max_ms > 0 AS longest_done, behind FROM fsbench.result WHERE run_id = :hopeless;
SELECT code, severity FROM fsbench.finding WHERE run_id = :hopeless AND code = 'skipped_transactions';

-- A limit without a rate: nothing is skipped, late ones are counted.
SELECT run_id AS limited FROM fsbench.run(scale => 2, clients => 2, transactions => 200, latency_limit_ms => 0.000001) \gset
SELECT transactions_total, skipped, late FROM fsbench.result WHERE run_id = :limited;
SELECT run_id AS generous FROM fsbench.run(scale => 2, clients => 2, transactions => 200, latency_limit_ms => 1000000) \gset
SELECT transactions_total, skipped, late FROM fsbench.result WHERE run_id = :generous;

-- For a time instead of a number: never more than were due; fewer where a machine keeps the clients from beginning.
SELECT run_id AS timed FROM fsbench.run(scale => 2, clients => 2, duration => '2 s', warmup => '500 ms', rate => 200, seed => 5) \gset
SELECT duration, warmup, transactions, transactions_total BETWEEN 1 AND 500 AS no_more, transactions_outside BETWEEN 1 AND 150 AS none_too_many,
       (SELECT count(*) FROM fsbench.sample s WHERE s.run_id = r.run_id) BETWEEN 1 AND measured_ms / 1000 + 1 AS seconds
FROM fsbench.result r WHERE run_id = :timed;
