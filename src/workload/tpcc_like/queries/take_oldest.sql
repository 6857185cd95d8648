-- Deletes the oldest row of new_order of a district, and gives its order. A row that another delivery has just taken is passed over.
DELETE FROM public.new_order
WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = (
    SELECT no_o_id FROM public.new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR NO KEY UPDATE)
RETURNING no_o_id
