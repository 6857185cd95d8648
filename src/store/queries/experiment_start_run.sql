-- Starts a run on target $1 with the parameters $2 of an experiment and those of a target of its own, $3; seed $4, label $5.
SELECT fsbench.start(target => $1, workload => p ->> 'workload', scale => (p ->> 'scale')::integer,
  size => p ->> 'size', clients => (p ->> 'clients')::integer,
  duration => (p ->> 'duration_us')::bigint * interval '1 us', transactions => (p ->> 'transactions')::bigint,
  warmup => coalesce((p ->> 'warmup')::interval, (p ->> 'warmup_us')::bigint * interval '1 us'), rate => (p ->> 'rate')::float8,
  latency_limit_ms => (p ->> 'latency_limit_ms')::float8, seed => $4::bigint, settings => nullif(p -> 'settings', '{}'),
  options => nullif(p -> 'options', '{}'), label => $5, force => coalesce((p ->> 'force')::boolean, false),
  scripts => s ->> 'scripts', variables => s -> 'variables', init_script => s ->> 'init_script', checks => s -> 'checks',
  protocol => s ->> 'protocol', max_tries => (s ->> 'max_tries')::integer, continue_on_error => (s ->> 'continue_on_error')::boolean,
  data => p ->> 'data', database => p ->> 'database')
FROM (SELECT ($2::jsonb || $3::jsonb) || jsonb_build_object(
    'settings', CASE jsonb_typeof($2::jsonb -> 'settings') WHEN 'object' THEN $2::jsonb -> 'settings' ELSE '{}' END || coalesce($3::jsonb -> 'settings', '{}'),
    'options', CASE jsonb_typeof($2::jsonb -> 'options') WHEN 'object' THEN $2::jsonb -> 'options' ELSE '{}' END || coalesce($3::jsonb -> 'options', '{}')) AS p) x,
  LATERAL (SELECT p -> 'script' AS s) y
