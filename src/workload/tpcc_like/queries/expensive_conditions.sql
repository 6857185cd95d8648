-- The consistency conditions of clause 3.3.2 that are about each order and each customer, as an array.
WITH lines AS (
    SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, count(*) AS lines, sum(ol_amount) FILTER (WHERE ol_delivery_d IS NOT NULL) AS amount
    FROM public.order_line GROUP BY 1, 2, 3),
orders AS (
    SELECT coalesce(o_w_id, w) AS w, coalesce(o_d_id, d) AS d, o_c_id, o_ol_cnt, lines, amount
    FROM public.orders FULL JOIN lines ON w = o_w_id AND d = o_d_id AND o = o_id),
bought AS (SELECT w, d, o_c_id AS c, sum(amount) AS amount FROM orders GROUP BY 1, 2, 3),
paid AS (SELECT h_c_w_id AS w, h_c_d_id AS d, h_c_id AS c, sum(h_amount) AS amount FROM public.history GROUP BY 1, 2, 3),
customers AS (
    SELECT c_balance, c_ytd_payment, coalesce(bought.amount, 0) AS bought, coalesce(paid.amount, 0) AS paid
    FROM public.customer
    LEFT JOIN bought ON bought.w = c_w_id AND bought.d = c_d_id AND bought.c = c_id
    LEFT JOIN paid ON paid.w = c_w_id AND paid.d = c_d_id AND paid.c = c_id),
counted (condition, checked, wrong) AS (
    SELECT 6, count(*), count(*) FILTER (WHERE o_ol_cnt IS DISTINCT FROM lines) FROM orders
    UNION ALL SELECT 10, count(*), count(*) FILTER (WHERE c_balance <> bought - paid) FROM customers
    UNION ALL SELECT 12, count(*), count(*) FILTER (WHERE c_balance + c_ytd_payment <> bought) FROM customers)
SELECT jsonb_agg(to_jsonb(counted)) FROM counted
