-- Adds a payment to a customer. One with bad credit gets it into its data, which are cut at 500 characters. Parameters: warehouse,
-- district and number of the customer, the amount, district and warehouse of the payment.
UPDATE public.customer
SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4, c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE c_credit WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, $5, $6, $4, c_data), 500) ELSE c_data END
WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount,
    c_balance, CASE c_credit WHEN 'BC' THEN left(c_data, 200) END
