-- Takes the number of the next order of a district.
UPDATE public.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2
RETURNING d_next_o_id - 1, (d_tax * 10000)::integer
