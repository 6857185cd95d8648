# pgfsbench: see `make help`. Steps of more than a line are scripts in tools/.

# Which PostgreSQL: PG_CONFIG=/path/to/pg_config, or PG_MAJOR=NN; without either, Debian's 15.
WHICH := $(strip $(if $(PG_CONFIG),PG_CONFIG=$(PG_CONFIG)) $(if $(PG_MAJOR),PG_MAJOR=$(PG_MAJOR)))
PG_CONFIG ?= $(shell $(WHICH) tools/pg_config)
STAGE := $(patsubst $(CURDIR)/%,%,$(shell $(WHICH) tools/pg_config --stage))/.complete
HELPER := target/stage/helper/pgfsbench-helper
SOURCES := Cargo.toml Cargo.lock build.rs pgfsbench.control $(shell find src core/src core/Cargo.toml sql/schema report -type f) $(wildcard sql/pgfsbench--*.sql)
HELPER_SOURCES := Cargo.toml Cargo.lock $(shell find helper core/src core/Cargo.toml -type f)
REGRESS := $(patsubst sql/%.sql,%,$(filter-out sql/pgfsbench--%,$(wildcard sql/*.sql)))
sbindir ?= /usr/sbin
unitdir ?= /usr/lib/systemd/system
mandir ?= /usr/share/man
export PG_CONFIG PG_MAJOR REPOSITORY sbindir unitdir mandir

.PHONY: all stage setup install uninstall installcheck check quick check-fmt check-unit check-regress check-integration \
	lint soak bench demo lab deb dist clean help

all: $(STAGE) $(HELPER)         ## build the extension and the helper, and stage their files in target/stage (default)

stage: $(STAGE)

$(STAGE): $(SOURCES)
	tools/stage

$(HELPER): $(HELPER_SOURCES)
	tools/stage --helper

setup:                          ## install what is missing on this machine (Debian packages, Rust)
	tools/setup

install: $(STAGE) $(HELPER)     ## install into the PostgreSQL of PG_CONFIG=... and sbindir=/usr/sbin, below DESTDIR=... if given
	tools/install

uninstall:                      ## remove what install put there
	tools/install --uninstall

installcheck:                   ## pg_regress against a running server that has the extension installed and preloaded (PGHOST, PGPORT, ...)
	$(shell dirname $$($(PG_CONFIG) --pgxs))/../test/regress/pg_regress --inputdir=. --outputdir=. \
	    --bindir=$(shell $(PG_CONFIG) --bindir) --dbname=contrib_regression --load-extension=pgfsbench $(REGRESS)

check:                          ## every test (parts: check-fmt, check-unit, check-regress, check-integration); installs what is missing, and leaves nothing running
	env -u PG_CONFIG -u PG_MAJOR $(WHICH) tools/check

quick:                          ## while working: fmt, clippy, arrows, unit, regress, and the integration tests of what differs from HEAD~
	env -u PG_CONFIG -u PG_MAJOR $(WHICH) tools/check quick

soak:                           ## every kill of which `check` does a sample, for hours: make soak [KILLS=100] [SEED=N] [SUITE=10]
	env -u PG_CONFIG -u PG_MAJOR $(WHICH) KILLS=$(KILLS) SEED=$(SEED) SUITE=$(SUITE) tools/check soak

lint:                           ## rustfmt, and clippy with warnings as errors
	env -u PG_CONFIG -u PG_MAJOR $(WHICH) tools/check fmt clippy

check-fmt check-unit check-regress check-integration:
	env -u PG_CONFIG -u PG_MAJOR $(WHICH) tools/check $(@:check-%=%)

bench:                          ## measure pgfsbench against pgbench in alternating runs; see bench/README.md
	tools/setup python3
	$(MAKE) --no-print-directory all
	tools/prefix
	bench/run

demo:                           ## from nothing to a run's results, on the filesystem of this directory
	tools/demo

lab:                            ## benchmark a filesystem that this kernel may lack, in a guest: make lab FS=jfs [RAID=0|1|5|6|10] [LVM=1] [PSQL=1]; or a study there: make lab STUDY=heron-2010
	tools/lab

deb: $(if $(WHICH),$(STAGE)) $(HELPER) ## Debian packages of the helper, and of the extension for each version below /usr/lib/postgresql, or for VERSIONS="15 18"
	tools/deb $(if $(WHICH),,--all)

dist:                           ## a source archive for PGXN, from the last commit; REPOSITORY=https://... says where the source is
	tools/dist

clean:                          ## remove everything that was made
	tools/clean

help:                           ## this list
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 24
