"""Targets on images in memory: how soon one is ready, how fast the data are copied, and that the tps are the server's own."""

import json
import shutil
import statistics
import subprocess
import time

from .helper import Helper, Prepared, as_postgres
from .night import call, idle, named
from .report import Record, ratios, say, verdict
from .server import Server
from .tps import alternate, paired

SOONER = 3
COPY = 0.8
SAME = (0.95, 1.05)
# Time between two windows over several images, against one image.
OVER = 1.5
LAYOUTS = ("btrfs-raid0", "btrfs-raid1")
IMAGES = 4
FILESYSTEM = "ext4"
IMAGE = "6GB"
# Time between two windows, against `cp -a`, a sync and this many seconds.
BETWEEN = 1.1
BESIDE = 5
# Memory is too small for it.
DISK = "/var/tmp"
# Gigabytes of an image beside its data, for WAL and what a window adds; and megabytes of a segment of WAL.
ROOM = 16
SEGMENT = 16


def target(server):
    server.sql(f"SELECT fsbench.create_target('t', filesystem => '{FILESYSTEM}', image_size => '{IMAGE}')")


def phases(run):
    return {phase["phase"]: phase for phase in run["phases"]}


def ready(o):
    """From mkfs to the first transaction, against mkfs, initdb and `pgbench -i`, the start of the server not counted. And the
    rate of our copy against that of `cp -a` and a sync to the same target, a moment later."""
    record = Record("ready")
    with Server({}, o.directory) as server, Helper(server, o.directory):
        target(server)

        def fsbench():
            run = server.run(target="t", scale=o.scale, clients=1, transactions=1, warmup="0")
            steps = phases(run)
            rate = server.query(f"SELECT (storage->'data'->>'copied_bytes')::float8 / (storage->'data'->>'copy_ms')::float8 AS rate"
                                f" FROM fsbench.environment WHERE run_id = {run['run_id']}")[0]["rate"] / 1000
            return (steps["measure"]["started_ms"] - steps["filesystem"]["started_ms"]) / 1000, rate

        def pgbench():
            with Prepared(server, "t") as made:
                seconds = made.mkfs_seconds + made.initdb()
                with made.running() as there:
                    seconds += as_postgres(there, "pgbench", "-i", "-q", "-s", o.scale, "postgres")
            return seconds, None

        def by_cp():
            source = server.sql("SELECT directory || '/data' FROM fsbench.prepared_data")
            with Prepared(server, "t") as made:
                size = int(subprocess.run(["du", "-sb", source], check=True, capture_output=True, text=True).stdout.split()[0])
                seconds = as_postgres(server, "cp", "-a", "--reflink=never", source, made.directory / "data")
                began = time.monotonic()
                subprocess.run(["sync", "-f", made.directory], check=True)
                return size / (seconds + time.monotonic() - began) / 1e6

        fsbench()  # loads the data once
        found, copies = [], []
        for pair in range(o.pairs):
            t, order = alternate({"fsbench": fsbench, "pgbench": pgbench}, pair)
            (ours, rate), (theirs, _) = t["fsbench"], t["pgbench"]
            cp = by_cp()
            found.append(theirs / ours)
            copies.append(rate / cp)
            record.add(scale=o.scale, pair=pair, order=order, seconds={"fsbench": ours, "pgbench": theirs}, ratio=found[-1],
                       copy_mb_s=rate, cp_mb_s=cp, copy_ratio=copies[-1])
            say(f"  mkfs, initdb, pgbench -i {theirs:6.2f} s / ready {ours:6.2f} s = {found[-1]:.3f}; "
                f"copy {rate:.0f} MB/s / cp -a {cp:.0f} MB/s = {copies[-1]:.3f}")
        verdict(ratios("times as soon", found), statistics.median(found) >= SOONER, f"{SOONER}x")
        verdict(ratios("of cp -a", copies), statistics.median(copies) >= COPY, f"{COPY:.0%}")


def between(o):
    """Compares the time from the end of a measured window to the start of the next, without the warm-up, with that of `cp -a` and a sync. Both copy the same data, and as much
    WAL as is made ready, after such a window: on images on a disk."""
    record = Record("between")
    data = -(-o.scale * 16 // 1000)
    room = 2 * data + ROOM
    if shutil.disk_usage(DISK).free < room * 2**30:
        say(f"  skipped: {DISK} has no {room} GB free")
        return
    settings = {"checkpoint_timeout": "1h", "max_wal_size": f"{max(4, o.segments * SEGMENT // 250)}GB", "shared_buffers": "512MB",
                "pgfsbench.prepared_data_limit": f"{data + ROOM}GB"}
    with Server(settings, DISK) as server, Helper(server, DISK, f"{data + ROOM}GB"):
        for name in ("a", "b"):
            server.sql(f"SELECT fsbench.create_target('{name}', filesystem => '{FILESYSTEM}', image_size => '{data + ROOM}GB')")
        server.sql(call("between", targets="{a,b}", baseline="a", max_blocks=o.blocks, scale=o.scale, clients=clients(o), seed=1, duration=f"{o.seconds} s",
                        warmup=f"{o.warmup} s", options=json.dumps({"wal_segments": o.segments})))
        server.sql("CALL fsbench.wait_experiment('between')")
        gaps, steps = idle(server, "between")
        ours = statistics.median(gap["whole"] for gap in gaps)
        say(f"  between two windows, median of {len(gaps)}: {ours:.1f} s; phases of a run, medians (s): " + ", ".join(f"{name} {ms / 1000:.2f}" for name, ms in steps.items()))
        copies = [after_window(server, o) for _ in range(o.pairs)]
        theirs = statistics.median(copies)
        record.add(scale=o.scale, segments=o.segments, gaps=gaps, steps=steps, copies_s=copies)
        ratio = (ours - BESIDE) / theirs
        verdict(f"{ours:.1f} s between two windows; cp -a and sync {theirs:.1f} s ({min(copies):.1f} to {max(copies):.1f}): {ratio:.2f} of them and {BESIDE} s",
                ratio <= BETWEEN, f"{BETWEEN} and {BESIDE} s")


def layouts(o):
    """Compares the time from the end of a measured window to the start of the next, over several images and on one."""
    record = Record("layouts")
    with Server({}, o.directory) as server, Helper(server, o.directory, "16GB"):
        places = {"one image": {"image_size": "2GB"}}
        places |= {layout: {"layout": layout, "image_count": IMAGES, "image_size": "1GB"} for layout in LAYOUTS}
        medians = {}
        for number, (place, storage) in enumerate(places.items()):
            # Two names: an experiment compares.
            for name in "ab":
                server.sql(f"SELECT fsbench.create_target('{name}{number}', filesystem => 'btrfs', {named(storage)})")
            server.sql(call(place, targets=f"{{a{number},b{number}}}", baseline=f"a{number}", max_blocks=o.blocks, scale=o.scale, clients=clients(o), seed=1,
                            duration=f"{o.seconds} s", warmup=f"{o.warmup} s"))
            server.sql(f"CALL fsbench.wait_experiment('{place}')")
            gaps, steps = idle(server, place)
            medians[place] = statistics.median(gap["whole"] for gap in gaps)
            record.add(place=place, scale=o.scale, gaps=gaps, steps=steps)
            say(f"  {place}: median of {len(gaps)}: {medians[place]:.2f} s; phases of a run, medians (s): "
                + ", ".join(f"{name} {ms / 1000:.2f}" for name, ms in steps.items()))
        for layout in LAYOUTS:
            ratio = medians[layout] / medians["one image"]
            verdict(f"{layout} over {IMAGES} images: {ratio:.2f} of the time between two windows on one image", ratio <= OVER, f"at most {OVER}")


def clients(o):
    return (o.clients or [16])[0]


def after_window(server, o):
    """Copies by hand after a measured window, with disk, memory and page cache as it has left them."""
    ready = json.dumps({"wal_segments": o.segments})
    server.sql(f"SELECT fsbench.run(target => 'a', scale => {o.scale}, clients => {clients(o)}, warmup => '{o.warmup} s', duration => '{o.seconds} s', options => '{ready}')")
    return by_hand(server, o.segments)


def by_hand(server, segments):
    """Seconds of `cp -a` of the prepared data to a fresh target, with as many segments of WAL, and a sync."""
    source = server.sql("SELECT directory || '/data' FROM fsbench.prepared_data")
    with Prepared(server, "a") as made:
        seconds = as_postgres(server, "cp", "-a", "--reflink=never", source, made.directory / "data")
        seconds += as_postgres(server, "dd", "if=/dev/zero", f"of={made.directory / 'wal'}", f"bs={SEGMENT}M", f"count={segments}")
        began = time.monotonic()
        subprocess.run(["sync", "-f", made.directory], check=True)
        return seconds + time.monotonic() - began


def same(o):
    """tps of run(target => ...) against those of the same run started by hand in a server on the same kind of image."""
    record = Record("same")
    clients = (o.clients or [8])[0]
    arguments = {"scale": o.scale, "clients": clients, "warmup": f"{o.warmup} s", "duration": f"{o.seconds} s"}
    with Server({}, o.directory) as server, Helper(server, o.directory):
        target(server)

        def on_target():
            return server.run(target="t", options='{"data": "loaded"}', **arguments)["tps"]

        def by_hand():
            with Prepared(server, "t") as made:
                made.initdb()
                with made.running() as there:
                    there.sql("CREATE EXTENSION pgfsbench")
                    return there.run(**arguments)["tps"]

        runs = {"target": on_target, "by hand": by_hand}
        found = paired(record, runs, range(o.pairs), "target", "by hand", "tps", clients=clients)
        median = statistics.median(found)
        verdict(ratios("of the tps by hand", found), SAME[0] <= median <= SAME[1], f"{SAME[0]} to {SAME[1]}")
