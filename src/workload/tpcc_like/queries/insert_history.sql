-- Inserts a payment. Its data are the names of warehouse and district, four spaces between them. Parameters: number, district and
-- warehouse of the customer, district and warehouse of the payment, and the amount.
INSERT INTO public.history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
SELECT $1, $2, $3, $4, $5, CURRENT_TIMESTAMP, $6, w_name || '    ' || d_name
FROM public.warehouse, public.district WHERE w_id = $5 AND d_w_id = $5 AND d_id = $4
