"""What everything costs that is measured beside transactions: the same run with and without it."""

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .stats import lower_bound, mean_ratio, pairs_needed
from .tps import SCALE, alternate

CLIENTS = 16
BOUND = 0.98
ESTIMATE = 0.99
PILOT = 12
MOST = 240


def sampler(o):
    """A pilot tells how many pairs the noise asks for; their number is then fixed before anyone looks again."""
    record = Record("sampler")
    with Server(NO_FLUSH, o.directory) as server:
        def run(options):
            return server.fsbench_tps(SCALE, CLIENTS, o.warmup, o.seconds, options=options)

        runs = {"on": lambda: run({"sample": True}), "off": lambda: run({"sample": False})}
        found = []

        def measure(until):
            while len(found) < until:
                pair = len(found)
                t, order = alternate(runs, pair)
                found.append(t["on"] / t["off"])
                record.add(clients=CLIENTS, pair=pair, order=order, tps=t, ratio=found[-1])
                say(f"  on {t['on']:8.0f} / off {t['off']:8.0f} = {found[-1]:.3f}")

        measure(min(PILOT, o.pairs))
        needed = pairs_needed(found, BOUND, o.pairs)
        say(f"  pilot of {len(found)}: {needed} pairs (at most {o.pairs})")
        measure(needed)
        bound, mean = lower_bound(found), mean_ratio(found)
        say("  " + ratios("on / off", found))
        verdict(f"mean {mean:.4f}", mean >= ESTIMATE, ESTIMATE)
        verdict(f"95 % lower bound {bound:.4f}", bound >= BOUND, BOUND)
