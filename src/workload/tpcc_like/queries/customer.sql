-- Balance and names of a customer: clause 2.6.2.2.
SELECT (c_balance * 100)::bigint, c_first, c_middle, c_last FROM public.customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
