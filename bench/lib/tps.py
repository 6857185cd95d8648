"""tps without a disk, and with a flush of exactly 1 ms: fsbench.run against pgbench."""

import statistics
import subprocess

from .report import Record, ratios, say, verdict
from .server import DEFAULT_PLANS, NO_FLUSH, ROOT, STABLE_PLANS, Server

SCALE = 20
TARGETS = {1: 2.3, 2: 2.5, 8: 2.8, 16: 3.1}
FLUSH_RANGE = (0.98, 1.08)
PIPELINED = ROOT / "bench/tpcb-pipelined.sql"


def alternate(runs, number):
    """Runs each of `runs` (name: function) once, in an order that is turned round every other time."""
    names = list(runs) if number % 2 == 0 else list(reversed(runs))
    return {name: runs[name]() for name in names}, names


# How what a side gives is stored, said and written.
UNITS = {"ms": ("ms", "7.1f"), "seconds": ("s", "6.2f"), "tps": ("tps", "8.0f"), "notpm": ("NOTPM", "8.0f")}


def paired(record, runs, pairs, above, below, unit, **facts):
    """The ratios of two of `runs`, alternating, one for each number of `pairs`; each stored, with the facts that are given, and said."""
    found = []
    short, width = UNITS[unit]
    about = "".join(f"{name} {value}: " for name, value in facts.items())
    for pair in pairs:
        t, order = alternate(runs, pair)
        found.append(t[above] / t[below])
        record.add(**facts, pair=pair, order=order, **{unit: t}, ratio=found[-1])
        say(f"  {about}{above} {t[above]:{width}} {short} / {below} {t[below]:{width}} {short} = {found[-1]:.3f}")
    return found


def tps(o):
    """Processor time alone. Three ratios, because a plan matters as much as a client does; `same` is the fair one."""
    record = Record("tps")
    with Server(NO_FLUSH, o.directory) as server:
        for clients in o.clients or TARGETS:
            window = (SCALE, clients, o.warmup, o.seconds)
            runs = {
                "fsbench": lambda w=window: server.fsbench_tps(*w),
                "pgbench_stable": lambda w=window: server.pgbench_tps(*w, settings=STABLE_PLANS),
                "fsbench_default": lambda w=window: server.fsbench_tps(*w, settings=DEFAULT_PLANS),
                "pgbench_default": lambda w=window: server.pgbench_tps(*w),
            }
            found = {"same": [], "shipped": [], "default": []}
            say(f"{clients} clients: fsbench and pgbench with stable plans; both with default plans")
            for pair in range(o.pairs):
                t, order = alternate(runs, pair)
                now = {
                    "same": t["fsbench"] / t["pgbench_stable"],
                    "shipped": t["fsbench"] / t["pgbench_default"],
                    "default": t["fsbench_default"] / t["pgbench_default"],
                }
                for mode, ratio in now.items():
                    found[mode].append(ratio)
                record.add(clients=clients, pair=pair, order=order, tps=t, ratio=now)
                say(
                    f"  {t['fsbench']:8.0f} / {t['pgbench_stable']:8.0f} = {now['same']:.3f}"
                    f"    {t['fsbench_default']:8.0f} / {t['pgbench_default']:8.0f} = {now['default']:.3f}"
                )
            say("  " + ratios("both with default plans", found["default"]))
            say("  " + ratios("each as it comes", found["shipped"]))
            target = TARGETS.get(clients, 1)
            verdict(ratios("both with stable plans", found["same"]), statistics.median(found["same"]) >= target, f"{target}x")


def flush(o):
    """Where storage is the limit the two agree. A transaction of pgbench waits for the flush, and for seven round trips
    between two processes; a third side sends the same statements as one pipeline, and so tells what those cost."""
    record = Record("flush")
    library = ROOT / "target/bench/flush1ms.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "bench/flush1ms.c"], check=True)
    settings = {"fsync": "on", "synchronous_commit": "on", "wal_sync_method": "fdatasync", "track_wal_io_timing": "on"}
    with Server(settings, o.directory, preload=readable(library)) as server:
        for clients in o.clients or (1, 8, 16):
            window = (SCALE, clients, o.warmup, o.seconds)
            runs = {
                "fsbench": lambda w=window: server.fsbench_tps(*w),
                "pgbench": lambda w=window: server.pgbench_tps(*w, settings=STABLE_PLANS),
                "pipelined": lambda w=window: server.pgbench_tps(*w, settings=STABLE_PLANS, script=PIPELINED),
            }
            found = {"pgbench": [], "pipelined": []}
            say(f"{clients} clients: fsbench / pgbench / pgbench with one round trip, all with stable plans")
            server.sql("SELECT pg_stat_reset_shared('wal')")
            for pair in range(o.pairs):
                t, order = alternate(runs, pair)
                now = {side: t["fsbench"] / t[side] for side in found}
                for side, ratio in now.items():
                    found[side].append(ratio)
                record.add(clients=clients, pair=pair, order=order, tps=t, ratio=now)
                say(
                    f"  {t['fsbench']:8.1f} / {t['pgbench']:8.1f} = {now['pgbench']:.3f}"
                    f"    / {t['pipelined']:8.1f} = {now['pipelined']:.3f}"
                )
            say(f"  mean flush {server.sql('SELECT round((wal_sync_time / wal_sync)::numeric, 4) FROM pg_stat_wal')} ms")
            low, high = FLUSH_RANGE
            for side, values in found.items():
                inside = low <= statistics.median(values) <= high
                verdict(ratios(f"{clients} clients, against {side}", values), inside, f"{low}x to {high}x")


def readable(library):
    """The library where the servers' owner can read it: the private PostgreSQL's own directory."""
    place = (ROOT / "target/pg15").resolve() / library.name
    place.write_bytes(library.read_bytes())
    place.chmod(0o755)
    return place
