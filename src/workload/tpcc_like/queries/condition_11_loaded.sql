-- Condition 11 of clause 3.3.2 in the form that holds right after the load.
SELECT jsonb_build_object('condition', 11, 'checked', count(*), 'wrong', count(*) FILTER (WHERE coalesce(orders, 0) - coalesce(new_orders, 0) <> 2100))
FROM public.district
LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS orders FROM public.orders GROUP BY 1, 2) o ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS new_orders FROM public.new_order GROUP BY 1, 2) n ON no_w_id = d_w_id AND no_d_id = d_id
