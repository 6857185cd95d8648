"""An experiment of five targets that is interrupted by a restart of its server and by the death of everything, as a machine dies."""

import ctypes
import os
import signal
import subprocess
import time

from .helper import PROGRAM, Helper, as_postgres
from .night import CLIENTS, SETTINGS, advise, call, image, measured, told
from .report import Record, say, verdict
from .server import Server

TARGETS = {"ext4": "ext4", "xfs": "xfs", "btrfs": "btrfs", "ext3": "ext3", "ext2": "ext2"}
# How long something may take that takes moments.
PATIENCE = 600
# prctl's number for: processes whose parent has ended become ours.
SUBREAPER = 36


def interrupted(o):
    record = Record("interrupted")
    # A killed postmaster that no parent waits for still has its number, so none can be started in its place.
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
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

    def is_measured():
        if status(server) in ("done", "cancelled", "paused"):
            raise SystemExit(server.sql("SELECT format('%s: %s', status, answer) FROM fsbench.experiments"))
        return server.sql(condition) == "t"

    wait_until("a window", is_measured, 86400)


def manage(server, *what):
    """pg_ctl, with the settings that the server had."""
    log = server.data.parent / "server.log"
    try:
        as_postgres(server, "pg_ctl", *what, "-w", "-s", "-t", "600", "-D", server.data, "-l", log, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        say("".join(f"  {line}" for line in log.read_text(encoding="utf-8", errors="replace").splitlines(True)[-8:]))
        raise


def kill_all(server, helper):
    """Every process of the server, of the servers of targets, and the helper, without a word: nothing of them can clear up."""
    marks = (str(server.data).encode(), str(helper.place.resolve()).encode())
    helper.process.kill()
    helper.process.wait()
    def kill():
        """Whether none of them was left."""
        left = list(of_these(marks))
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        reap()
        return not left

    wait_until("all processes have ended", kill)


def reap():
    """Takes the end of processes that became ours."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def of_these(marks):
    """Processes of servers whose data directories are below these places."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                is_server = b"postgres" in file.read()
            directory = os.readlink(f"/proc/{pid}/cwd").encode()
        except OSError:
            continue
        if is_server and any(directory.startswith(mark) for mark in marks):
            yield int(pid)


def serve_again(helper):
    """The helper, as systemd starts it again."""
    return subprocess.Popen([PROGRAM, "--config", helper.config, "serve"], stderr=subprocess.DEVNULL)
