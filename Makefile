# Every target works on a machine that has Python 3.11+, a C++ compiler and make; .venv is made when it is not there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find cpp bindings -name '*.cpp' -o -name '*.hpp') CMakeLists.txt pyproject.toml

.PHONY: install demo test coverage test-all oldest-test golden lint bench figures docs reproduce wheel-test extras-test r-test integrations-test axe sanitize tsan fuzz clean

install: $(VENV)/.installed

$(VENV)/.tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group build
	touch $@

# Editable, so that Python edits need no reinstall; the native build is incremental (build/).
$(VENV)/.built: $(VENV)/.tools $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[plot,report]"
	touch $@

# What tests need and the demo does not; the package that is there gets the rest of its extras, and is not built again.
$(VENV)/.installed: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group dev "partita[all]"
	$(BIN)/python -m pip install --quiet --only-binary mtkahypar "partita[hgpa]" || echo "no wheel of Mt-KaHyPar for this Python: its tests are skipped"
	touch $@

demo: $(VENV)/.built
	$(BIN)/partita demo

test: install
	$(BIN)/python -m pytest -q -n auto --dist worksteal tests src/partita -m "not slow"

# The share of the Python lines that the quick tests run; the core is not counted.
coverage: install
	$(BIN)/python -m pip install --quiet coverage pytest-cov
	$(BIN)/python -m pytest -q -n auto --dist worksteal tests src/partita -m "not slow" --cov partita --cov-report term:skip-covered --cov-report html:build/coverage

test-all: install build/sanitize/.built
	$(BIN)/python -m pytest -q tests src/partita

# All seeded results against the golden file: bit by bit, with the CPU seconds of each; after a change that must change nothing.
golden: install
	$(BIN)/python -W ignore tests/support/golden.py check --exact

# The same with the oldest versions of the dependencies that pyproject.toml declares, in an environment of its own. Old
# versions warn of the new versions of what they need themselves, which is not held back.
oldest-test:
	mkdir -p build
	$(PYTHON) tools/oldest.py > build/oldest.txt
	PIP_CONSTRAINT=build/oldest.txt \
	PYTEST_ADDOPTS="-W ignore::DeprecationWarning -W 'ignore:numpy.ndarray size changed:RuntimeWarning'" \
	$(MAKE) VENV=build/oldest test

lint: install
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/python -m nanobind.stubgen --quiet -m partita._core -o src/partita/_core.pyi
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q tests/repository/test_docstrings.py
	$(BIN)/clang-format --dry-run --Werror $(filter %.cpp %.hpp,$(NATIVE)) $(wildcard tests/native/*.cpp)

# No network: figures, outputs and tables are made from the installed package. Warnings are errors.
docs: install $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "open build/docs/index.html"

$(VENV)/.docs: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# An sdist, a wheel from it, an empty environment, the smoke test.
wheel-test:
	$(PYTHON) tools/check_wheel.py

# Each extra in a clean environment of its own; downloads a lot.
extras-test:
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) tools/check_extras.py dist/*.whl

# The front end for R, installed in build/r: its tests, the examples of its help pages and, with knitr, its vignette. Needs R with
# reticulate, testthat and coda.
r-test: install
	rm -rf build/r && mkdir -p build/r
	R CMD INSTALL --library=build/r r
	cd r/tests && RETICULATE_PYTHON="$(CURDIR)/$(BIN)/python" R_LIBS="$(CURDIR)/build/r" Rscript testthat.R
	cd r/tests && RETICULATE_PYTHON="$(CURDIR)/$(BIN)/python" R_LIBS="$(CURDIR)/build/r" Rscript examples.R

# PyMC, NumPyro, CmdStan's files, ArviZ 0 and 1, and JAGS, each in an environment of its own; downloads a lot, needs R with rjags.
integrations-test:
	rm -rf build/integrations/dist && $(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir build/integrations/dist .
	$(PYTHON) integrations/run.py build/integrations/dist/*.whl

# axe-core from npm on a page of every kind; needs Chromium with its driver, and npm.
axe: install
	npm install --silent --no-save --prefix build/axe axe-core
	$(BIN)/python tools/check_accessibility.py build/axe/node_modules/axe-core/axe.min.js

# Measured figures of README.md and docs/ whose code has changed since.
figures:
	@python3 tools/figures.py

bench: install
	$(BIN)/python -m benchmarks

# The papers' tables and figures; QUICK=1 for the small variants, which leave the committed results alone.
# Long runs go on where they stopped; the last step lists every table and figure of the papers (reproduce/overview.py).
PAPERS := $(filter-out reproduce/overview.py,$(wildcard reproduce/*.py))
reproduce: install
	set -e; for paper in $(PAPERS); do echo "== $$paper"; $(BIN)/python $$paper $(if $(QUICK),--quick); done
	$(if $(QUICK),,$(BIN)/python reproduce/overview.py)

# The core's own tests, and the extension that is fuzzed, under ASan and UBSan; the same tests under TSan, for the threads.
CONFIGURE = $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DPARTITA_NATIVE_TESTS=ON \
	-DPARTITA_WERROR=ON -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
	-Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)"
sanitize: $(VENV)/.tools
	$(CONFIGURE) -B build/sanitize -DPARTITA_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize --target partita_tests
	build/sanitize/partita_tests

tsan: $(VENV)/.tools
	$(CONFIGURE) -B build/tsan -DPARTITA_SANITIZE=thread
	$(BIN)/cmake --build build/tsan --target partita_tests
	build/tsan/partita_tests

# Random attacks on every public function, with the extension itself under ASan and UBSan; the seed is printed, and
# `make fuzz FUZZ="--seed 7 --seconds 600 --save"` saves what is found as tests.
FUZZ ?= --seed 1 --cases 10000
fuzz: build/sanitize/.built
	$(BIN)/python -m fuzz --sanitized $(FUZZ)

build/sanitize/.built: $(VENV)/.installed $(NATIVE)
	$(CONFIGURE) -B build/sanitize -DPARTITA_SANITIZE=address,undefined
	$(BIN)/cmake --build build/sanitize --target _core
	touch $@

clean:
	rm -rf build $(VENV) demo test-artifacts
