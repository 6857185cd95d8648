"""Whether a client's memory grows over 2 million transactions."""

import time
from pathlib import Path

from .report import Record, say, verdict
from .server import NO_FLUSH, Server
from .tps import SCALE

# Less than a tenth of a byte per transaction: a leak of one allocation of any size would be seen.
ALLOWED_KB = 128


def memory(o):
    """RssAnon and private dirty pages of the one client, looked at some times a second while the caller waits in psql."""
    record = Record("memory")
    with Server(NO_FLUSH, o.directory) as server:
        waiting = server.start_waiting(scale=SCALE, clients=1, transactions=o.transactions)
        seen = []
        while waiting.poll() is None:
            time.sleep(0.2)
            progress = server.query("SELECT phase, done, total FROM fsbench.progress")
            pid = client_of(server)
            if pid is None or not progress or progress[0]["phase"] != "measure":
                continue
            facts = kilobytes(pid)
            if facts:
                seen.append((progress[0]["done"], facts))
                record.add(transactions=progress[0]["done"], **facts)
        run = server.finish(waiting)
    total = run["transactions_total"]
    if len(seen) < 10:
        raise SystemExit(f"too few looks at the client's memory: {len(seen)}; give it more transactions")
    say(f"{total} transactions of one client, {run['tps']:.0f} tps, {len(seen)} looks")
    for tenth in range(1, 11):
        done, facts = max([look for look in seen if look[0] <= total * tenth / 10] or seen[:1], key=lambda look: look[0])
        say(f"  after {done:9d}: RssAnon {facts['rss_anon_kb']} kB, private {facts['private_kb']} kB")
    first = next(facts for done, facts in seen if done >= total / 10)
    last = seen[-1][1]
    for what in ("rss_anon_kb", "private_kb"):
        grown = last[what] - first[what]
        verdict(f"{what} grew by {grown} kB between 10 % and 100 %", grown <= ALLOWED_KB, f"{ALLOWED_KB} kB")


def client_of(server):
    """The process id of the server's one client: a child of its postmaster, by its title."""
    postmaster = (server.data / "postmaster.pid").read_text().split()[0]
    for child in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split():
        try:
            if b"fsbench client" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        except OSError:
            pass
    return None


def kilobytes(pid):
    """RssAnon of its status, and the dirty pages of its private mappings; None when it is gone.

    smaps_rollup would not do: it counts pages of shared_buffers as private while no other process has touched them.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        smaps = Path(f"/proc/{pid}/smaps").read_text()
    except OSError:
        return None
    anonymous = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")), None)
    if anonymous is None:
        return None
    dirty, private = 0, False
    for line in smaps.splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            private = words[1].endswith("p")
        elif private and words[0] == "Private_Dirty:":
            dirty += int(words[1])
    return {"rss_anon_kb": anonymous, "private_kb": dirty}
