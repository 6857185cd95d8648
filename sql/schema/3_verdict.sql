-- The arithmetic of verdicts, on arrays. The functions read no table, so that every role may check them.

CREATE FUNCTION fsbench.verdict(baseline float8[], targets float8[], margin float8 DEFAULT 0.05, max_blocks integer DEFAULT 12)
    RETURNS TABLE (target integer, verdict text, reason text, ratio float8, low float8, high float8, blocks integer, kept integer,
        half_width float8, beyond_margin boolean, blocks_needed integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 3 AS 'MODULE_PATHNAME', 'fsbench_verdict_wrapper';
COMMENT ON FUNCTION fsbench.verdict IS 'Is each target more, less or the same as the baseline? baseline has the metric of each block, targets a row a target and a column a block (two-dimensional), both NULL where a run is missing. The looks (after 3, 4, 6, 8, 12, 16 and 24 blocks, at most max_blocks) are played in order, and runs of a target after it was settled are not used. verdict: equivalent (certainly within the margin), more, less, inconclusive (reason: running, as a look is still to come; too_noisy; max_blocks); ratio with low and high, the interval of direction at the look that settled it (or the last one) after so many blocks; kept: runs that were not set aside; half_width of that interval on the scale of ln ratios; beyond_margin: it is wholly outside of the margin; blocks_needed: what a decision would take, at most 200, NULL when there is one';

CREATE FUNCTION fsbench.verdict_best(targets float8[], margin float8 DEFAULT 0.05, max_blocks integer DEFAULT 12)
    RETURNS TABLE (target integer, shown text, against integer, worse_by float8, low float8, high float8, blocks integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 3 AS 'MODULE_PATHNAME', 'fsbench_verdict_best_wrapper';
COMMENT ON FUNCTION fsbench.verdict_best IS 'Which target is best, and which are as good? targets has a row a target and a column a block (two-dimensional), NULL where a run is missing; more is better (where less is, give 1 / metric). Looks as in fsbench.verdict(). shown: best, or leading while another is open; equivalent to the best (certainly within the margin); out (certainly worse, and by more than the margin as measured); open. All that is not out is the answer. against: the row that it is compared with; worse_by with low and high: the share by which it is worse than that one, at the look after so many blocks';

CREATE FUNCTION fsbench.set_aside(d float8[]) RETURNS TABLE (kept integer, mean float8, sd float8)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_set_aside_wrapper';
COMMENT ON FUNCTION fsbench.set_aside IS 'What is kept of ln ratios when those far from the core of the others are set aside (from six on): how many, their mean, and their standard deviation (n - 1); NULL values are left out';

CREATE FUNCTION fsbench.change_points(x float8[]) RETURNS TABLE (night integer, before float8, after float8, size float8, seen_after integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_change_points_wrapper';
COMMENT ON FUNCTION fsbench.change_points IS 'The changes of level in a history of nightly runs, given ln metric of each night (NULL where a run is missing, which is not counted): the first night of the new level, counted from 1; median before it and after it when it was seen; size, their difference; after how many nights of the new level it was seen. It takes 8 nights before it and 3 of the new level, and 2.5 %';

CREATE FUNCTION fsbench.rate_estimate(rates float8[], scheduled float8[], misses float8[], quantile float8) RETURNS float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_rate_estimate_wrapper';
COMMENT ON FUNCTION fsbench.rate_estimate IS 'The rate at which a share quantile of the transactions would be misses, given rate, scheduled transactions and misses of each cycle: shares are made to rise with the rate, and interpolated; NULL without cycles';

CREATE FUNCTION fsbench.student_t(upper_p float8, degrees_of_freedom float8) RETURNS float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_student_t_wrapper';
COMMENT ON FUNCTION fsbench.student_t IS 'What a Student t variable exceeds with probability upper_p: t.isf(upper_p, degrees_of_freedom) in scipy, qt(upper_p, degrees_of_freedom, lower.tail = FALSE) in R; degrees of freedom need not be whole';
