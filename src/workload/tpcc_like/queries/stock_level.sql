-- Items of the last 20 orders of a district of which less than the threshold are in stock.
SELECT count(DISTINCT s_i_id)
FROM (SELECT d_next_o_id FROM public.district WHERE d_w_id = $1 AND d_id = $2) d
JOIN public.order_line ON ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
JOIN public.stock ON s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $3
