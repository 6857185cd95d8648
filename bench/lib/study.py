"""A published study, repeated on images on a disk: what its author saw, what came out here, and what of his claims holds."""

import subprocess

from .helper import Helper
from .report import Record, say
from .server import Server, named

# A filesystem with a device below it: that of most machines' /var.
DISK = "/var/tmp"
IMAGES_GB = 32
# Changes to the whole machine that a study may want, and root would have to allow.
ALLOWED = "kernel_settings = true\ndrop_caches = true\n"
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "1GB", "checkpoint_timeout": "5min", "max_worker_processes": "128"}

# Queries that show the study, as psql prints them.
SHOWN = {
    "study_report": "SELECT question, metric, variant, published, round(published_percent::numeric, 1) AS percent, round(measured::numeric, 2) AS measured, "
                    "round(measured_percent::numeric, 1) AS percent_here, runs, compared FROM fsbench.study_report('{study}') WHERE runs > 0",
    "study_claims": "SELECT claim, seen, here, round(estimate::numeric, 2) AS estimate, round(low::numeric, 2) AS low, round(high::numeric, 2) AS high "
                    "FROM fsbench.study_claims('{study}')",
    "why": "SELECT claim, why FROM fsbench.study_claims('{study}')",
    "experiments": "SELECT experiment, runs, repeated, date_trunc('second', ended_at - started_at) AS took, answer FROM fsbench.experiments ORDER BY started_at",
}


def study(o):
    """Carries it out, and prints its report, its claims and what they took."""
    record = Record("study")
    size = f"{o.image_size}GB"
    asked = {"image_size": size, "part": o.part, "quick": True if not o.blocks and not o.seconds else None,
             "blocks": o.blocks, "duration": o.seconds and f"{o.seconds} s", "scale": o.scale}
    with Server(SETTINGS, DISK) as server, Helper(server, DISK, f"{IMAGES_GB}GB", ALLOWED):
        call = f"SELECT fsbench.study('{o.study}', {named(asked)})"
        say(f"  {call}")
        server.sql(call)
        names = [row["name"] for row in server.query(f"SELECT unnest(experiments) AS name FROM fsbench.studies WHERE study = '{o.study}'")]
        for name in names:
            server.sql(f"CALL fsbench.wait_experiment('{name}')")
        for what, query in SHOWN.items():
            query = query.format(study=o.study)
            shown = subprocess.run(["psql", "-Xq", "-P", "pager=off", "-d", "postgres", "-c", query], env=server.env, check=True, text=True, stdout=subprocess.PIPE)
            say(f"{what}:\n{shown.stdout}")
            record.add(study=o.study, what=what, rows=server.query(query))
