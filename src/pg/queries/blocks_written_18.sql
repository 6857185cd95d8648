-- One write may be of several blocks.
(SELECT jsonb_build_array(
    div(sum(CASE backend_type WHEN 'background worker' THEN 0 ELSE coalesce(write_bytes, 0) + coalesce(extend_bytes, 0) END),
      current_setting('block_size')::numeric),
    div(sum(CASE backend_type WHEN 'background worker' THEN coalesce(write_bytes, 0) + coalesce(extend_bytes, 0) ELSE 0 END),
      current_setting('block_size')::numeric),
    max(stats_reset)) FROM pg_stat_io WHERE object = 'relation')
