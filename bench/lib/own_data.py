"""How soon a run can begin on a copy of a user's server, against pg_basebackup and a copy of that by hand."""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .helper import as_postgres
from .report import Record, ratios, say, verdict
from .server import Server
from .targets import phases
from .tps import paired

# At most as long as by hand, times this.
LONGER = 1.3


def own_data(o):
    """From prepare_data() to the first window of a run, against pg_basebackup, `cp -a` and a sync after each. The database is pgbench's."""
    record = Record("own-data")
    # Checkpoints of the original while it is copied would write what has been loaded.
    settings = {"max_wal_size": "4GB", "pgfsbench.prepared_data_limit": "500GB"}
    with Server(settings, o.directory) as server, tempfile.TemporaryDirectory(prefix="pgfsbench-own-data.", dir=o.directory) as place:
        os.chown(place, server.data.stat().st_uid, -1)
        target, backup, copy = (Path(place) / name for name in ("target", "backup", "copy"))
        as_postgres(server, "mkdir", target)
        server.sql(f"SELECT fsbench.create_target('t', directory => '{target}')")
        server.sql("CREATE DATABASE shop")
        as_postgres(server, "pgbench", "-i", "-q", "-s", o.scale, "shop")
        server.sql("CHECKPOINT")
        say(f"  the database: {server.sql('''SELECT pg_size_pretty(pg_database_size('shop'))''')}; load average {Path('/proc/loadavg').read_text().split()[0]}")

        def fsbench():
            began = time.monotonic()
            server.sql("SELECT fsbench.prepare_data('shop', from_server => true)")
            prepared = time.monotonic() - began
            run = server.run(target="t", workload="script", scripts="SELECT 1;", data="shop", database="shop", clients=1, transactions=1, warmup="0")
            server.sql("SELECT fsbench.drop_data('shop')")
            return prepared + phases(run)["measure"]["started_ms"] / 1000

        def by_hand():
            seconds = as_postgres(server, "pg_basebackup", "--checkpoint=fast", "--no-sync", "-D", backup) + synced(backup)
            seconds += as_postgres(server, "cp", "-a", "--reflink=never", backup, copy) + synced(copy)
            as_postgres(server, "rm", "-r", backup, copy)
            return seconds

        found = paired(record, {"fsbench": fsbench, "by hand": by_hand}, range(o.pairs), "fsbench", "by hand", "seconds", scale=o.scale)
        verdict(ratios("of pg_basebackup and cp", found), statistics.median(found) <= LONGER, f"at most {LONGER}")


def synced(path):
    """Seconds until the filesystem has everything on disk."""
    began = time.monotonic()
    subprocess.run(["sync", "-f", path], check=True)
    return time.monotonic() - began
