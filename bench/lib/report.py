"""The output of a measurement, and the JSON lines that it leaves in target/bench/."""

import json
import os
import platform
import statistics
import subprocess
import time

from .server import ROOT

failures = []


class Record:
    """One JSON line per pair, in target/bench/NAME.jsonl; begins anew."""

    def __init__(self, name):
        directory = ROOT / "target/bench"
        directory.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.file = open(directory / f"{name}.jsonl", "w", encoding="utf-8")
        commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
        print(f"\n== {name}, {time.strftime('%F %T %Z')}, commit {commit.stdout.strip()}, {machine()}", flush=True)

    def add(self, **facts):
        load = round(os.getloadavg()[0], 2)
        line = {"bench": self.name, "at": time.strftime("%FT%T%z"), **facts, "load_average": load}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


def machine():
    """The machine in one line."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{os.cpu_count()} x {models[0] if models else platform.machine()}, {memory:.0f} GiB, Linux {platform.release()}"


def say(text=""):
    print(text, flush=True)


def verdict(what, passed, target):
    """The last line of a measurement: met or short. A None target was only watched."""
    word = "met" if passed else "SHORT"
    say(f"  {what}; target {target}: {word}")
    if not passed:
        failures.append(what)


def ratios(what, values):
    """Median and extremes in words."""
    return f"{what}: median of {len(values)} ratios {statistics.median(values):.3f}, minimum {min(values):.3f}, maximum {max(values):.3f}"
