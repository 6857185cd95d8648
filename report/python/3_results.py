# Results that only some workloads have: jobs of fio, and New-Orders a minute.

# Rows of jobs, at most.
MOST_JOBS = 200


def read_results(model):
    """Reads results of one run a group."""
    name_of = {group['chosen']: group['name'] for group in model['groups']}
    of_chosen = lambda sql: [dict(row, name=name_of[row['run_id']]) for row in query(sql, ['bigint[]'], [list(name_of)])]
    model['jobs'] = of_chosen('SELECT * FROM fsbench.io_job WHERE run_id = ANY ($1) ORDER BY position, job, direction, array_position($1, run_id) LIMIT %d' % (MOST_JOBS + 1))
    model['new_orders'] = of_chosen('SELECT * FROM fsbench.tpcc WHERE run_id = ANY ($1) ORDER BY array_position($1, run_id)')


def yes_or_no(value):
    return '' if value is None else 'yes' if value else 'no'


def jobs_section(model):
    rows = [[row['job'], row['name'], row['sync_call'] or row['direction'], whole(row['copies']), bytes_in_words(row['file_bytes']), whole(row['operations']),
             figure(row['mb_per_second'], 'MB/s') if row['mb_per_second'] is not None else '', figure(row['iops'])] + durations(row)
            + [figure(row['drift_ratio']), whole(row['stall_seconds']), yes_or_no(row['steady']), yes_or_no(row['fio_steady'])] for row in model['jobs'][:MOST_JOBS]]
    if not rows:
        return ''
    head = ['job', 'of', 'operation', 'copies', 'bytes of a file', 'operations', 'bandwidth', 'operations/s'] + DURATIONS + ['drift', 'stall seconds', 'steady', 'steady by fio']
    more = '<p>All jobs are in fsbench.io_job.</p>' if len(model['jobs']) > MOST_JOBS else ''
    return '<p class="soft">Of one run each, on files beside the database, by fio.</p>' + table_without_empty(head, rows) + more


def new_orders_section(model):
    head = ['run of', 'NOTPM', 'NOTPM with rollbacks and failures', 'NOTPM per warehouse', 'rollbacks', 'lines of an order', 'remote lines', 'remote payments', 'payments by last name']
    percent = lambda value: figure(value, '%') if value is not None else ''
    rows = [[row['name'], figure(row['notpm']), figure(row['notpm_dbt2']), figure(row['notpm_per_warehouse']), percent(row['rollback_percent']), figure(row['lines_per_order']),
             percent(row['remote_lines_percent']), percent(row['remote_payments_percent']), percent(row['payments_by_name_percent'])] for row in model['new_orders']]
    note = '<p class="soft">Of one run each. NOTPM: committed New-Order transactions a minute. The workload is derived from TPC-C; its results are not comparable to published TPC-C results.</p>'
    return note + table_without_empty(head, rows) if rows else ''
