# Whatever comes from outside (names, labels, settings, errors) goes through here on its way into a page.
import base64
import hashlib
import html as html_module
import json
import math
import re
import shlex

# Marks that change the direction of text, or are not seen at all: shown by their numbers.
UNSEEN = re.compile('[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def visible(text):
    """The text with nothing in it that hides or reorders what stands beside it."""
    return UNSEEN.sub(lambda found: '[U+%04X]' % ord(found.group()), str(text))


def ascii_only(text):
    """Keeps the page alike in any encoding of database and client."""
    return text.encode('ascii', 'xmlcharrefreplace').decode('ascii')


def h(text):
    """Text for HTML and SVG, in elements and in attributes."""
    return ascii_only(html_module.escape(visible(text), quote=True))


def plotly(text):
    """Text for plotly, which takes a few tags of HTML in names and titles for what they are."""
    return html_module.escape(visible(text), quote=False)


def finite(value):
    """JSON has no NaN and no infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def script_json(value):
    """JSON inside <script>: nothing in it ends the script, begins a comment, or is a line end of JavaScript."""
    text = json.dumps(finite(value), ensure_ascii=True, separators=(',', ':'), allow_nan=False)
    return text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')


def source_hash(script):
    """By which the page's own policy knows its scripts, and no other."""
    digest = hashlib.sha256(script.encode('utf-8')).digest()
    return 'sha256-' + base64.b64encode(digest).decode('ascii')


def one_line(text):
    """psql pads every line of a value to the longest one: a page has few lines."""
    return ' '.join(line.strip() for line in text.split('\n') if line.strip())
