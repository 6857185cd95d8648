"""The workload io against fio alone, with the same job file on files of the same filesystem, alternating."""

import json
import os
import pwd
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from .report import Record, ratios, say, verdict
from .server import Server
from .tps import alternate

# Bandwidth through the workload against fio alone.
AGREE = (0.99, 1.01)


def jobs(o):
    """The job file of both sides."""
    return (f"[global]\nsize=64m\nnumjobs=2\nbs=8k\nioengine=psync\ninvalidate=1\nruntime={o.seconds}\ntime_based\nrandseed=1\n"
            "[randread]\nrw=randread\n[write]\nrw=write\nfdatasync=8\nstonewall\n")


def io(o):
    """Bandwidth of fio alone against the workload io."""
    record = Record("io")
    found = {}
    with Server({}, o.directory) as server:
        runs = {"fsbench": lambda: ours(server, o), "fio": lambda: theirs(server, o)}
        for pair in range(o.pairs):
            t, order = alternate(runs, pair)
            for job, ours_mb in sorted(t["fsbench"].items()):
                alone_mb = t["fio"][job]
                found.setdefault(job, []).append(ours_mb / alone_mb)
                record.add(pair=pair, order=order, job=job, mb_per_s=ours_mb, fio_mb_per_s=alone_mb, ratio=ours_mb / alone_mb)
            say(f"  pair {pair + 1} of {o.pairs}")
    for job, of_job in found.items():
        middle = statistics.median(of_job)
        verdict(ratios(f"{job}, workload / fio alone", of_job), AGREE[0] <= middle <= AGREE[1], f"{AGREE[0]} to {AGREE[1]}")


def ours(server, o):
    """MB/s by job, through the workload."""
    run = server.run(workload="io", options=json.dumps({"job_file": jobs(o)}))
    rows = server.query(f"SELECT job, mb_per_second FROM fsbench.io_job WHERE run_id = {run['run_id']} AND direction <> 'sync'")
    return {row["job"]: row["mb_per_second"] for row in rows}


def theirs(server, o):
    """MB/s by job, of fio as a user runs it: the files are made first, in a directory beside the data."""
    directory = Path(tempfile.mkdtemp(prefix="pgfsbench-fio.", dir=server.data.parent))
    try:
        user = pwd.getpwnam("postgres")
        os.chown(directory, user.pw_uid, user.pw_gid)
        head, rest = jobs(o).split("\n", 1)
        text = f"{head}\nthread\ngroup_reporting\nfilename_format=file.$jobnum.$filenum\n{rest}".replace("[write]\n", "[write]\nnew_group\n")
        (directory / "jobs.fio").write_text(text)
        run_fio(directory, "--create_only=1")
        run_fio(directory, "--output=document.json", "--output-format=json")
        text = (directory / "document.json").read_text()
        document = json.loads(text[text.index("{\n"):])
    finally:
        shutil.rmtree(directory)
    figures = {}
    for job in document["jobs"]:
        side = max((job["read"], job["write"]), key=lambda side: side["io_bytes"])
        figures[job["jobname"]] = side["io_bytes"] / side["runtime"] / 1000
    return figures


def run_fio(directory, *arguments):
    subprocess.run(["runuser", "-u", "postgres", "--", "fio", *arguments, "jobs.fio"], cwd=directory, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
