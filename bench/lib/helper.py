"""A pgfsbench-helper that makes images in memory, for a throwaway server."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .server import ROOT

PROGRAM = ROOT / "target/stage/helper/pgfsbench-helper"


class Helper:
    """Serves on entry; on exit it has ended, and nothing of it is left."""

    def __init__(self, server, directory):
        self.server = server
        self.place = Path(tempfile.mkdtemp(prefix="pgfsbench-helper.", dir=directory))
        self.process = None

    def __enter__(self):
        env = self.server.env
        self.place.chmod(0o755)
        (self.place / "images").mkdir()
        self.config = self.place / "helper.toml"
        self.config.write_text(
            f'mount_root = "{self.place}/mnt"\nstate = "{self.place}/state"\n'
            f'[[database]]\nname = "bench"\n'
            f'connection = "host={env["PGHOST"]} port={env["PGPORT"]} user={env["PGUSER"]} dbname=postgres"\n'
            f'[[images]]\ndirectory = "{self.place}/images"\nmax_bytes = "12GB"\n',
            encoding="utf-8",
        )
        self.process = subprocess.Popen([PROGRAM, "--config", self.config, "serve"], stderr=subprocess.DEVNULL)
        here = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pgfsbench-helper %'"
        for _ in range(600):
            if self.server.sql(here) == "1":
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit("pgfsbench-helper does not serve; it needs root and loop devices")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        subprocess.run([PROGRAM, "--config", self.config, "cleanup"], stdout=subprocess.DEVNULL, check=True)
        shutil.rmtree(self.place)


class Prepared:
    """A target that is made and mounted for as long as the block lasts: its directory, and how long mkfs took."""

    def __init__(self, server, target):
        self.server, self.target = server, target

    def __enter__(self):
        self.directory = Path(self.server.query(f"SELECT directory FROM fsbench.prepare_target('{self.target}')")[0]["directory"])
        steps = self.server.sql("SELECT steps FROM fsbench.helper_job WHERE action = 'prepare' ORDER BY job_id DESC LIMIT 1")
        self.mkfs_seconds = sum(step["ms"] for step in json.loads(steps) if step["step"] == "mkfs") / 1000
        return self

    def __exit__(self, *_):
        self.server.sql(f"SELECT fsbench.release_target('{self.target}')")


def as_postgres(server, *command, **options):
    """Runs a program as the one who owns the servers; gives its seconds."""
    command = ["runuser", "-u", "postgres", "--", *map(str, command)] if os.geteuid() == 0 else list(map(str, command))
    began = time.monotonic()
    subprocess.run(command, env=server.env, cwd="/", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - began
