-- The consistency conditions of clause 3.3.2 that are sums of warehouses or districts, each with the rows that it was checked for and those for which it
-- does not hold; and the orders of each client. Each table is read once.
WITH w AS (SELECT w_id, w_ytd FROM public.warehouse),
d AS (SELECT d_w_id AS w, d_id AS d, d_ytd, d_next_o_id FROM public.district),
h AS (SELECT h_w_id AS w, h_d_id AS d, sum(h_amount) AS amount FROM public.history GROUP BY 1, 2),
o AS (
    SELECT o_w_id AS w, o_d_id AS d, count(*) AS orders, max(o_id) AS last, sum(o_ol_cnt) AS lines, count(*) FILTER (WHERE o_carrier_id IS NULL) AS open
    FROM public.orders GROUP BY 1, 2),
n AS (SELECT no_w_id AS w, no_d_id AS d, count(*) AS rows, min(no_o_id) AS first, max(no_o_id) AS last FROM public.new_order GROUP BY 1, 2),
l AS (SELECT ol_w_id AS w, ol_d_id AS d, count(*) AS lines FROM public.order_line GROUP BY 1, 2),
c AS (SELECT c_w_id AS w, c_d_id AS d, sum(c_delivery_cnt) AS deliveries FROM public.customer GROUP BY 1, 2),
-- Rows of one of both without the other.
unlike AS (
    SELECT coalesce(o_w_id, no_w_id) AS w, coalesce(o_d_id, no_d_id) AS d, count(*) AS rows
    FROM (SELECT o_w_id, o_d_id, o_id FROM public.orders WHERE o_carrier_id IS NULL) o
    FULL JOIN public.new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    WHERE o_id IS NULL OR no_o_id IS NULL GROUP BY 1, 2),
mixed AS (
    SELECT ol_w_id AS w, ol_d_id AS d, count(*) AS rows
    FROM public.order_line LEFT JOIN public.orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
    WHERE o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL) GROUP BY 1, 2),
districts AS (
    SELECT d.w, d.d, d_ytd, d_next_o_id, h.amount, coalesce(o.orders, 0) AS orders, o.last AS last_order, coalesce(o.lines, 0) AS order_lines,
        coalesce(n.rows, 0) AS new_orders, n.first AS first_new, n.last AS last_new, coalesce(l.lines, 0) AS lines, coalesce(c.deliveries, 0) AS deliveries,
        coalesce(unlike.rows, 0) AS unlike, coalesce(mixed.rows, 0) AS mixed
    FROM d LEFT JOIN h USING (w, d) LEFT JOIN o USING (w, d) LEFT JOIN n USING (w, d) LEFT JOIN l USING (w, d) LEFT JOIN c USING (w, d)
        LEFT JOIN unlike USING (w, d) LEFT JOIN mixed USING (w, d)),
warehouses AS (
    SELECT w.w_id, w.w_ytd, sum(d_ytd) AS ytd, sum(amount) AS amount FROM w LEFT JOIN districts ON districts.w = w.w_id GROUP BY 1, 2),
counted (condition, checked, wrong) AS (
    SELECT 1, count(*), count(*) FILTER (WHERE w_ytd IS DISTINCT FROM ytd) FROM warehouses
    -- Where every order is delivered, new_order is empty.
    UNION ALL SELECT 2, count(*), count(*) FILTER (WHERE d_next_o_id - 1 IS DISTINCT FROM last_order OR d_next_o_id - 1 <> last_new) FROM districts
    UNION ALL SELECT 3, count(*), count(*) FILTER (WHERE last_new - first_new + 1 <> new_orders) FROM districts
    UNION ALL SELECT 4, count(*), count(*) FILTER (WHERE order_lines <> lines) FROM districts
    UNION ALL SELECT 5, count(*), count(*) FILTER (WHERE unlike > 0) FROM districts
    UNION ALL SELECT 7, count(*), count(*) FILTER (WHERE mixed > 0) FROM districts
    UNION ALL SELECT 8, count(*), count(*) FILTER (WHERE w_ytd IS DISTINCT FROM amount) FROM warehouses
    UNION ALL SELECT 9, count(*), count(*) FILTER (WHERE d_ytd IS DISTINCT FROM amount) FROM districts
    UNION ALL SELECT 11, count(*), count(*) FILTER (WHERE orders - new_orders <> 2100 + deliveries) FROM districts)
SELECT jsonb_build_object(
    'conditions', (SELECT jsonb_agg(to_jsonb(counted)) FROM counted),
    'orders', (SELECT coalesce(jsonb_agg(to_jsonb(o)), '[]')
               FROM (SELECT o_client AS client, count(*) AS orders FROM public.orders WHERE o_client IS NOT NULL GROUP BY 1) o))
