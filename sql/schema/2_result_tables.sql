-- The list of result tables for triggers, export and import. Workloads declare their tables in core; the test workload_tables compares.

CREATE FUNCTION fsbench._result_tables() RETURNS TABLE (place integer, relation name, key text, limits jsonb)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 20 AS $$
    VALUES
        (1, 'environment'::name, 'run_id', '{}'::jsonb),
        (2, 'finding', 'code', '{"code":200}'),
        (3, 'histogram', 'transaction, measure', '{"measure":200,"transaction":200}'),
        (4, 'sample', 'second', '{}'),
        (5, 'wait_event', 'second, wait_event_type, wait_event', '{"samples":"1 AND 2147483647"}'),
        (6, 'checkpoint', 'number', '{}'),
        (7, 'statistic', 'view, object, counter', '{}'),
        (8, 'statement', 'queryid, toplevel', '{}'),
        (9, 'maintenance', 'position', '{}'),
        (10, 'probe', 'number', '{}'),
        (11, 'verification', 'moment, position', '{"moment":["load","window","crash"],"position":"1 AND 2147483647"}'),
        (12, 'recovery', 'run_id', '{}'),
        (13, 'run_instance', 'instance', '{"instance":"1 AND 2147483647","share":"0 AND 1","transactions":"0 AND 1e15"}'),
        (14, 'fsync', 'position', '{"method":["open_datasync","fdatasync","fsync","fsync_writethrough","open_sync","none"]}'),
        (15, 'scan', 'scan', '{"bytes":"0 AND 1e15","degree":"1 AND 1024","ms":"1e-9 AND 1e18","plan":true,"repeat":"1 AND 1024","scan":"1 AND 10000","wait_events":true}'),
        (16, 'scan_read', 'readers, block_bytes', '{"bytes":"0 AND 1e15","ms":"1e-9 AND 1e18","readers":"1 AND 1024"}'),
        (17, 'transaction_result', 'position', '{"committed":"0 AND 1e15","failed":"0 AND 1e15","late":"0 AND 1e15","position":"1 AND 2147483647","retried":"0 AND 1e15","retries":"0 AND 1e15","rolled_back":"0 AND 1e15","transaction":200,"weight":"0 AND 1e15"}'),
        (18, 'transaction_failure', 'position, sqlstate', '{"position":"1 AND 2147483647","retries":"0 AND 1e15","sqlstate":200,"transactions":"0 AND 1e15"}'),
        (19, 'command_result', 'position, command', '{"command":"1 AND 2147483647","executions":"0 AND 1e15","failures":"0 AND 1e15","kind":200,"line":"1 AND 2147483647","position":"1 AND 2147483647"}'),
        (20, 'io_job', 'job, direction', '{"access":200,"bytes":"0 AND 1e15","copies":"1 AND 2147483647","direction":["read","write","sync"],"file_bytes":"0 AND 1e15","fio_steady_seconds":"1 AND 2147483647","job":200,"operations":"0 AND 1e15","position":"1 AND 2147483647","sync_call":200,"sync_every":"0 AND 1e15"}'),
        (21, 'io_second', 'second, job, direction', '{"bytes":"0 AND 1e15","direction":["read","write"],"job":200,"operations":"0 AND 1e15"}'),
        (22, 'tpcc_client', 'client', '{"c_customer":"0 AND 1e15","c_item":"0 AND 1e15","c_last_name":"0 AND 1e15","client":"0 AND 1e15","lines":"0 AND 1e15","new_orders":"0 AND 1e15","orders":"0 AND 1e15","payments":"0 AND 1e15","payments_by_name":"0 AND 1e15","remote_lines":"0 AND 1e15","remote_payments":"0 AND 1e15","wrong_orders":"0 AND 1e15"}'),
        (23, 'power_cut_result', 'part', '{"corrupt":"0 AND 1e15","cuts":"1 AND 2147483647","failed":"0 AND 1e15","first_failed":"1 AND 2147483647","holes":"0 AND 1e15","loss_below":"0 AND 1","lost":"0 AND 1e15","outcome":["passed","failed","void"],"part":["commits","pages","fsync_off","full_page_writes_off","barriers_off"],"torn":"0 AND 1e15","unbootable":"0 AND 1e15"}'),
        (24, 'power_cut_point', 'part, number', '{"acknowledged":"0 AND 1e15","entry":"0 AND 1e15","holes":"0 AND 1e15","lost":"0 AND 1e15","number":"1 AND 2147483647","outcome":["passed","lost","hole","torn","corrupt","unbootable"],"part":["commits","pages","fsync_off","full_page_writes_off","barriers_off"],"relations_checked":"0 AND 1e15","tear":"512 AND 4096","unflushed":"0 AND 1e15"}'),
        (25, 'power_cut_error', 'operation', '{"acknowledged":"0 AND 1e15","errors":"0 AND 1e15","lost":"0 AND 1e15","operation":["flush","write"],"outcome":["passed","failed","hidden","not_tried"],"reported":["panic","error"]}')
    $$;
COMMENT ON FUNCTION fsbench._result_tables IS 'Tables with rows of a run, beside run_log: the columns that tell the rows of a run apart, and limits of values from elsewhere: a range of numbers, a list of texts, the longest name, or true for a JSON array or object. Private';

CREATE FUNCTION fsbench._document_tables() RETURNS TABLE (relation name, option text, texts text[])
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
    VALUES
        ('script'::name, 'script', '{scripts,variables,init_script,checks}'::text[])
    $$;
COMMENT ON FUNCTION fsbench._document_tables IS 'Tables of texts, columns sha256 and document: a run refers to a text by the member sha256 of this option. Arguments of calls have a member of the same name, with these texts. Private';

CREATE FUNCTION fsbench._workload_routines() RETURNS SETOF name LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
    VALUES
        ('script_from_statements'::name),
        ('power_cut'),
        ('power_cut_watch'),
        ('power_cut_verify'),
        ('_watch_begin'),
        ('_watch_commit'),
        ('_watch_verify'),
        ('_witness')
    $$;
COMMENT ON FUNCTION fsbench._workload_routines IS 'Functions and procedures of single workloads that operators may call. Private';
