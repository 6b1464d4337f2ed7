# Two commands matter: `make audit` and `make test`. Both make the environment first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FILES  := $(shell git ls-files --cached --others --exclude-standard 'audit/*' 'mechanisms/*' 'attacks/*' 'reports/*' 2>/dev/null | sort)
# An editable install in strict mode links file by file: a new file needs a new install,
# so the stamp carries a hash of the list.
STAMP  := .make/install-$(shell printf '%s ' $(FILES) | cat - pyproject.toml requirements.lock | cksum | cut -d' ' -f1)
# `make audit` needs only what a user needs.
RUN    := .make/run-$(shell printf '%s ' $(FILES) | cat - pyproject.toml requirements-runtime.lock | cksum | cut -d' ' -f1)
# What builds a release and its SBOM has an environment of its own.
RELEASE  := .venv-release
RELEASED := .make/release-$(shell cksum < requirements-release.lock | cut -d' ' -f1)

# The tests, rewritten for their assertions, and what they test are compiled once, not by every process.
unexport PYTHONDONTWRITEBYTECODE
# The threads of BLAS would only wait for each other: as many tests as there are cores run at a time.
export OPENBLAS_NUM_THREADS = 1

.PHONY: site audit test test-slow test-nightly compiled released chromium figures lint bench docs install lock release clean coverage
.DEFAULT_GOAL := audit

audit: $(RUN)  ## the catalogue at the sizes of the quick profile; leaves report/index.html
	$(BIN)/dpassay run --profile quick --out report

test: $(STAMP)  ## everything but the slow proofs; many wait for processes, so three at a time
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-slow: $(STAMP) $(RELEASED) chromium  ## the slow proofs; those that would write over xdist's connections run without it
	$(BIN)/python -m pytest -m "slow and not alone and not nightly" -n 2 --dist worksteal $$(grep -rl --include="*.py" pytest.mark.slow tests)
	$(BIN)/python -m pytest -m alone $$(grep -rl --include="*.py" pytest.mark.alone tests)

test-nightly: $(STAMP) $(RELEASED) chromium  ## the dearest slow proofs, for which CI has no time
	$(BIN)/python -m pytest -m nightly -n 2 --dist worksteal $$(grep -rl --include="*.py" pytest.mark.nightly tests)

released: $(RELEASED)  ## the environment that a release is built in

chromium:  ## Debian's, for tests/browser
	bash ci/chromium.sh

PAGES ?= refuted inconclusive few attacks
figures: $(STAMP) chromium  ## first screens, into docs/figures; PAGES="few catalogue=report/index.html"
	$(BIN)/python -m benchmarks.screenshots $(PAGES)

compiled: $(STAMP)  ## import all tests once: workers that start together would each rewrite every file
	$(BIN)/python -m pytest --collect-only -qq -n 0 -p no:cacheprovider > /dev/null

lint: $(STAMP)  ## style, types and the arrows between the packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dpassay
	$(BIN)/mypy tests benchmarks
	$(BIN)/lint-imports

bench: $(STAMP)  ## what the performance claims rest on
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

docs: $(STAMP)  ## run every code block of README.md and docs/
	$(BIN)/python -m pytest tests/docs

site: $(STAMP)  ## build the site from docs/ and the docstrings, into build/site
	$(BIN)/sphinx-build --quiet --fail-on-warning docs build/site

coverage: $(STAMP)
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report --skip-covered

install: $(STAMP)

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dpassay needs Python >= 3.11: make PYTHON=python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p .make && awk '/^[^ #]/ {keep = /^setuptools==/} keep' requirements.lock > .make/setuptools.txt
	rm -rf build/lib
	$(BIN)/python -m pip install --no-compile --require-hashes --requirement requirements-runtime.lock --requirement .make/setuptools.txt
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true  # on all cores; pip takes one, and passes over what is no Python too
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --config-settings editable_mode=strict
	$(BIN)/python -c 'import compileall, dpassay; compileall.compile_dir(dpassay.__path__[0], quiet=1)'
	@rm -f .make/run-* && touch $@

$(STAMP): $(RUN)
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@rm -f .make/install-* && touch $@

$(RELEASED):
	rm -rf $(RELEASE) && $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --no-compile --require-hashes --requirement requirements-release.lock
	@mkdir -p .make && rm -f .make/release-* && touch $@

LOCK = .make/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header
lock:  ## requirements.lock, what of it a user needs, and what a release needs: pins stay where they fit; UPGRADE=--upgrade takes the newest
	rm -rf .make/lock && $(PYTHON) -m venv .make/lock
	.make/lock/bin/python -m pip install --quiet uv
	$(LOCK) pyproject.toml $(UPGRADE) --extra dev --output-file requirements.lock
	rm -f requirements-runtime.lock
	$(LOCK) pyproject.toml --constraint requirements.lock --output-file requirements-runtime.lock
	$(LOCK) $(UPGRADE) --group release --constraint requirements.lock --output-file requirements-release.lock
	rm -rf .make/lock

release: $(RELEASED)  ## wheel, source archive, SBOM and provenance of the last commit, into dist
	bash ci/release.sh $(RELEASE)/bin/python dist

clean:
	rm -rf $(VENV) $(RELEASE) .make build dist report *.egg-info
