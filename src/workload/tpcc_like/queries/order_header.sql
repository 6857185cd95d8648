-- Reads the tax of the warehouse, and discount, last name and credit of the customer.
SELECT (w_tax * 10000)::integer, (c_discount * 10000)::integer, c_last, c_credit
FROM public.warehouse, public.customer
WHERE w_id = $1 AND c_w_id = $1 AND c_d_id = $2 AND c_id = $3
