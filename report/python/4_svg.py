# The verdict picture: plain SVG, for the page, for print and for blogs.

# Colours of Okabe and Ito, which people with colour blindness can tell apart, on white and on black.
COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#999999']
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
WIDTH = 380


def colour(number):
    return COLOURS[number % len(COLOURS)]


def verdict_words(row):
    words = row.get('verdict') or 'no verdict yet'
    return words + (', not as durable' if row.get('same_durability') is False else '')


def reference_of(model):
    return 'ratio to ' + (model['baseline'] if model['baseline'] is not None else 'the reference')


def verdict_text(model):
    """The picture in words, for readers who cannot see it."""
    rows = ['%s: %s%s' % (row['target'], verdict_words(row), ', ' + ratio_in_words(row) if row.get('ratio') is not None else '')
            for row in model['verdicts']]
    return '%s, %s. %s.' % (model['metric'], reference_of(model), '; '.join(rows))


class Scale:
    """The frame of a picture of ratios: a logarithmic axis from 0.01 to 100, as wide as what is shown."""
    left, right = 14, WIDTH - 14

    def __init__(self, ends):
        ends = [min(max(end, 0.01), 100) for end in ends]
        self.low, self.high = math.log(min(ends)) - 0.02, math.log(max(ends)) + 0.02

    def x(self, ratio):
        place = (math.log(min(max(ratio, 0.01), 100)) - self.low) / (self.high - self.low)
        return round(self.left + min(max(place, 0), 1) * (self.right - self.left), 1)

    def begin(self, bottom, text, caption, title):
        """Up to the title. With a caption it is a file of its own."""
        self.caption = wrapped(caption, 62) if caption is not None else []
        height = bottom + 30 + 14 * len(self.caption)
        size = 'class="verdict" ' if caption is None else 'width="%d" height="%d" color="#222" ' % (WIDTH, height)
        out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" %srole="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="13">'
               % (WIDTH, height, size, h(text))]
        if caption is not None:
            out.append('<rect width="100%" height="100%" fill="#fff"/>')
        out.append('<text x="%d" y="18" fill="currentColor" font-weight="600">%s</text>' % (self.left, h(shortened(title, 50))))
        return out

    def ticks(self, bottom):
        out, taken = [], []
        for tick in sorted([tick for tick in TICKS if self.low <= math.log(tick) <= self.high], key=lambda tick: abs(math.log(tick))):
            if all(abs(self.x(tick) - other) > 34 for other in taken):
                taken.append(self.x(tick))
                out.append('<text x="%s" y="%d" fill="currentColor" text-anchor="middle" font-size="12">%g</text>' % (self.x(tick), bottom + 20, tick))
        for number, line in enumerate(self.caption):
            out.append('<text x="%d" y="%d" fill="currentColor" font-size="11">%s</text>' % (self.left, bottom + 40 + 14 * number, h(line)))
        return out + ['</svg>']


def verdict_svg(model, standalone):
    rows = [row for row in model['verdicts']]
    points = {}
    for block in model['blocks']:
        if block['ratio'] is not None and block['ratio'] > 0:
            points.setdefault(block['target'], []).append(block)
    ends = [value for row in rows for value in (row['ratio'], row['low'], row['high']) if value and value > 0]
    ends += [block['ratio'] for row in rows for block in points.get(row['target'], [])]
    margin = (rows[0]['margin_low'], rows[0]['margin_high']) if rows else (1 / 1.05, 1.05)
    scale = Scale(ends + [margin[0] / 1.03, margin[1] * 1.03])
    x, left, top, step = scale.x, scale.left, 34, 46
    bottom = top + step * max(len(rows), 1)
    out = scale.begin(bottom, verdict_text(model), model['caption'] if standalone else None, '%s, %s' % (model['metric'], reference_of(model)))
    out.append('<rect x="%s" y="%d" width="%s" height="%d" fill="currentColor" opacity="0.12"><title>within the margin: does not count</title></rect>'
               % (x(margin[0]), top - 6, round(x(margin[1]) - x(margin[0]), 1), bottom - top + 10))
    out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor"/>' % (x(1), x(1), top - 6, bottom + 4))
    names = [target['target'] for target in model['targets']]
    for number, row in enumerate(rows):
        y = top + step * number
        shade = colour(names.index(row['target']) if row['target'] in names else number)
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (left, y + 10, h(label(row))))
        y += 26
        for block in points.get(row['target'], []):
            out.append('<circle class="block" cx="%s" cy="%s" r="3" fill="none" stroke="%s" opacity="0.7"><title>block %d, run %s: %.3f</title></circle>'
                       % (x(block['ratio']), y - 6 + 3 * (block['block'] % 5), shade, block['block'], block['run_id'], block['ratio']))
        if row['low'] and row['high']:
            dash = ' stroke-dasharray="6 3"' if row['same_durability'] is False else ''
            out.append('<line class="interval" x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="3"%s/>' % (x(row['low']), x(row['high']), y, y, shade, dash))
            for end in (row['low'], row['high']):
                out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="2"/>' % (x(end), x(end), y - 5, y + 5, shade))
        if row['ratio']:
            out.append('<circle class="estimate" cx="%s" cy="%d" r="5" fill="%s"><title>%s</title></circle>' % (x(row['ratio']), y, shade, h(ratio_in_words(row))))
    return ''.join(out + scale.ticks(bottom))


def label(row):
    """A name, and what is said of it: as long as fits, at the cost of the name."""
    words = verdict_words(row)
    return '%s: %s' % (shortened(visible(row['target']), max(4, min(26, 44 - len(words)))), words)


def shortened(text, most):
    return text if len(text) <= most else text[:most - 3] + '...'


def wrapped(text, width):
    lines = ['']
    for word in text.split(' '):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += (' ' if lines[-1] else '') + word
    return lines
