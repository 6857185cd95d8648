# pgfsbench: see `make help`. Steps of more than a line are scripts in tools/.

PG_CONFIG ?= /usr/lib/postgresql/15/bin/pg_config
PG_MAJOR := $(shell $(PG_CONFIG) --version 2>/dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
STAGE := target/stage/pg$(or $(PG_MAJOR),15)$(if $(PGFSBENCH_PROFILE),-$(PGFSBENCH_PROFILE))/.complete
HELPER := target/stage/helper/pgfsbench-helper
VERSION := $(shell sed -n '/^\[workspace.package\]/,/^$$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
SOURCES := Cargo.toml Cargo.lock pgfsbench.control $(shell find src core/src core/Cargo.toml sql/schema -type f) $(wildcard sql/pgfsbench--*.sql)
HELPER_SOURCES := Cargo.toml Cargo.lock $(shell find helper core/src core/Cargo.toml -type f)
REGRESS := $(patsubst sql/%.sql,%,$(filter-out sql/pgfsbench--%,$(wildcard sql/*.sql)))
sbindir ?= /usr/sbin
unitdir ?= /usr/lib/systemd/system
mandir ?= /usr/share/man
export PG_CONFIG sbindir unitdir mandir

.PHONY: all stage setup install uninstall installcheck check check-fmt check-unit check-regress check-integration \
	lint bench demo lab deb dist clean help

all: $(STAGE) $(HELPER)         ## build the extension and the helper, and stage their files in target/stage (default)

stage: $(STAGE)

$(STAGE): $(SOURCES)
	tools/stage

$(HELPER): $(HELPER_SOURCES)
	tools/stage --helper

setup:                          ## install what is missing on this machine (Debian packages, Rust, cargo-pgrx)
	tools/setup

install: $(STAGE) $(HELPER)     ## install into the PostgreSQL of PG_CONFIG=... and sbindir=/usr/sbin, below DESTDIR=... if given
	tools/install

uninstall:                      ## remove what install put there
	tools/install --uninstall

installcheck:                   ## pg_regress against a running server that has the extension installed and preloaded (PGHOST, PGPORT, ...)
	$(shell dirname $$($(PG_CONFIG) --pgxs))/../test/regress/pg_regress --inputdir=. --outputdir=. \
	    --bindir=$(shell $(PG_CONFIG) --bindir) --dbname=contrib_regression --load-extension=pgfsbench $(REGRESS)

check:                          ## every test (parts: check-fmt, check-unit, check-regress, check-integration); installs what is missing, and leaves nothing running
	tools/check

lint:                           ## rustfmt, and clippy with warnings as errors
	tools/check fmt clippy

check-fmt check-unit check-regress check-integration:
	tools/check $(@:check-%=%)

bench:                          ## measure pgfsbench against pgbench in alternating runs; see bench/README.md
	tools/setup python3
	$(MAKE) --no-print-directory all
	tools/prefix
	bench/run

demo:                           ## from nothing to a run's results, on the filesystem of this directory
	tools/demo

lab:                            ## benchmark a filesystem that this kernel may lack, in a guest: make lab FS=jfs [RAID=0|1|5|6|10] [LVM=1] [PSQL=1]
	tools/lab

deb: $(STAGE) $(HELPER)         ## Debian packages of extension and helper that install without Rust
	tools/deb

dist:                           ## a source archive for PGXN, from the last commit
	mkdir -p target
	git archive --format=zip --prefix=pgfsbench-$(VERSION)/ -o target/pgfsbench-$(VERSION).zip HEAD
	@echo target/pgfsbench-$(VERSION).zip

clean:                          ## remove everything that was made
	tools/clean

help:                           ## this list
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 24
