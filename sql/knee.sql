-- Where a curve of scans stops rising.
\set SHOW_CONTEXT never
SET client_min_messages = warning;

-- Study 4's published points, one run each.
SELECT verdict, degree, low, high, says FROM fsbench.knee('{17,21,32,64}', '{8905.510,7583.344,21144.919,18310.130}');
SELECT verdict, degree, low, high, says FROM fsbench.knee('{17,32,64}', '{9313.369,30209.980,32580.853}');
-- Flat, still rising, too few.
SELECT verdict, says FROM fsbench.knee('{1,2,4,1,2,4}', '{100,101,99,100,99,101}');
SELECT verdict, says FROM fsbench.knee('{1,2,4,8}', '{100,50,25,13}');
SELECT verdict, says FROM fsbench.knee('{1,2}', '{100,50}');
SELECT verdict, says FROM fsbench.knee('{}', '{}');
SELECT * FROM fsbench.knee(NULL, '{1}');
SELECT * FROM fsbench.knee('{1,2}', '{100}');
SELECT * FROM fsbench.knee('{0}', '{100}');
SELECT * FROM fsbench.knee('{1}', '{NaN}');
-- More than any run has is refused, and what takes long is cancelled (that it is so soon, a unit test shows).
SELECT * FROM fsbench.knee(array_fill(1, ARRAY[1000000]), array_fill(1.0::float8, ARRAY[1000000]));
SET statement_timeout = '300ms';
SELECT * FROM fsbench.knee((SELECT array_agg(1 + g % 3) FROM generate_series(1, 100000) g),
                           (SELECT array_agg(1 + (g * 7919 % 100003)::float8) FROM generate_series(1, 100000) g));
RESET statement_timeout;
