"""Real experiments, carried out to their verdicts: what shared figures of the method are measured by. Each prints its table."""

import json
import math
import statistics

from .helper import Helper
from .report import Record, say, verdict
from .server import Server, named
from .spells import Beside

IMAGE = "3GB"
SCALE = 32
CLIENTS = 16
# Standard deviation of ln(ratio) of two names for one filesystem.
NOISE = 0.02
# Seconds from the end of a measured window to the start of the next, without the warm-up and the filling of WAL.
IDLE = 4
MOST_FALSE = 2
# Settings for a machine with this much memory and no disk; the servers of targets take as much again.
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "1GB", "checkpoint_timeout": "5min"}


class Place:
    """A server with a helper that makes images in memory."""

    def __init__(self, o, settings=None):
        self.server = Server(SETTINGS | (settings or {}), o.directory)
        self.directory = o.directory

    def __enter__(self):
        server = self.server.__enter__()
        self.helper = Helper(server, self.directory)
        self.helper.__enter__()
        return server

    def __exit__(self, *error):
        # The server first: who ends this in the middle of a run leaves a server on a target, which goes with the one that asked.
        self.server.__exit__(*error)
        self.helper.__exit__(*error)


def image(server, name, filesystem="ext4", size=IMAGE, **more):
    server.sql(f"SELECT fsbench.create_target('{name}', filesystem => '{filesystem}', image_size => '{size}'{''.join(f', {k} => {v}' for k, v in more.items())})")


def call(experiment, **parameters):
    """The statement that starts an experiment."""
    return f"SELECT fsbench.experiment('{experiment}', {named(parameters)})"


def measured(o):
    """Parameters of runs with the least windows that decide something; or as long as the caller says, to see whether all works."""
    warmup = o.warmup if o.warmup is not None else 2 if o.seconds else 30
    if o.seconds:
        return {"duration": f"{o.seconds} s", "warmup": f"{warmup} s"}
    return {"cycle": "30 s", "duration": "60 s", "warmup": f"{warmup} s"}


def told(server, experiment, record):
    """Prints what came out of an experiment; gives its rows."""
    rows = server.query(f"SELECT * FROM fsbench.compare('{experiment}')")
    over = server.query(f"SELECT answer, runs, repeated, ended_at - started_at AS took FROM fsbench.experiments WHERE experiment = '{experiment}'")[0]
    for row in rows:
        say(f"  {experiment}: {row['target']}: {row['verdict']}: {row['says']}")
    say(f"  {experiment}: {over['answer']} ({over['took']})")
    record.add(experiment=experiment, rows=rows, **over)
    return rows


def carried_out(server, experiment, record, **parameters):
    """An experiment from its first run to its answer."""
    server.sql(call(experiment, **parameters))
    server.sql(f"CALL fsbench.wait_experiment('{experiment}')")
    return told(server, experiment, record)


def noise(o):
    """Two names for one filesystem: what two runs of the same differ by, at tps and at p99; and where the time goes that is not measured."""
    record = Record("noise")
    with Place(o, {"checkpoint_timeout": "1h", "max_wal_size": "4GB"}) as server, Beside() as beside:
        for name in ("a", "b"):
            image(server, name)
        for segments in (0, o.segments):
            experiment = f"{segments} segments ready"
            server.sql(call(experiment, targets="{a,b}", baseline="a", max_blocks=o.blocks, scale=o.scale, clients=(o.clients or [CLIENTS])[0], seed=1,
                            duration=f"{o.seconds} s", warmup=f"{o.warmup} s", start=False,
                            options=json.dumps({"wal_segments": segments})))
            # No look before its last block: the noise is wanted, and no verdict.
            server.sql(f"UPDATE fsbench.experiment SET looks = jsonb_build_array(looks -> -1) WHERE experiment = '{experiment}'")
            server.sql(f"SELECT fsbench.resume_experiment('{experiment}')")
            server.sql(f"CALL fsbench.wait_experiment('{experiment}')")
            runs = pairs(server, experiment)
            for run in (run for pair in runs for run in pair):
                run["beside"] = beside.mean(run["begin"], run["end"])
            sd = {metric: deviation([math.log(b[metric] / a[metric]) for a, b in runs]) for metric in ("tps", "latency_p99_ms")}
            # By how much the processor time of a transaction differs, which is the same work each time, and what is left without that.
            speed = deviation([math.log(b["cpu"] / a["cpu"]) for a, b in runs])
            left = deviation([math.log(b["tps"] * b["cpu"] / (a["tps"] * a["cpu"])) for a, b in runs])
            shown, not_shown = explained([math.log(b["tps"] / a["tps"]) for a, b in runs], [math.log(b["beside"] / a["beside"]) for a, b in runs])
            between, steps = idle(server, experiment)
            record.add(segments=segments, pairs=len(runs), sd=sd, speed=speed, left=left, beside=shown, not_shown=not_shown, between_windows_s=between, steps=steps, runs=runs)
            median = {name: statistics.median([gap[name] for gap in between]) if between else math.nan for name in ("whole", "fill_wal", "rest")}
            say(f"  {experiment}, {len(runs)} pairs: sd of ln ratio {percent(sd['tps'])} (p99 {percent(sd['latency_p99_ms'])}); of the processor time of a transaction {percent(speed)}, "
                f"and of tps at the same processor time {percent(left)}")
            say(f"  {experiment}: correlation of tps with the processor time of other work in the same windows {shown:.2f}; sd of what that does not tell {percent(not_shown)}")
            say(f"  not measured between two windows, medians: {median['whole']:.1f} s, of which "
                f"filling of WAL {median['fill_wal']:.2f}, all the rest {median['rest']:.2f}")
            say("  phases of a run, medians (s): " + ", ".join(f"{name} {ms / 1000:.2f}" for name, ms in steps.items()))
            created = [run["created"] for pair in runs for run in pair if run["created"] is not None]
            say(f"  segments of WAL created in a window: {statistics.mean(created) if created else math.nan:.1f}")
            verdict(f"{experiment}: {median['rest']:.2f} s between two windows that are not warm-up or filling of WAL", median["rest"] <= IDLE, f"at most {IDLE} s")
        verdict(f"sd of ln ratio {percent(sd['tps'])} with segments ready", sd["tps"] <= NOISE, f"at most {percent(NOISE)}")
        verdict(f"{percent(left)} of it at the same processor time of a transaction", left <= NOISE, f"at most {percent(NOISE)}")


def pairs(server, experiment):
    """The two runs of each block that count."""
    rows = server.query(f"""
        SELECT x.block, x.target_number, r.tps, r.latency_p99_ms, r.cpu_ms_per_transaction AS cpu, extract(epoch FROM r.measured_from)::float8 AS begin,
            extract(epoch FROM r.measured_from + r.measured_ms * interval '1 ms')::float8 AS end, (r.facts #>> '{{wal,created}}')::integer AS created
        FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) JOIN fsbench.run_log r USING (run_id)
        WHERE e.experiment = '{experiment}' AND x.outcome = 'measured' ORDER BY x.block, x.target_number""")
    by_block = {}
    for row in rows:
        by_block.setdefault(row["block"], []).append(row)
    return [block for block in by_block.values() if len(block) == 2]


def explained(ys, xs):
    """The correlation of two series, and the standard deviation of what is left of the first one when the second has told its part (least squares)."""
    if len(ys) < 3:
        return math.nan, math.nan
    slope, intercept = statistics.linear_regression(xs, ys)
    left = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    return statistics.correlation(xs, ys), math.sqrt(left / (len(ys) - 2))


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else math.nan


def percent(share):
    return f"{100 * share:.2f} %"


def idle(server, experiment):
    """Seconds from the end of each window to the start of the next, without the warm-up: in all, for the filling of WAL, and for the rest.
    Also median milliseconds of each phase, and of each step of the helper's at its end (`release: unmount`)."""
    rows = server.query(f"""
        SELECT g.gap::float8, g.phases
        FROM (SELECT r.run_id, r.phases,
                  extract(epoch FROM r.measured_from - lag(r.measured_from + r.measured_ms * interval '1 ms') OVER w) - extract(epoch FROM r.warmup) AS gap
              FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) JOIN fsbench.run_log r USING (run_id)
              WHERE e.experiment = '{experiment}' AND r.status = 'done' WINDOW w AS (ORDER BY r.run_id)) g
        ORDER BY g.run_id""")
    gaps, steps = [], {}
    for row in rows:
        phases = {phase["phase"]: phase["ms"] for phase in row["phases"] if phase["ms"] is not None}
        for name, ms in phases.items():
            if name not in ("warmup", "measure"):
                steps.setdefault(name, []).append(ms)
        if row["gap"] is not None:
            parts = {"fill_wal": phases.get("fill_wal", 0) / 1000}
            gaps.append({"whole": row["gap"], "rest": row["gap"] - sum(parts.values()), **parts})
    released = server.query(f"""
        SELECT l.step, l.ms FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) JOIN fsbench.helper_log l USING (run_id)
        WHERE e.experiment = '{experiment}' AND l.action = 'release' AND l.command IS NOT NULL ORDER BY l.job_id""")
    for row in released:
        steps.setdefault(f"release: {row['step']}", []).append(row["ms"])
    return gaps, {name: statistics.median(ms) for name, ms in steps.items()}


def aa(o):
    """Two names for one filesystem, in many experiments: how often a difference is seen that is none."""
    record = Record("aa")
    false = 0
    with Place(o) as server:
        for name in ("a", "b"):
            image(server, name)
        for number in range(1, o.pairs + 1):
            rows = carried_out(server, f"aa {number}", record, targets="{a,b}", baseline="a", max_blocks=o.blocks, scale=o.scale,
                               clients=(o.clients or [CLIENTS])[0], seed=number, **measured(o))
            false += rows[0]["verdict"] in ("more", "less")
    verdict(f"more or less in {false} of {o.pairs} experiments of one filesystem against itself", false <= MOST_FALSE, f"at most {MOST_FALSE}")


def barriers(o):
    """ext4 with barriers off against on: what it gains, and that it is not the same."""
    record = Record("barriers")
    with Place(o) as server:
        image(server, "on")
        image(server, "off", mount_options="'barrier=0'")
        rows = carried_out(server, "barriers", record, targets="{on,off}", baseline="on", max_blocks=o.blocks, scale=o.scale,
                           clients=(o.clients or [CLIENTS])[0], seed=1, **measured(o))
        advise(server, "barriers")
    verdict("the sentence says NOT equally durable", "NOT equally durable" in rows[0]["says"], "so")


def factor(o):
    """One setting varied on one filesystem."""
    record = Record("factor")
    with Place(o) as server:
        image(server, "ext4")
        carried_out(server, "wal_compression", record, targets="{ext4}", factors=json.dumps({"settings.wal_compression": ["off", "on"]}),
                    baseline="ext4 wal_compression=off", max_blocks=o.blocks, scale=o.scale, clients=(o.clients or [CLIENTS])[0], seed=1, **measured(o))
        advise(server, "wal_compression")


def advise(server, experiment):
    """Prints the advice of recommend(), without the lines to be pasted."""
    for row in server.query(f"SELECT part, says FROM fsbench.recommend('{experiment}')"):
        if "\n" not in row["says"]:
            say(f"    {row['part']}: {row['says']}")
