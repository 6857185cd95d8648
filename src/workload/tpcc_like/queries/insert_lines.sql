-- Takes the lines of an order out of stock, and inserts them. Parameters: number, district and warehouse of the order; item, supplying
-- warehouse, quantity and number of each line. No two of its lines may take from the same row of stock. A line whose item does not exist gives no row.
WITH taken AS (
    UPDATE public.stock s
    SET s_quantity = s_quantity - l.quantity + CASE WHEN s_quantity >= l.quantity + 10 THEN 0 ELSE 91 END,
        s_ytd = s_ytd + l.quantity,
        s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + CASE WHEN l.supplier = $3 THEN 0 ELSE 1 END
    FROM unnest($4, $5, $6, $7) AS l (item, supplier, quantity, number)
    JOIN public.item i ON i.i_id = l.item
    WHERE s.s_w_id = l.supplier AND s.s_i_id = l.item
    RETURNING l.number, l.item, l.supplier, l.quantity, i_name, i_price, l.quantity * i_price AS amount, s_quantity,
        CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand,
        CASE $2 WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
            WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info),
added AS (
    INSERT INTO public.order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT $1, $2, $3, number, item, supplier, NULL, quantity, amount, dist_info FROM taken)
SELECT (amount * 100)::bigint, number, i_name, s_quantity, brand, i_price FROM taken
