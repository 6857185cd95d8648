-- The lines of an order.
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM public.order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3
