#!/bin/bash
# After `umount --lazy` the kernel no longer knows where a filesystem was mounted.
# Seen on Linux 6.18: /proc/PID/cwd and /proc/PID/fd/N then name a path that begins at the root of the filesystem ("/data"). It looks
# like a path of the machine: it has neither "(deleted)" nor "(unreachable)". Opening /proc/PID/cwd still reaches the directory.
# A program that finds processes by the beginning of that path misses them all, and confuses them with those of another /data.
# Takes root (a mount namespace of its own). Exits with 1 if the kernel does something else.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
if [ "${1:-}" != inside ]; then exec unshare --mount --propagation private "$0" inside; fi
uname -sr
place=$(mktemp -d)
mount -t tmpfs tmpfs "$place"
mkdir "$place/data"
coproc WORKER (cd "$place/data" && exec 7> file && read -r _)
worker=$WORKER_PID in=${WORKER[1]}
until [ -e "/proc/$worker/fd/7" ]; do sleep 0.05; done
before=$(readlink "/proc/$worker/cwd")
umount --lazy "$place"
cwd=$(readlink "/proc/$worker/cwd")
file=$(readlink "/proc/$worker/fd/7")
inside=$(ls "/proc/$worker/cwd/")
echo >&"$in"
wait "$worker"
rmdir "$place"
printf 'cwd before: %s\ncwd after:  %s\nfile after: %s\nls of cwd:  %s\n' "$before" "$cwd" "$file" "$inside"
[ "$before" = "$place/data" ] && [ "$cwd" = /data ] && [ "$file" = /data/file ] && [ "$inside" = file ]
