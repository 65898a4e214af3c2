# Two commands do all: `make demo` shows the main job, `make test` checks the project.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
SPARK_STAMP := $(VENV)/.stamp-spark
WINDOWS := build/windows

KERNELS := $(wildcard src/shoal/kernels/*.py src/shoal/kernels/*.pxd src/shoal/kernels/*.h) hatch_build.py

.PHONY: generated setup demo test test-slow test-windows browser spark java postgres wine windows lint format bench docs tagger clean kernels wheel

setup: $(STAMP)

# The stamp is newer than what it was made from, so a second `make setup` does nothing.
$(STAMP): pyproject.toml constraints.txt $(KERNELS)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || \
	  { echo "shoal needs Python 3.11 to 3.14; give one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# The loops over rows, compiled again where their source has changed; `make setup` has compiled them.
kernels: setup
	$(BIN)/python hatch_build.py

# The wheel of this machine: it needs no compiler where it is installed, and serves every Python from 3.11 on.
wheel: setup
	$(BIN)/python -m pip wheel --quiet --no-deps -w dist .

# The first command of every line is what you would type; `shoal` is $(BIN)/shoal.
demo: setup
	@mkdir -p demo
	$(BIN)/shoal sample-data discharges -n 200000 --seed 0 -o demo/discharges.parquet --force
	$(BIN)/shoal profile demo/discharges.parquet
	$(BIN)/shoal risk demo/discharges.parquet --threshold ema \
	  --knowledge census=age_yrs,sex,ethncty,race,patzip,patcnty --knowledge spatial=oshpd_id --knowledge temporal=los,adm_qtr
	$(BIN)/shoal anonymize demo/discharges.parquet -o demo/safe.parquet --force -k 5 \
	  --qi age_yrs,sex,ethncty,race,patzip,patcnty --sensitive charge --disclosure 'charge>100000' \
	  --decide oshpd_id=other,los=other,adm_qtr=other
	$(BIN)/shoal verify demo/safe.parquet --original demo/discharges.parquet
	@printf '%s\n' 'columns: {age_yrs: quasi-identifier, sex: quasi-identifier, ethncty: quasi-identifier, race: quasi-identifier,' \
	  '  patzip: quasi-identifier, patcnty: quasi-identifier, los: quasi-identifier, adm_qtr: quasi-identifier,' \
	  '  charge: sensitive, oshpd_id: identifier}' \
	  'types: {charge: {type: number, round_to: 20000}}' \
	  'threshold: 0.2' \
	  'models: [{model: k-anonymity, k: 5}]' > demo/policy.yaml
	$(BIN)/shoal publish demo/discharges.parquet --policy demo/policy.yaml -o demo/release --force
	@echo
	@echo "  200,000 hospital stays about nobody. A neighbour knows the census columns, a colleague also the hospital,"
	@echo "  an insurer also the stay: read the table of knowledge from top to bottom. demo/safe.parquet is what may leave:"
	@echo "  everybody shares their combination with four others at least. demo/release is a folder to publish and to sign:"
	@echo "  with exact charges it would be a draft (they single out every second patient), so its policy rounds them to"
	@echo "  20,000 dollars (what that costs stands in the report), counts the stay among what others know, and leaves out"
	@echo "  the hospital. Open its report: demo/release/report.html (its owner's: demo/release.private/report.html)."
	@echo "  The same with a mouse: $(BIN)/shoal app demo/discharges.parquet. More: README.md and docs/."

# Tests of one group share a Spark session, so they stay on one worker.
test: setup lint browser spark java postgres
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

# Spark is an extra with a stamp of its own: `make demo` does not need it.
spark: $(SPARK_STAMP)

$(SPARK_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[spark]'
	@touch $@

# Spark runs on Java 17 or newer; without it those tests are skipped and say so.
java:
	@if command -v java >/dev/null || [ -x "$$JAVA_HOME/bin/java" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Java 17 for the Spark tests"; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; } >/dev/null 2>&1 \
	    || echo "Java 17 could not be installed: the Spark tests are skipped"; \
	else \
	  echo "no Java here: the Spark tests are skipped; install it with: sudo apt-get install openjdk-17-jre-headless"; \
	fi

# Databases are tested on a server of their own, started by the tests; without PostgreSQL those tests are skipped.
postgres:
	@if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing PostgreSQL for the tests of databases"; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql; } >/dev/null 2>&1 \
	    || echo "PostgreSQL could not be installed: its tests are skipped"; \
	else \
	  echo "no PostgreSQL here: its tests are skipped; install it with: sudo apt-get install postgresql"; \
	fi

# Pages are looked at in Chromium; without it those tests are skipped and say so.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Chromium for the browser tests"; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 \
	    || echo "Chromium could not be installed: the browser tests are skipped"; \
	else \
	  echo "no Chromium here: the browser tests are skipped; install it with: sudo apt-get install chromium"; \
	fi

# shoal in Windows' Python under Wine, with the kernels compiled for Windows; skipped where there is no Wine.
test-windows: setup wine windows
	$(BIN)/python -m pytest -rs tests/windows

wine:
	@if command -v wine64 >/dev/null || command -v wine >/dev/null || [ -x /usr/lib/wine/wine64 ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Wine for the tests of Windows"; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends wine64; } >/dev/null 2>&1 \
	    || echo "Wine could not be installed: the tests of Windows are skipped"; \
	else \
	  echo "no Wine here: the tests of Windows are skipped; install it with: sudo apt-get install wine64"; \
	fi

# A compiler for Windows, Python as it is there, and what shoal needs. Without its ._pth file that Python heeds PYTHONPATH.
windows: $(WINDOWS)/.stamp

$(WINDOWS)/.stamp: tests/windows/requirements.txt pyproject.toml constraints.txt | $(STAMP)
	@rm -rf $(WINDOWS); mkdir -p $(WINDOWS); \
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
	  > $(WINDOWS)/requirements.txt; \
	get="$(BIN)/python -m pip install --quiet --disable-pip-version-check"; \
	{ $$get -c constraints.txt ziglang \
	  && $$get --no-deps --target $(WINDOWS)/python -r tests/windows/requirements.txt \
	  && $$get --target $(WINDOWS)/packages --only-binary :all: --platform win_amd64 --python-version 3.13 \
	    -c constraints.txt -r $(WINDOWS)/requirements.txt colorama tzdata \
	  && rm $(WINDOWS)/python/python313._pth && touch $@; } \
	|| echo "Python for Windows could not be fetched: its tests are skipped"

test-slow: setup browser spark java postgres wine windows
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python benchmarks/run.py

# What the tagger of free text has learned, made again from invented notes; Faker supplies names, at this moment only.
tagger: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --target build/tagger 'faker==40.54.0'
	PYTHONPATH=build/tagger:benchmarks/tagger $(BIN)/python benchmarks/tagger/train.py

docs: setup
	$(BIN)/python docs/build.py

# What is made from the code and committed; tests say when it is stale.
generated:
	$(BIN)/python docs/map.py
	$(BIN)/python docs/engine_table.py
	$(BIN)/python docs/option_tables.py

clean:
	rm -rf $(VENV) build dist site demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
