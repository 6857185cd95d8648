#!/bin/bash
# fio writes only whole intervals of log_avg_msec into its logs: the operations of the last part of a job are in no line.
#
# An expert would guess that the last, shorter interval is written when the job ends, so that the lines of an iops log add up to the operations
# of the job. Seen with fio 3.33 for a job of 2.5 s at 100 operations per second:
#
#   fio-3.33: 250 operations, 2 lines, 201 operations in them
#
# Fetches Debian 12's package fio into a temporary folder. Needs the libraries of that package and python3. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
chmod 755 .
apt-get download -qq fio=3.33-3 2> /dev/null
dpkg -x fio_*.deb fio
fio=fio/usr/bin/fio
"$fio" --output=found.json --output-format=json --name=job --ioengine=null --rw=read --bs=4k --size=1g --time_based --runtime=2500ms --rate_iops=100 \
    --write_iops_log=log --log_avg_msec=1000
python3 - "$("$fio" --version)" << 'END'
import json, sys
job = json.load(open("found.json"))["jobs"][0]
lines = [line.split(",") for line in open("log_iops.1.log")]
total, logged = job["read"]["total_ios"], sum(int(line[1]) for line in lines)
print(f"{sys.argv[1]}: {total} operations, {len(lines)} lines, {logged} operations in them")
sys.exit(not (job["error"] == 0 and len(lines) == 2 and total >= 240 and logged <= 210))
END
