# Functions that the scripts of this directory share: paths, users, and messages.
# Sourced, never run.

set -euo pipefail
umask 022

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
target=$root/target
main_version=15
supported=$(sed -n 's/^pg\([0-9]*\) = .*/\1/p' "$root/Cargo.toml" | paste -sd' ')
rust_pinned=$(sed -n 's/^channel = "\(.*\)"/\1/p' "$root/rust-toolchain.toml")
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")

# Packages for the guests of tools/lab: a kernel, and programs for filesystems and disks that the machine itself may never have.
lab_packages="user-mode-linux kmod iproute2 jfsutils reiserfsprogs f2fs-tools nilfs-tools mdadm lvm2"
# More packages for a guest of QEMU. They are large, and wanted only where User-Mode Linux does not boot.
qemu_packages="qemu-system-x86 linux-image-amd64 cpio busybox-static nbdkit"
say() { printf '==> %s\n' "$*"; }
die() {
    printf 'error: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

# Which PostgreSQL: PG_CONFIG=/path/to/pg_config names one, PG_MAJOR=NN Debian's of that version, or where there is none that of
# tools/versions. Without either it is the main version.
major_of() { "$1" --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p'; }
if [ -n "${PG_CONFIG:-}" ] && [ -n "$(major_of "$PG_CONFIG")" ]; then
    [ "${PG_MAJOR:-$(major_of "$PG_CONFIG")}" = "$(major_of "$PG_CONFIG")" ] ||
        die "PG_CONFIG is of PostgreSQL $(major_of "$PG_CONFIG"), and PG_MAJOR says $PG_MAJOR" "Give one of them."
    PG_MAJOR=$(major_of "$PG_CONFIG")
else
    PG_MAJOR=${PG_MAJOR:-$main_version}
fi

# The browser that looks at pages. It is large too, and wanted only where `make check` runs.
browser_packages="chromium-headless-shell"

# Packages that only the tests take.
check_packages="sysstat strace postgresql-plpython3-$main_version python3-jsonschema"

# The version of pgfsbench: this is the only place where it stands.
version_of_tree() { sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml"; }

# The versions that were released: those whose script is kept.
released_versions() {
    local script version
    for script in "$root"/sql/pgfsbench--*.sql; do
        version=$(basename "$script" .sql)
        version=${version#pgfsbench--}
        case $version in '*' | *--*) ;; *) printf '%s\n' "$version" ;; esac
    done
}

is_root() { [ "$(id -u)" = 0 ]; }

# Run a command with root's rights.
as_root() {
    if is_root; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "this needs root: $*" "Install sudo, or run this as root."
    fi
}

# Sets VERSION_CODENAME; debian_sources, the files of this machine's apt sources for Debian itself; and debian_options, by which mmdebstrap
# reaches them from here.
find_debian_sources() {
    local file option
    . /etc/os-release
    debian_sources=() debian_options=()
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
        ! grep -qsE "^[^#]*[[:space:]]$VERSION_CODENAME(-updates|-security)?([[:space:]]|$)" "$file" || debian_sources+=("$file")
    done
    [ ${#debian_sources[@]} -gt 0 ] || die "there are no apt sources for Debian $VERSION_CODENAME here"
    # Proxies, and whether the dates of lists count.
    while read -r option; do debian_options+=(--aptopt="$option"); done < <(apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-)[^ ]* ".+";')
    ! grep -q https: "${debian_sources[@]}" || debian_options+=(--include=ca-certificates)
}

# Close everything but the three standard streams. Call it in a subshell that then executes a program of another user.
close_others() {
    local fd
    for fd in "/proc/$BASHPID/fd"/*; do
        fd=${fd##*/}
        [ "$fd" -le 2 ] || eval "exec $fd>&-"
    done
}

# Wait until these children have printed all, and end them if that takes longer than 5 s: a process that was left in the background may
# keep their pipe open for ever.
end_tellers() { # end_tellers PID...
    local pid tries=100
    for pid; do
        while kill -0 "$pid" 2> /dev/null && [ $((tries--)) -gt 0 ]; do sleep 0.05; done
        ! kill "$pid" 2> /dev/null || printf 'a process in the background keeps the output open: what it prints from now on is not shown\n' >&2
    done
}

# Run a command as the owner of the throwaway servers: PostgreSQL refuses to run as root, so root steps down to postgres; any other
# user stays. RUST_BACKTRACE in a server's environment would put a backtrace into the DETAIL of each of the extension's errors.
#
# That user may trace the command and take what it has open. So it has a session of its own, no descriptor of root's, and no terminal: it
# reads nothing from there, and root prints what it says, escaped.
as_server() {
    if ! is_root; then
        env -u RUST_BACKTRACE "$@" 9>&-
        return
    fi
    (
        cd /
        tellers=() status=0
        [ ! -t 0 ] || exec < /dev/null
        if [ -t 1 ]; then exec > >(cat -v); tellers+=($!); fi
        if [ -t 2 ]; then exec 2> >(cat -v >&2); tellers+=($!); fi
        close_others
        setsid --wait env -u RUST_BACKTRACE runuser -u postgres -- "$@" || status=$?
        if [ ${#tellers[@]} -gt 0 ]; then
            exec > /dev/null 2>&1
            end_tellers "${tellers[@]}"
        fi
        exit "$status"
    )
}

# version_at_least HAVE NEED
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

cargo_version() { (cd "$root" && cargo --version 2>/dev/null) | sed -n 's/^cargo \([0-9][0-9.]*\).*/\1/p'; }
cargo_fits() {
    local have
    have=$(cargo_version) && [ -n "$have" ] && version_at_least "$have" "$rust_needed"
}

# Put a Rust that is new enough first in PATH, and name it to rustup where there is one; false if there is none.
# rustup obeys rust-toolchain.toml, and fails if that very toolchain is not there: then another that is
# new enough does as well. cargo in ~/.cargo/bin is often not in root's PATH, nor in that of a script.
find_rust() {
    local bin toolchain PATH_BEFORE=$PATH
    for bin in "" "${CARGO_HOME:-$HOME/.cargo}/bin" /usr/bin; do
        PATH=${bin:+$bin:}$PATH_BEFORE
        export PATH
        unset RUSTUP_TOOLCHAIN
        ! cargo_fits || return 0
        if command -v rustup >/dev/null; then
            for toolchain in $(rustup toolchain list 2>/dev/null | awk '{print $1}' | grep -v nightly); do
                export RUSTUP_TOOLCHAIN=$toolchain
                ! cargo_fits || return 0
            done
            unset RUSTUP_TOOLCHAIN
        fi
    done
    export PATH=$PATH_BEFORE
    return 1
}

debian_pg_config() { printf '%s\n' "/usr/lib/postgresql/$1/bin/pg_config"; }

# The pg_config of a major version, here or not.
pg_config_of() {
    local debian fetched=$target/versions/$1/bin/pg_config
    debian=$(debian_pg_config "$1")
    if [ ! -x "$(dirname "$debian")/postgres" ] && [ -x "$fetched" ]; then printf '%s\n' "$fetched"; else printf '%s\n' "$debian"; fi
}

# Sets pg_config, by which to build, and pg_major.
find_pg_config() {
    local given=${PG_CONFIG:-$(pg_config_of "$PG_MAJOR")}
    # A newer one than this tree knows is not looked for.
    check_supported "$PG_MAJOR"
    pg_config=$(command -v "$given" || true)
    [ -n "$pg_config" ] || die "there is no $given" "Say which PostgreSQL with PG_CONFIG=/path/to/pg_config, or run tools/setup."
    # Debian has a pg_config in /usr/bin that calls one of several.
    pg_config=$(realpath "$(command -v "$("$pg_config" --bindir)/pg_config" || printf '%s\n' "$pg_config")")
    pg_major=$(major_of "$pg_config")
    [ -n "$pg_major" ] || die "$pg_config does not tell of which PostgreSQL it is"
}

check_supported() {
    [[ " $supported " = *" $1 "* ]] || die "this version of pgfsbench does not support PostgreSQL $1, only ${supported// /, }"
}

# A name for the PostgreSQL of pg_config, by which builds of one major version are told apart: pgNN is Debian's.
build_name() {
    local path=
    [ "$pg_config" = "$(realpath -m "$(debian_pg_config "$pg_major")")" ] || path=-$(printf '%s' "$pg_config" | md5sum | cut -c1-8)
    printf '%s\n' "pg$pg_major$path"
}

# The directory that tools/stage fills for the PostgreSQL of pg_config, with the profile that is asked for.
stage_of() { printf '%s\n' "$target/stage/$(build_name)${PGFSBENCH_PROFILE:+-$PGFSBENCH_PROFILE}"; }

# The link below target/ to the private copy of the PostgreSQL of pg_config: pgNN for the one that PG_MAJOR=NN means.
prefix_link() {
    if [ "$pg_config" = "$(realpath -m "$(pg_config_of "$pg_major")")" ]; then
        printf '%s\n' "$target/pg$pg_major"
    else
        printf '%s\n' "$target/$(build_name)"
    fi
}

# Everything that compiles goes through here, so that the flags are the same and nothing is built twice.
# Nothing of the user's ~/.pgrx is read or written.
build_environment() {
    find_rust || die "there is no cargo $rust_needed or newer" "Run tools/setup."
    find_pg_config
    mkdir -p "$target/pgrx"
    # Nothing of it is read, but where it is missing, cargo has pgrx make its bindings anew with every build.
    [ -e "$target/pgrx/config.toml" ] || touch -d 2000-01-01 "$target/pgrx/config.toml"
    export PGRX_HOME=$target/pgrx PGRX_PG_CONFIG_PATH=$pg_config
    # Set by tests that call this, for their harness (tools/check). The build script of proc-macro2 asks for it: with it, and again without it,
    # everything above that crate would be built anew.
    unset RUSTC_BOOTSTRAP
}

# Can the servers' owner enter this directory?
server_can_enter() { as_server test -x "$1" -a -r "$1" 2>/dev/null; }

# A directory for files that servers must reach: DIRECTORY itself, or if some directory above it is closed to
# the servers' owner (a work tree below /root, say), the nearest place on the same filesystem that is not.
# Prints it, or nothing if there is none. $1: the directory, $2: a name for what is made elsewhere.
reachable_directory() {
    local wanted=$1 name=$2 device place
    mkdir -p "$wanted"
    if server_can_enter "$wanted"; then
        printf '%s\n' "$wanted"
        return
    fi
    device=$(stat -c %d "$wanted")
    for place in /var/tmp /tmp /srv /home "$(findmnt -n -o TARGET -T "$wanted" | tail -n1)"; do
        [ -d "$place" ] && [ -w "$place" ] && [ "$(stat -c %d "$place")" = "$device" ] && server_can_enter "$place" || continue
        place=${place%/}/$name-$(printf '%s' "$wanted" | md5sum | cut -c1-8)
        mkdir -p -m 755 "$place"
        # Programs will run from there: not from a directory that somebody else put there before.
        [ -O "$place" ] && [ ! -L "$place" ] || die "$place exists and is somebody else's" "Remove it."
        printf '%s\n' "$place"
        return
    done
}

# The private PostgreSQL's programs, by their real path: a symbolic link from target/ may lead elsewhere.
find_prefix() {
    if [ -n "${PGFSBENCH_PREFIX:-}" ]; then
        prefix=$(realpath -m "$PGFSBENCH_PREFIX")
    elif [ -n "${PG_CONFIG:-}" ]; then
        find_pg_config
        prefix=$(realpath -m "$(prefix_link)")
    else
        prefix=$(realpath -m "$target/pg$PG_MAJOR")
    fi
    [ -x "$prefix/bin/postgres" ] || die "there is no private PostgreSQL in $prefix" "Run tools/prefix."
}
