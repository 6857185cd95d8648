"""A pgfsbench-helper that makes images in memory, for a throwaway server."""

import copy
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from .server import COMMON, ROOT

PROGRAM = ROOT / "target/stage/helper/pgfsbench-helper"


def why_not():
    """The reason why no helper can run here; None when one can."""
    if os.geteuid() != 0:
        return "it needs root"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    if not PROGRAM.exists():
        return f"there is no {PROGRAM.relative_to(ROOT)}; run make"
    return None


class Helper:
    """Serves on entry; on exit it has ended, and nothing of it is left."""

    def __init__(self, server, directory, images="12GB", allowed=""):
        self.server, self.images, self.allowed = server, images, allowed
        self.place = Path(tempfile.mkdtemp(prefix="pgfsbench-helper.", dir=directory))
        self.process = None

    def __enter__(self):
        env = self.server.env
        self.place.chmod(0o755)
        (self.place / "images").mkdir()
        self.config = self.place / "helper.toml"
        self.config.write_text(
            f'mount_root = "{self.place}/mnt"\nstate = "{self.place}/state"\n{self.allowed}'
            f'[[database]]\nname = "bench"\n'
            f'connection = "host={env["PGHOST"]} port={env["PGPORT"]} user={env["PGUSER"]} dbname=postgres"\n'
            f'[[images]]\ndirectory = "{self.place}/images"\nmax_bytes = "{self.images}"\n',
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
        raise SystemExit("pgfsbench-helper does not serve")

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

    def initdb(self):
        """Makes the data directory of a server; gives its seconds."""
        return as_postgres(self.server, "initdb", "--data-checksums", "--locale=C", "--encoding=UTF8", "-D", self.directory / "data")

    @contextmanager
    def running(self):
        """A server of that directory, with the settings of the asking one, on a socket there."""
        settings = COMMON | {"listen_addresses": "", "unix_socket_directories": str(self.directory), "port": "5432"}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        data = self.directory / "data"
        as_postgres(self.server, "pg_ctl", "start", "-w", "-s", "-D", data, "-l", self.directory / "log", "-o", options,
                    stdin=subprocess.DEVNULL)
        there = copy.copy(self.server)
        there.env = self.server.env | {"PGHOST": str(self.directory), "PGPORT": "5432"}
        try:
            yield there
        finally:
            as_postgres(self.server, "pg_ctl", "stop", "-w", "-s", "-m", "immediate", "-D", data)


def as_postgres(server, *command, **options):
    """Runs a program as the one who owns the servers; gives its seconds."""
    command = ["setsid", "--wait", "runuser", "-u", "postgres", "--", *map(str, command)] if os.geteuid() == 0 else list(map(str, command))
    options.setdefault("stdin", subprocess.DEVNULL)
    began = time.monotonic()
    subprocess.run(command, env=server.env, cwd="/", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - began
