"""An experiment of five targets that is interrupted by a restart of its server and by the death of everything, as a machine dies."""

import os
import signal
import subprocess
import time

from .helper import PROGRAM, Helper, as_postgres
from .night import CLIENTS, SETTINGS, advise, call, image, measured, told
from .report import Record, say, verdict
from .server import Server

TARGETS = {"ext4": "ext4", "xfs": "xfs", "btrfs": "btrfs", "f2fs": "f2fs", "ext2": "ext2"}
# How long something may take that takes moments.
PATIENCE = 600


def interrupted(o):
    record = Record("interrupted")
    with Server(SETTINGS, o.directory) as server:
        helper = Helper(server, o.directory)
        helper.__enter__()
        try:
            made = [name for name, filesystem in TARGETS.items() if has_mkfs(filesystem)]
            for name in made:
                image(server, name, TARGETS[name])
            server.sql(call("five", targets="{" + ",".join(made) + "}", max_blocks=o.blocks, scale=o.scale, clients=(o.clients or [CLIENTS])[0], seed=1,
                            **measured(o)))
            wait_for_window(server, 2)
            say(f"  restart in run {running(server)}")
            manage(server, "restart", "-m", "fast")
            wait_for_window(server, len(made) + 2)
            say(f"  everything is killed in run {running(server)}")
            kill_all(server, helper)
            manage(server, "start")
            helper.process = serve_again(helper)
            wait_until("the experiment is over", lambda: status(server) == "done", 7 * 86400)
            rows = told(server, "five", record)
            runs = server.query("SELECT outcome, count(*) FROM fsbench.experiment_run GROUP BY 1 ORDER BY 1")
            say("  " + ", ".join(f"{row['outcome']} {row['count']}" for row in runs))
            twice = server.sql("SELECT count(*) FROM (SELECT FROM fsbench.experiment_run WHERE outcome = 'measured' GROUP BY block, target_number HAVING count(*) > 1) t")
            advise(server, "five")
            outcomes = {row["outcome"]: row["count"] for row in runs}
            record.add(outcomes=outcomes, counted_twice=int(twice))
            verdict(f"{len(rows)} targets have a verdict; {outcomes.get('interrupted', 0)} runs were cut off, {twice} counted twice",
                    len(rows) == len(made) and outcomes.get("interrupted", 0) >= 2 and twice == "0", "each one, at least two, none")
        finally:
            helper.__exit__()


def has_mkfs(filesystem):
    return subprocess.run(["sh", "-c", f"command -v mkfs.{filesystem}"], stdout=subprocess.DEVNULL).returncode == 0


def status(server):
    return server.sql("SELECT status FROM fsbench.experiments WHERE experiment = 'five'")


def running(server):
    return server.sql("SELECT format('%s (%s)', run_id, target_on) FROM fsbench.experiments")


def wait_until(what, condition, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited in vain: {what}")
        time.sleep(0.2)


def wait_for_window(server, runs):
    """Until so many runs are over, and the next one is measured."""
    condition = f"SELECT runs >= {runs} AND phase = 'measure' FROM fsbench.experiments"
    wait_until("a window", lambda: server.sql(condition) == "t", 86400)


def manage(server, *what):
    """pg_ctl, with the settings that the server had."""
    as_postgres(server, "pg_ctl", *what, "-w", "-s", "-D", server.data, "-l", server.data.parent / "server.log", stdin=subprocess.DEVNULL)


def kill_all(server, helper):
    """Every process of the server, of the servers of targets, and the helper, without a word: nothing of them can clear up."""
    marks = (str(server.data).encode(), str(helper.place.resolve()).encode())
    helper.process.kill()
    helper.process.wait()
    for _ in range(2):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    command = file.read()
                directory = os.readlink(f"/proc/{pid}/cwd").encode()
            except OSError:
                continue
            if b"postgres" in command and any(directory.startswith(mark) for mark in marks):
                os.kill(int(pid), signal.SIGKILL)


def serve_again(helper):
    """The helper, as systemd starts it again."""
    return subprocess.Popen([PROGRAM, "--config", helper.config, "serve"], stderr=subprocess.DEVNULL)
