# Everything the project does, each from a fresh clone: the environment is set up first, and again when what it is
# made of has changed.

VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# Kernels run two at a time, on two cores: threads of their own would only get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Processes take a file each, or a folder, in the order of conftest.py: the longest first. A quarter of their time they
# wait, for browsers, databases and limits: so there is one more of them than there are cores.
PYTEST := $(PY) -m pytest -n $(shell expr $$(nproc) + 1) --dist loadfile --no-loadscope-reorder
# Hundreds of processes start in the tests: none is to compile again what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test pytest nightly lab notebooks claims site lite bench mutants lint format clean sandbox pages dist

help: ## what there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 20

demo: $(STAMP) sandbox ## build the notebooks, grade a sample class, show what came out
	@$(PY) -m rnngrade.cli.demo

test: $(STAMP) ## everything CI proves
	@$(MAKE) --no-print-directory -j2 lint pytest

# beside each other: mypy takes one core for half a minute
pytest: $(STAMP)
	@$(PYTEST)

nightly: $(STAMP) ## what make test tries a part of, whole, from a new seed (NIGHTLY_SEED=n: from that), and all that is slow
	@NIGHTLY=1 FUZZ=$(or $(FUZZ),100) $(PYTEST)

lab: $(STAMP) ## notebooks of your own, in my-course, and JupyterLab on them
	@test -d my-course || $(PY) -m rnncourse.seat.cli start my-course
	@cd my-course && $(abspath $(PY)) -m rnncourse.seat.cli lab

notebooks: $(STAMP) ## build what changed in solutions/ (FORCE=1: execute everything again)
	@$(PY) -m rnngrade.author.build $(if $(FORCE),--force)

.PHONY: unit
unit: $(STAMP) sandbox ## one unit, for its author: validate it, build it, prove it alone (UNIT=16)
	@$(if $(UNIT),,$(error Say which unit, as in make unit UNIT=16))$(PY) -m rnngrade.author.build --finished $(UNIT)
	@$(ONE_THREAD) $(PY) -m pytest -q --tb=no --no-header -rN -p tests.one_unit --unit=$(UNIT)
	@$(ONE_THREAD) $(PY) -m mutants $(UNIT) --sample 300 --seed 0
	@echo "Unit $(UNIT) holds."

claims: $(STAMP) ## run the experiments behind what the units claim, over seeds and with controls
	@$(ONE_THREAD) $(PY) -m claims

site: $(STAMP) ## the course as static pages, in build/site (SOLUTIONS=0: without the answers)
	@$(PY) website/make_website.py $(if $(filter 0,$(SOLUTIONS)),--without-solutions) $(if $(LITE),--lite $(LITE)) \
	  $(if $(REPOSITORY),--repository $(REPOSITORY))

lite: $(STAMP) ## the units' NumPy parts in a browser, nothing installed: static files, in build/lite/site
	@$(PY) lite/make_lite.py

pages: $(STAMP) ## both, as one folder to publish, without the answers, in build/pages (REPOSITORY=name: and Colab's)
	@$(MAKE) --no-print-directory site SOLUTIONS=0 LITE=lite
	@$(MAKE) --no-print-directory lite
	@rm -rf build/pages && cp -R build/site build/pages && cp -R build/lite/site build/pages/lite
	@$(if $(REPOSITORY),$(PY) website/colab.py $(REPOSITORY) build/colab)

dist: $(STAMP) ## a release, in dist: the wheel and the source (GRADED=1: the wheel for a graded class, without solutions)
	@rm -rf build/lib dist
	@$(if $(GRADED),GRADED=1 )$(PY) -m build --no-isolation $(if $(GRADED),--wheel )--outdir dist .
	@$(PY) -m twine check --strict dist/*

bench: $(STAMP) ## how fast, against PyTorch, as ratios
	@$(PY) -m benchmarks

mutants: $(STAMP) ## every small change of every model answer before the hidden checks: all must be refused
	@$(PY) -m mutants

lint: $(STAMP) ## ruff and mypy; what is imported is declared, and may be imported there
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports
# All that is imported is declared. And a student needs nothing that only the desk brings, nor the desk what only
# developers have, apart from what makes the shipped data anew, and from Dask's workers.
	@$(PY) -m deptry . grading website lite
	@$(PY) -m deptry rnncourse --ignore DEP002 -oddg grading,distributed,site,dev -ee rnncourse/data/shipped
	@$(PY) -m deptry grading --ignore DEP002 -oddg distributed,site,dev -ee grading/rnngrade/grading/distributed

format: $(STAMP) ## let ruff lay out the code
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

clean: ## remove the environment, caches, and everything that grading made
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@rm -rf grading/gradebook.db* grading/submitted grading/autograded grading/feedback grading/demo grading/.nbgrader.log
	@find . -name __pycache__ -prune -exec rm -rf {} +

# The desk's sandbox: root gets it here; everybody else is told by the desk.
sandbox:
	@command -v bwrap >/dev/null || test "$$(id -u)" != 0 || { apt-get update -qq && apt-get install -y -qq bubblewrap; } || true

$(STAMP): pyproject.toml constraints.txt | $(PY)
	@echo "Installing the course and its pinned packages into $(VENV) ..."
	@$(PY) -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
# pip compiles fifteen thousand files one by one, for a minute: here all cores do. (One of torch's is for Python 3.12.)
	@$(PY) -m compileall -qq -j 0 -x py312 $(VENV)/lib
	@touch $@

# Debian keeps what a venv needs in a package of its own: root gets it here, everybody else is told.
$(PY):
	@test -n "$(PYTHON)" || { echo "There is no python3 here: install Python 3.11 or later and run make again."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is too old: install Python 3.11 or later, or name one, as in make PYTHON=/path/to/python3.11 test."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq python3-venv; } || { \
	  echo "Python cannot make a virtual environment: run 'sudo apt-get install python3-venv' and then make again."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
