"""A real search for the sustainable rate, and whether what it says of a rate is so when that is run by itself."""

import json

from .report import Record, say, verdict
from .server import Server
from .tps import SCALE

CLIENTS = 16
LIMIT_MS = 20
PERCENTILE = 99
# A rate that was found is to be kept at this share of it, and one above the interval not.
BELOW, ABOVE = 0.95, 1.1


def rate(o):
    """Flushes go to the directory's filesystem; nothing is promised of the rate itself."""
    record = Record("rate")
    with Server({"fsync": "on", "synchronous_commit": "on"}, o.directory) as server:
        kept, failed = [], []
        for number in range(o.pairs):
            run = server.run(
                scale=SCALE, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{o.seconds} s", latency_limit_ms=LIMIT_MS,
                options=json.dumps({"sustain": PERCENTILE}),
            )
            say(f"  {run['sustainable_rate_says']}")
            found, high = run["sustainable_rate"], run["sustainable_rate_high"]
            if found is None:
                record.add(search=number, says=run["sustainable_rate_says"])
                continue
            below = missed(server, o, BELOW * found)
            above = missed(server, o, ABOVE * high)
            record.add(search=number, rate=found, low=run["sustainable_rate_low"], high=high, estimate=run["sustainable_rate_estimate"],
                       missed_below=below, missed_above=above)
            say(f"  by itself: {100 * below:.2f} % miss at {BELOW} of it, {100 * above:.2f} % at {ABOVE} of the upper end")
            share = 1 - PERCENTILE / 100
            kept.append(below <= share)
            failed.append(above > share)
        if not kept:
            verdict("no rate was found", False, "a rate")
            return
        verdict(f"{BELOW} of the rate is kept in {sum(kept)} of {len(kept)}", 2 * sum(kept) > len(kept), "more than half")
        say(f"  {ABOVE} of the upper end is not kept in {sum(failed)} of {len(failed)}; only watched")


def missed(server, o, tps):
    """Share of the transactions that are late, skipped or failed at a rate."""
    run = server.run(
        scale=SCALE, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{3 * o.seconds} s", rate=tps, latency_limit_ms=LIMIT_MS,
    )
    misses = run["missed"] + run["failed"]
    return misses / (run["transactions_total"] + run["skipped"] + run["failed"])
