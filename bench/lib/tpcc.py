"""The workload tpcc-like: against go-tpc, and against a PL/pgSQL procedure for each transaction."""

import json
import re
import shutil
import statistics
import subprocess
import time

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, ROOT, STABLE_PLANS, Server
from .tps import paired, readable

CLIENTS = 8
# Numbers of loaders.
LOADERS = (1, 2)
# The least ratio of each comparison, and the most seconds that the load of a warehouse may take.
TARGETS = {"go-tpc": 3.0, "procedures": 1.3, "load": 8.0}
SECONDS_PER_WAREHOUSE = 1.2
# Calls of the procedures, with the weights of the mix.
CALLS = {
    "new_order(:w, :scale)": 45,
    "payment(:w, :scale)": 43,
    "order_status(:w)": 4,
    "delivery(:w)": 4,
    "stock_level(:w)": 4,
}
PROCEDURES = ROOT / "bench/tpcc-functions.sql"
CONDITIONS = ROOT / "src/workload/tpcc_like/queries/conditions.sql"
NOT_THERE = "there is no {}; `go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12` makes it, and --go-tpc names it"


def tpcc(o):
    """Pairs of NOTPM and of loads, without keying and thinking times on all sides."""
    record = Record("tpcc")
    with Server(NO_FLUSH, o.directory) as server:
        say(f"{CLIENTS} clients, {o.scale} warehouses")
        load_per_warehouse(record, o, server)
        procedures(record, o, server)
        program = shutil.which(o.go_tpc)
        if program is None:
            say("  go-tpc: skipped: " + NOT_THERE.format(o.go_tpc))
            return
        go_tpc(record, o, server, Peer(server, program, o))


def ours(server, o):
    """NOTPM of fsbench.run."""
    run = server.run(
        workload="tpcc-like", scale=o.scale, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{o.seconds} s",
    )
    return float(server.sql(f"SELECT notpm FROM fsbench.tpcc WHERE run_id = {run['run_id']}"))


def loaded(server, o, loaders=1):
    """Seconds of a load of ours, with keys and VACUUM, and its database."""
    server.sql("CHECKPOINT")
    options = json.dumps({"loaders": loaders})
    run = server.run(workload="tpcc-like", scale=o.scale, clients=loaders, transactions=1, warmup="0", keep=True, options=options)
    return run["load_ms"] / 1000, run["work_database"]


def load_per_warehouse(record, o, server):
    """Seconds of a warehouse, beside pgbench's load at scale 100, which tells the speed of the machine."""
    found = []
    for _ in range(o.pairs):
        seconds, database = loaded(server, o)
        server.drop(database)
        server.sql("CREATE DATABASE by_pgbench TEMPLATE template0")
        server.sql("CHECKPOINT")
        out = server.pgbench("-i", "-q", "-s", 100, "by_pgbench")
        server.drop("by_pgbench")
        pgbench = float(re.search(r"done in ([0-9.]+) s", out).group(1))
        found.append(seconds / o.scale)
        record.add(comparison="load", warehouses=o.scale, seconds=seconds, pgbench_seconds=pgbench)
        say(f"  load: {found[-1]:.2f} s for each warehouse; pgbench -i -s 100: {pgbench:.2f} s")
    middle = statistics.median(found)
    verdict(f"load, median of {len(found)}: {middle:.2f} s for each warehouse", middle <= SECONDS_PER_WAREHOUSE, f"{SECONDS_PER_WAREHOUSE} s")


def judged(record, o, what, runs, unit, above, below, target):
    found = paired(record, runs, range(o.pairs), above, below, unit, comparison=what)
    verdict(ratios(what, found), statistics.median(found) >= target, f"{target}x")


def procedures(record, o, server):
    """pgbench calls the procedures on tables that were loaded once. Afterwards the consistency conditions hold there."""
    _, database = loaded(server, o)
    subprocess.run(**server.psql("-f", "-", input=PROCEDURES.read_text(), database=database, stdout=subprocess.DEVNULL), check=True)
    files = []
    for number, (call, weight) in enumerate(CALLS.items()):
        place = ROOT / f"target/bench/tpcc-{number}.sql"
        place.write_text(f"\\set w random(1, :scale)\nCALL {call};\n")
        files += ["-f", f"{readable(place)}@{weight}"]

    def called():
        """Committed New-Orders a minute: the growth of d_next_o_id, which a rollback takes back."""
        arguments = ["-n", "-M", "prepared", "-j", 2, "-c", CLIENTS, "-D", f"scale={o.scale}", *files, database]
        server.sql("CHECKPOINT")
        server.pgbench("-T", o.warmup, *arguments, settings=STABLE_PLANS)
        before, began = orders(server, database), time.monotonic()
        server.pgbench("-T", o.seconds, *arguments, settings=STABLE_PLANS)
        return (orders(server, database) - before) * 60 / (time.monotonic() - began)

    runs = {"fsbench": lambda: ours(server, o), "procedures": called}
    judged(record, o, "NOTPM, to PL/pgSQL procedures", runs, "notpm", "fsbench", "procedures", TARGETS["procedures"])
    wrong = server.sql(
        f"SELECT string_agg(c ->> 'condition', ', ') FROM jsonb_array_elements(({CONDITIONS.read_text()}) -> 'conditions') c WHERE (c ->> 'wrong')::bigint > 0",
        database,
    )
    verdict("conditions after the procedures: " + (f"{wrong} fail" if wrong else "all hold"), not wrong, "all hold")
    server.drop(database)


def orders(server, database):
    """Orders that were made so far, and a constant."""
    return int(server.sql("SELECT sum(d_next_o_id) FROM district", database))


def load_beside(record, o, server, peer, loaders):
    """Loads by as many loaders of ours as threads of go-tpc."""

    def load_ours():
        seconds, database = loaded(server, o, loaders)
        server.drop(database)
        return seconds

    def load_theirs():
        seconds = peer.prepared("by_go_tpc", loaders)
        server.drop("by_go_tpc")
        return seconds

    runs = {"fsbench": load_ours, "go-tpc": load_theirs}
    judged(record, o, f"load by {loaders}, to go-tpc prepare --no-check", runs, "seconds", "go-tpc", "fsbench", TARGETS["load"])


class Peer:
    """go-tpc on the same server, by its socket. It prepares a database once for all runs."""

    def __init__(self, server, program, o):
        self.server, self.program, self.o = server, program, o

    def call(self, database, action, threads, *arguments):
        env = self.server.env
        # A host given by -H wins over the directory of the socket; without one, the port stands alone.
        parameters = f"sslmode=disable&host={env['PGHOST']}"
        command = [
            self.program, "tpcc", action, "-d", "postgres", "--conn-params", parameters, "--targets", f":{env['PGPORT']}",
            "-U", env.get("PGUSER", "postgres"), "-p", "x", "-D", database, "--warehouses", self.o.scale, "-T", threads, *arguments,
        ]
        return subprocess.run([str(word) for word in command], env=env, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def prepared(self, database, threads=1):
        """Seconds of its load by this many threads, without its checks."""
        self.server.sql(f"CREATE DATABASE {database} TEMPLATE template0")
        self.server.sql("CHECKPOINT")
        began = time.monotonic()
        self.call(database, "prepare", threads, "--no-check")
        return time.monotonic() - began

    def notpm(self, database):
        """New-Orders a minute as it tells them."""
        self.server.sql("CHECKPOINT")
        for seconds in (self.o.warmup, self.o.seconds):
            out = self.call(database, "run", CLIENTS, "--time", f"{seconds}s")
        return float(re.search(r"tpmC: ([0-9.]+)", out).group(1))


def go_tpc(record, o, server, peer):
    for loaders in LOADERS:
        load_beside(record, o, server, peer, loaders)
    peer.prepared("go_tpc")
    server.sql("VACUUM (ANALYZE)", "go_tpc")
    runs = {"fsbench": lambda: ours(server, o), "go-tpc": lambda: peer.notpm("go_tpc")}
    judged(record, o, "NOTPM, to go-tpc", runs, "notpm", "fsbench", "go-tpc", TARGETS["go-tpc"])
    server.drop("go_tpc")
