-- Adds a payment to a warehouse.
UPDATE public.warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1
RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
