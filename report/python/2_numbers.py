# Numbers for people: three digits, with a unit.


def figure(value, unit=''):
    """A number with three digits."""
    if value is None:
        return ''
    value = float(value)
    size = abs(value)
    if size >= 99.95:
        text = '{:,.0f}'.format(float('%.3g' % value) if size >= 1e4 else value)
    elif value == int(value):
        # Three of something have no hundredths.
        text = '%d' % value
    elif size >= 9.995:
        text = '%.1f' % value
    elif size >= 1:
        text = '%.2f' % value
    else:
        text = '%.3g' % value
    return text + (' ' + unit if unit else '')


def milliseconds(value):
    if value is None:
        return ''
    return figure(value / 1000, 's') if value >= 10000 else figure(value, 'ms')


def bytes_in_words(value):
    """As PostgreSQL counts: 1 kB is 1024 bytes."""
    if value is None:
        return ''
    value = float(value)
    for factor, unit in ((2 ** 40, 'TB'), (2 ** 30, 'GB'), (2 ** 20, 'MB'), (2 ** 10, 'kB')):
        if abs(value) >= factor:
            return figure(value / factor, unit)
    return figure(value, 'bytes')


def count(number, noun):
    return '%s %s%s' % ('{:,}'.format(number), noun, '' if number == 1 else 's')


def ratio_in_words(row):
    """1.11 (1.08 to 1.14)"""
    if row.get('ratio') is None:
        return ''
    text = '%.2f' % row['ratio']
    if row.get('low') is not None and row.get('high') is not None:
        text += ' (%.2f to %.2f)' % (row['low'], row['high'])
    return text


def median(values):
    values = sorted(values)
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def thin(values, most):
    """A series of at most about so many points: their distance, and the points. Each piece of a longer one is its lowest, its median and its
    highest value, so that no stall and no peak is lost."""
    if len(values) <= most:
        return 1, values
    size = math.ceil(len(values) * 3 / most)
    thinned = []
    for start in range(0, len(values), size):
        piece = [value for value in values[start:start + size] if value is not None]
        thinned += [min(piece), median(piece), max(piece)] if piece else [None] * 3
    return size / 3, thinned


def three_digits(values):
    """For the page: what nobody sees takes no room."""
    return [None if value is None else float('%.4g' % value) for value in values]
