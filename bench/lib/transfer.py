"""How long a file of runs takes: out of one server, into another, and there once more, when all of it is there already."""

import re
import subprocess
import tempfile
from pathlib import Path

from .report import Record, say
from .server import Server
from .stored import fill

SETTINGS = {"fsync": "off", "autovacuum": "off"}


def script_ms(server, script):
    """Duration of the last statement of a psql script (ms)."""
    done = subprocess.run(**server.psql("-f", "-", input="\\timing on\n" + script, stdout=subprocess.PIPE), check=True)
    return float(re.findall(r"^Time: ([0-9.]+) ms", done.stdout, re.M)[-1])


def transfer(o):
    record = Record("transfer")
    with tempfile.TemporaryDirectory() as place, Server(SETTINGS, o.directory) as here, Server(SETTINGS, o.directory) as there:
        file = Path(place) / "runs.jsonl"
        fill(here, o.runs, o.seconds)
        here.sql("UPDATE fsbench.run_log SET label = 'nightly'")
        out = script_ms(here, f"\\copy (SELECT fsbench.export(history => 'nightly')) TO '{file}'\n")
        read = f"CREATE TEMP TABLE incoming (line text);\n\\copy incoming FROM '{file}'\nSELECT * FROM fsbench.import((SELECT string_agg(line, E'\\n') FROM incoming), host => 'db1');\n"
        into, again = script_ms(there, read), script_ms(there, read)
        facts = {"runs": int(there.sql("SELECT count(*) FROM fsbench.run_log")), "bytes": file.stat().st_size}
        record.add(export_ms=out, import_ms=into, again_ms=again, **facts)
        say(f"  {facts['runs']} runs, {facts['bytes'] / 1e6:.0f} MB: out in {out / 1e3:.1f} s, in in {into / 1e3:.1f} s, once more in {again / 1e3:.1f} s")
