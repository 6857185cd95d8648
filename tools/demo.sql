-- tools/demo runs this in psql.
\set ECHO queries
CREATE EXTENSION pgfsbench;

SELECT * FROM fsbench.run();

SELECT second, transactions, latency_p50_ms, latency_p99_ms, latency_max_ms
  FROM fsbench.sample ORDER BY run_id, second;

\x on
SELECT severity, code, message, hint FROM fsbench.finding;
