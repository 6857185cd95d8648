-- Dates the lines of an order, and adds their amounts to the balance of its customer. Parameters: warehouse, district and number of the order,
-- and the customer.
WITH delivered AS (
    UPDATE public.order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3
    RETURNING ol_amount)
UPDATE public.customer SET c_balance = c_balance + (SELECT sum(ol_amount) FROM delivered), c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $4
