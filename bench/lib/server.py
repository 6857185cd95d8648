"""A throwaway server of tools/server, and the two programs that are compared on it."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Enough room that no checkpoint falls into a measured window, and that the tables fit in memory.
COMMON = {
    "shared_preload_libraries": "pgfsbench",
    "max_worker_processes": "64",
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
}
# The disk taken out: what is left is processor time.
NO_FLUSH = {"fsync": "off", "synchronous_commit": "off"}

# Settings of pgfsbench's clients, so that the plan does not change in the middle of a run.
STABLE_PLANS = {"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan"}
DEFAULT_PLANS = {"enable_seqscan": "on", "plan_cache_mode": "auto"}


class Server:
    """Started on entry, stopped and removed on exit. `preload` is a library for the server's processes alone."""

    def __init__(self, settings, directory, preload=None):
        self.arguments = ["-d", directory]
        for name, value in (COMMON | settings).items():
            self.arguments += ["-c", f"{name}={value}"]
        self.preload = {"LD_PRELOAD": str(preload)} if preload else {}
        self.env = None

    def __enter__(self):
        started = subprocess.run(
            [ROOT / "tools/server", "start", *self.arguments],
            env=os.environ | self.preload, check=True, text=True, stdout=subprocess.PIPE,
        )
        exports = dict(word.split("=", 1) for word in shlex.split(started.stdout)[1:])
        exports["PATH"] = exports["PATH"].replace("$PATH", os.environ["PATH"])
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PG")} | exports
        self.sql("CREATE EXTENSION pgfsbench")
        return self

    def __exit__(self, *_):
        subprocess.run([ROOT / "tools/server", "stop", self.env["PGFSBENCH_SERVER"]], check=True)

    @property
    def data(self):
        """The data directory."""
        return (Path(self.env["PGFSBENCH_SERVER"]) / "data").resolve()

    def psql(self, *arguments, database="postgres", **options):
        """The arguments of a psql process, ready for subprocess."""
        env = self.env | {"PGOPTIONS": "-c client_min_messages=warning"}
        return {"args": ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, *arguments], "env": env, "text": True} | options

    def sql(self, statement, database="postgres"):
        """The result of a statement, as psql prints it."""
        done = subprocess.run(**self.psql("-c", statement, database=database, stdout=subprocess.PIPE), check=True)
        return done.stdout.strip()

    def query(self, statement, database="postgres"):
        """The rows of a query, as dicts."""
        rows = self.sql(f"SELECT coalesce(jsonb_agg(q), '[]') FROM ({statement}) q", database)
        return json.loads(rows)

    def timed(self, query, rounds):
        """Milliseconds that psql waits for all rows of it, in one session, again and again."""
        script = "\\timing on\n\\o /dev/null\n" + f"{query};\n" * rounds
        done = subprocess.run(**self.psql("-f", "-", input=script, stdout=subprocess.PIPE), check=True)
        return [float(ms) for ms in re.findall(r"^Time: ([0-9.]+) ms", done.stdout, re.M)]

    def run(self, **parameters):
        """SELECT * FROM fsbench.run(...) in psql; the run's row of fsbench.result."""
        run_id = self.sql(f"SELECT run_id FROM fsbench.run({named(parameters)})")
        return self.result(int(run_id))

    def start_waiting(self, **parameters):
        """Starts such a run in a psql that goes on by itself; see `finish`."""
        call = f"SELECT run_id FROM fsbench.run({named(parameters)})"
        return subprocess.Popen(**self.psql("-c", call, stdout=subprocess.PIPE))

    def finish(self, waiting):
        """The run's row, when that psql has ended."""
        out, _ = waiting.communicate()
        if waiting.returncode:
            raise SystemExit("the run failed")
        return self.result(int(out))

    def result(self, run_id):
        """A run's row of fsbench.result."""
        return self.query(f"SELECT * FROM fsbench.result WHERE run_id = {run_id}")[0]

    def fresh_tables(self, scale):
        """A database with tables that fsbench.run has just loaded and vacuumed, and that nobody has written to."""
        run = self.run(workload="select-only", scale=scale, clients=1, transactions=1, keep=True)
        return run["work_database"]

    def drop(self, database):
        self.sql(f'DROP DATABASE "{database}"')

    def fsbench_tps(self, scale, clients, warmup, seconds, settings=None, options=None):
        """tps of fsbench.run; it loads, vacuums, checkpoints and warms up by itself."""
        return self.run(
            scale=scale, clients=clients, warmup=f"{warmup} s", duration=f"{seconds} s",
            settings=settings and json.dumps(settings), options=options and json.dumps(options),
        )["tps"]

    def pgbench_tps(self, scale, clients, warmup, seconds, settings=None, script=None):
        """tps of `pgbench -M prepared` on such tables, after the same steps; of its own transaction, or of a script's."""
        script = ["-s", scale, "-f", script] if script else []
        database = self.fresh_tables(scale)
        self.sql("CHECKPOINT")
        for length in (warmup, seconds):
            out = self.pgbench("-n", "-M", "prepared", "-j", 2, "-c", clients, "-T", length, *script, database, settings=settings)
        self.drop(database)
        return float(re.search(r"^tps = ([0-9.]+)", out, re.M).group(1))

    def pgbench(self, *arguments, settings=None):
        """The output of the machine's own pgbench, standard error with it."""
        options = " ".join(f"-c {name}={value}" for name, value in (settings or {}).items())
        done = subprocess.run(
            ["pgbench", *map(str, arguments)], env=self.env | {"PGOPTIONS": options},
            check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        return done.stdout


def named(parameters):
    """Parameters in SQL's named notation; None is left out."""
    def literal(value):
        return str(value).lower() if isinstance(value, (bool, int, float)) else "'" + value.replace("'", "''") + "'"

    return ", ".join(f"{name} => {literal(value)}" for name, value in parameters.items() if value is not None)
