-- The customers of a district with a last name, in the order of their first names.
SELECT c_id FROM public.customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first
