"""Cold scans by each way in which PostgreSQL 18 reads ahead: io_method."""

import json
import os
import shutil
import statistics
import tempfile

from .report import Record, ratios, say
from .server import Server
from .tps import alternate

# The method that reads as the versions before did; the others are given as a share of it.
REFERENCE = "sync"


def io_method(o):
    """A target in a directory for each io_method that this server was built with, on a disk; scans by them take turns. Watched, and no target is set:
    what it brings is the disk's matter."""
    record = Record("io_method")
    settings = {"shared_buffers": "128MB", "io_workers": o.workers}
    with Server({"shared_buffers": "128MB"}, "/var/tmp") as server:
        methods = server.query("SELECT method FROM pg_settings, unnest(enumvals) AS method WHERE name = 'io_method' ORDER BY method = '" + REFERENCE + "' DESC, method")
        methods = [row["method"] for row in methods]
        if not methods:
            say("  skipped: this PostgreSQL has no io_method; PG_MAJOR=18 takes another one")
            return
        place = tempfile.mkdtemp(dir="/var/tmp", prefix="pgfsbench-io.")
        try:
            owner = os.stat(server.data)
            os.chown(place, owner.st_uid, owner.st_gid)
            for method in methods:
                own = json.dumps({name: value for name, value in (settings | {"io_method": method}).items() if value is not None})
                server.sql(f"SELECT fsbench.create_target('io_{method}', directory => '{place}', settings => '{own}')")
            compare(server, record, methods, o)
        finally:
            shutil.rmtree(place)


def compare(server, record, methods, o):
    options = json.dumps({"degrees": o.degrees, "repeats": 3, "readers": [], "cache": "cold"})

    def speeds(method):
        run = server.run(target=f"io_{method}", workload="scan", scale=o.scale, options=options)
        rows = server.query(
            "SELECT degree, percentile_cont(0.5) WITHIN GROUP (ORDER BY gb_per_second) FILTER (WHERE used) AS gb, count(*) FILTER (WHERE NOT used) AS not_used "
            f"FROM fsbench.scan WHERE run_id = {run['run_id']} GROUP BY degree"
        )
        stored = server.query(
            "SELECT e.settings -> 'io_method' ->> 'setting' AS method, e.settings -> 'io_workers' ->> 'setting' AS workers "
            f"FROM fsbench.environment e WHERE run_id = {run['run_id']}"
        )[0]
        return {"degrees": {row["degree"]: row for row in rows}, "stored": stored}

    runs = {method: lambda m=method: speeds(m) for method in methods}
    # The data are loaded once, and a virtual machine's memory and disk are used for the first time.
    alternate(runs, 0)
    found = []
    for pair in range(o.pairs):
        made, order = alternate(runs, pair)
        found.append(made)
        record.add(pair=pair, order=order, scale=o.scale, **made)
    for degree in o.degrees:
        of = {method: [made[method]["degrees"][degree]["gb"] for made in found if made[method]["degrees"][degree]["gb"] is not None] for method in methods}
        say(f"  degree {degree}: " + ", ".join(f"{method} {statistics.median(values):.2f} GB/s" for method, values in of.items() if values))
        for method in methods[1:]:
            pairs = [(made[method]["degrees"][degree]["gb"], made[REFERENCE]["degrees"][degree]["gb"]) for made in found]
            values = [ours / reference for ours, reference in pairs if ours is not None and reference is not None]
            if values:
                say("  " + ratios(f"degree {degree}, {method} to {REFERENCE}", values))
    left = sum(row["not_used"] for made in found for one in made.values() for row in one["degrees"].values())
    say(f"  {left} scans did not count, and were made again")
