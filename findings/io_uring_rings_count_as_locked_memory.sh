#!/bin/bash
# io_uring rings count as locked memory of the operating system user, over all processes of that user.
#
# Seen on Linux 6.18 (x86_64), limit of locked memory 8192 kB: a user without CAP_IPC_LOCK gets 1024 rings of up to 64 entries (8 kB each), 512 of
# 128 entries, and 292 of 256 entries; then ENOMEM, "Cannot allocate memory". 500 rings of one process leave 524 to another process of the user.
# Root has no such limit. An expert who remembers "since 5.12 rings are accounted to the memory cgroup" expects no limit.
# PostgreSQL 18 has one ring for each process that it may start (io_method = io_uring): two servers of one user share the limit.
#
# Needs root (to become another user), python3, setpriv, and io_uring that is not disabled.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 2; }
echo "kernel $(uname -r)"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
cat > "$directory/rings.py" << 'PY'
import ctypes, os, resource, sys
resource.setrlimit(resource.RLIMIT_MEMLOCK, (8 << 20, 8 << 20))
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
libc = ctypes.CDLL(None, use_errno=True)
entries, wanted = int(sys.argv[1]), int(sys.argv[2])
made = 0
while made < wanted:
    if libc.syscall(425, entries, ctypes.create_string_buffer(120)) < 0:  # io_uring_setup
        break
    made += 1
print(made, os.strerror(ctypes.get_errno()) if made < wanted else "all", flush=True)
if len(sys.argv) > 3:
    sys.stdin.read()
PY
# A user whom nobody else is.
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all --bounding-set=-all /usr/bin/python3 "$directory/rings.py" "$@"; }
expect() { # expect WHAT SEEN
    echo "$1: $2"
    [ "$1" = "$2" ] || { echo "this has changed"; exit 1; }
}
expect "1024 Cannot allocate memory" "$(as_user 64 4096)"
expect "512 Cannot allocate memory" "$(as_user 128 4096)"
expect "292 Cannot allocate memory" "$(as_user 256 4096)"
# Two processes of one user have one limit.
mkfifo "$directory/hold" "$directory/said"
as_user 64 500 hold < "$directory/hold" > "$directory/said" &
exec 3> "$directory/hold" 4< "$directory/said"
read -r first <&4
expect "500 all" "$first"
expect "524 Cannot allocate memory" "$(as_user 64 4096)"
exec 3>&-
wait
echo "as seen"
