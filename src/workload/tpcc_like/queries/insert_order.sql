-- Inserts an order, and its row of new_order.
WITH made AS (
    INSERT INTO public.orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local, o_client)
    VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, NULL, $5, $6, $7))
INSERT INTO public.new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)
