# The answer and one table, for the mail itself.

COLUMNS = ['target', 'measured', 'verdict', 'ratio', 'COMMIT p99', 'worst second', 'bytes/transaction', 'recovery', 'durable']


def target_row(row):
    return [row['target'], row.get('measured', ''), verdict_words(row) if row.get('verdict') else ('baseline' if row.get('says') is None and row.get('ratio') is None and 'target_number' in row else ''),
            ratio_in_words(row), milliseconds(row['commit_p99_ms']), figure(row['worst_second_tps'], 'tps'), figure(row['device_bytes_per_transaction']),
            milliseconds(row['recovery_ms']), row['durability'] or 'not known']


def table_rows(model):
    rows = []
    for row in model['targets']:
        cells = target_row(row)
        if model['kind'] == 'experiment' and row['target'] == model['baseline']:
            cells[COLUMNS.index('verdict')] = 'baseline'
        rows.append(cells)
    return rows


def sentence(text):
    return text + ('' if text.endswith(('.', ';')) else '.')


def tables(model):
    """Tables below the answer: heads and rows, without columns that say nothing."""
    if model['kind'] != 'study':
        return [without_empty(COLUMNS, table_rows(model))]
    claims = [[row[0], row[1], row[3], row[2]] for row in claim_rows(model)]
    return [without_empty(['claim', 'here', 'ratio here', 'what is claimed'], claims)] + [without_empty(
        ['variant', '% of best there', '% of best here', 'compared'],
        [[row['variant'], figure(row['published_percent']), figure(row['measured_percent']), row['compared'] or ''] for row in rows]) for _, rows in published_tables(model)]


def without_empty(head, rows):
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    return [[row[at] for at in used] for row in [head] + rows]


def as_text(model):
    lines = [visible(heading(model)), ''] + [visible(sentence(text)) for text in model['answer']]
    for rows in tables(model):
        rows = [[visible(cell) for cell in row] for row in rows]
        width = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines += [''] + ['  '.join(cell.ljust(width[at]) for at, cell in enumerate(row)).rstrip() for row in rows]
    return '\n'.join(lines + ['', visible(model['caption'])]) + '\n'


def as_markdown(model):
    escape = lambda text: re.sub(r'([\\`*_{}\[\]<>#|!~])', r'\\\1', visible(text)).replace('&', '&amp;').replace('\n', ' ').replace('\r', ' ')
    lines = ['# ' + escape(heading(model)), ''] + [escape(sentence(text)) + '\n' for text in model['answer']]
    for rows in tables(model):
        lines.append('| ' + ' | '.join(rows[0]) + ' |')
        lines.append('|' + '---|' * len(rows[0]))
        lines += ['| ' + ' | '.join(escape(cell) for cell in row) + ' |' for row in rows[1:]] + ['']
    return '\n'.join(lines + [escape(model['caption'])]) + '\n'


def heading(model):
    """The name; of a study what it is, besides."""
    return 'Study %s: %s' % (model['title'], model['study']['definition']['title']) if model['kind'] == 'study' else model['title']
