"""The workload fsync against pg_test_fsync, alternating on one ext4 on an image in memory."""

import json
import os
import re
import statistics
import subprocess
from contextlib import contextmanager
from pathlib import Path

from .helper import Helper, Prepared
from .report import Record, ratios, say, verdict
from .server import Server
from .targets import target
from .tps import alternate

# The processors where the kernel's threads for loop devices may run.
WORKERS = Path("/sys/devices/virtual/workqueue/cpumask")
# Our median against their average.
AGREE = (0.9, 1.1)
SECTIONS = {"using one 8kB write": 1, "using two 8kB writes": 2, "Non-sync'ed 8kB writes": 0}


def parse(text):
    """Average microseconds of an operation by (method, writes)."""
    found, writes = {}, None
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            writes = next((n for words, n in SECTIONS.items() if words in line), None)
        match = re.match(r"\s+(\w+)\s+([0-9.]+) ops/sec", line)
        if match and writes is not None:
            method = "none" if writes == 0 else match.group(1)
            found[method, max(writes, 1)] = 1e6 / float(match.group(2))
    return found


@contextmanager
def undisturbed():
    """An average suffers from whoever else runs, and an operation takes several times as long when the kernel's thread that writes the
    image happens to run on another processor. So both sides inherit the highest priority and one processor, which does that, too."""
    priority, processors = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
    kernels = WORKERS.read_text()
    one = max(processors)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        os.sched_setaffinity(0, {one})
        # Groups of 32 processors, the highest first.
        groups = ["0"] * len(kernels.split(","))
        groups[-1 - one // 32] = f"{1 << one % 32:x}"
        WORKERS.write_text(",".join(groups))
        yield
    finally:
        WORKERS.write_text(kernels)
        os.sched_setaffinity(0, processors)
        os.setpriority(os.PRIO_PROCESS, 0, priority)


def fsync(o):
    """Medians of the workload fsync, by one writer, against pg_test_fsync's averages in the same filesystem."""
    record = Record("fsync")
    found = {}
    with undisturbed(), Server({}, o.directory) as server, Helper(server, o.directory):
        target(server)
        with Prepared(server, "t") as made:
            made.initdb()
            with made.running() as there:
                there.sql("CREATE EXTENSION pgfsbench")
                runs = {"fsbench": lambda: ours(there, o), "pg_test_fsync": lambda: theirs(server, made.directory, o)}
                for pair in range(o.pairs):
                    t, order = alternate(runs, pair)
                    for test, (median, mean) in sorted(t["fsbench"].items()):
                        average = t["pg_test_fsync"][test]
                        found.setdefault(test, []).append((median / average, mean / average, median, mean, average))
                        record.add(pair=pair, order=order, method=test[0], writes=test[1], median_us=median, mean_us=mean,
                                   pg_test_fsync_us=average, ratio=median / average)
                    say(f"  pair {pair + 1} of {o.pairs}")
    for (method, writes), figures in found.items():
        of_median, of_mean, median, mean, average = (list(values) for values in zip(*figures))
        middle = statistics.median(of_median)
        say(f"  {method}, {writes} write{'s' * (writes > 1)}: median {statistics.median(median):.1f} us, mean {statistics.median(mean):.1f} us, "
            f"pg_test_fsync {statistics.median(average):.1f} us; mean / pg_test_fsync {statistics.median(of_mean):.3f}")
        verdict(ratios(f"{method} {writes}, median / pg_test_fsync's average", of_median),
                AGREE[0] <= middle <= AGREE[1], f"{AGREE[0]} to {AGREE[1]}")


def ours(there, o):
    """Median and mean microseconds of an operation by (method, writes)."""
    run = there.run(workload="fsync", duration=f"{o.seconds * 9} s", options=json.dumps({"writers": [1]}))
    rows = there.query(f"SELECT method, writes, latency_p50_ms, latency_avg_ms FROM fsbench.fsync WHERE run_id = {run['run_id']}")
    return {(row["method"], row["writes"]): (row["latency_p50_ms"] * 1000, row["latency_avg_ms"] * 1000) for row in rows}


def theirs(server, directory, o):
    """Average microseconds by (method, writes)."""
    command = ["pg_test_fsync", "-s", str(o.seconds), "-f", str(directory / "pg_test_fsync.out")]
    done = subprocess.run(["setsid", "--wait", "runuser", "-u", "postgres", "--", *command], env=server.env, cwd="/", check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return parse(done.stdout)
