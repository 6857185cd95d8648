# The answer and one table, for the mail itself.

COLUMNS = ['target', 'verdict', 'ratio', 'COMMIT p99', 'worst second', 'bytes/transaction', 'recovery', 'durable']


def target_row(row):
    return [row['target'], verdict_words(row) if row.get('verdict') else ('baseline' if row.get('says') is None and row.get('ratio') is None and 'target_number' in row else ''),
            ratio_in_words(row), milliseconds(row['commit_p99_ms']), figure(row['worst_second_tps'], 'tps'), figure(row['device_bytes_per_transaction']),
            milliseconds(row['recovery_ms']), row['durability'] or 'not known']


def table_rows(model):
    rows = []
    for row in model['targets']:
        cells = target_row(row)
        if model['kind'] == 'experiment' and row['target'] == model['baseline']:
            cells[1] = 'baseline'
        rows.append(cells)
    return rows


def sentence(text):
    return text + ('' if text.endswith('.') else '.')


def as_text(model):
    rows = [COLUMNS] + [[visible(cell) for cell in row] for row in table_rows(model)]
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in rows[1:])]
    width = {at: max(len(row[at]) for row in rows) for at in used}
    lines = [visible(model['title']), ''] + [visible(sentence(text)) for text in model['answer']] + ['']
    for row in rows:
        lines.append('  '.join(row[at].ljust(width[at]) for at in used).rstrip())
    return '\n'.join(lines + ['', visible(model['caption'])]) + '\n'


def as_markdown(model):
    escape = lambda text: re.sub(r'([\\`*_{}\[\]<>#|!~])', r'\\\1', visible(text)).replace('&', '&amp;').replace('\n', ' ').replace('\r', ' ')
    rows = table_rows(model)
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in rows)]
    lines = ['# ' + escape(model['title']), ''] + [escape(sentence(text)) + '\n' for text in model['answer']]
    lines.append('| ' + ' | '.join(COLUMNS[at] for at in used) + ' |')
    lines.append('|' + '---|' * len(used))
    lines += ['| ' + ' | '.join(escape(row[at]) for at in used) + ' |' for row in rows]
    return '\n'.join(lines + ['', escape(model['caption'])]) + '\n'
