# make demo      grade a small class; needs nothing but Python and make
# make check     lint, types and the quickest tests, in about a minute
# make test      everything that an ordinary change can break, in about seven minutes on two cores
# make long      slower tests that a change may well break; continuous integration runs these three
# make nightly   all other tests: every hostile program at every isolation level, browsers, containers, databases
# make verify    grade the example submissions of this course and try a few mutants of its answers
# make mutants   break every right answer in thousands of ways; each must lose points
# make training  the tests that train models; make gpu: check this machine's GPU, and run them there
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# For submissions that were written for transformers 4.
OLD := $(VENV)/transformers4
# For make fuzz alone.
FUZZ := $(VENV)/fuzz
# For the site of make docs alone.
SITE := $(VENV)/site
PRINT_DOCS_EXTRA := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")
PRINT_LIBRARIES := import sysconfig; print(sysconfig.get_path("purelib"))
# Tests start thousands of processes; images of containers often keep each of them from finding compiled files.
unexport PYTHONDONTWRITEBYTECODE
# IPython warns, which fails a test, if the shell has activated another environment than that of the tests.
unexport VIRTUAL_ENV
# Grading itself never reads the environment; the demonstration needs some course secret for its random draws.
DEMO_SECRET := the demonstration's secret, known to everybody
# Four processes of pytest on two cores, because many tests wait; a file stays in one, because its tests share fork
# servers and results. As they are found: by number of tests, as is usual, the files with few long tests would come last,
# and one process would wait for the others.
PYTEST := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder
# Tests of the repository's own texts: make check runs them, and make test leaves them out.
TEXTS := tests/test_architecture.py tests/test_distribution.py tests/docs
# Those, and tests of pure functions, which need no process but their own.
QUICK := $(TEXTS) tests/compare tests/config tests/formats tests/submissions tests/gradebook
SUBMISSIONS := fixtures/translation_and_masks/submissions

.PHONY: demo check types quick test long nightly training gpu verify mutants kills bench bench-everyday bench-flat bench-review \
	bench-scale bench-cluster engine-mutants docs pictures clean fuzz soak
.DELETE_ON_ERROR:

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "viva needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[notebooks]'
	@touch $@

# An interpreter whose own libraries stand before those of .venv: a .pth file puts these behind them.
$(OLD)/.installed: tests/reference/transformers4.txt | $(BIN)/python
	$(BIN)/python -m venv --without-pip $(OLD)
	$(BIN)/python -m pip --python $(OLD)/bin/python install --quiet --disable-pip-version-check --no-deps -r $<
	$(BIN)/python -c '$(PRINT_LIBRARIES)' > "$$($(OLD)/bin/python -c '$(PRINT_LIBRARIES)')/behind.pth"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed $(OLD)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# As above; site.addsitedir reads the .pth files there too, by which viva itself is found.
$(FUZZ)/.installed: tests/fuzz/requirements.txt $(VENV)/.installed-dev
	$(BIN)/python -m venv --without-pip $(FUZZ)
	$(BIN)/python -m pip --python $(FUZZ)/bin/python install --quiet --disable-pip-version-check --no-deps -r $<
	echo "import site; site.addsitedir('$$($(BIN)/python -c '$(PRINT_LIBRARIES)')')" \
		> "$$($(FUZZ)/bin/python -c '$(PRINT_LIBRARIES)')/behind.pth"
	@touch $@

# What is in .venv is found there, so pip installs only what the extra brings. Its name in an index is not asked for.
$(SITE)/.installed: $(VENV)/.installed-dev
	$(BIN)/python -m venv --without-pip $(SITE)
	echo "import site; site.addsitedir('$$($(BIN)/python -c '$(PRINT_LIBRARIES)')')" \
		> "$$($(SITE)/bin/python -c '$(PRINT_LIBRARIES)')/behind.pth"
	$(BIN)/python -c '$(PRINT_DOCS_EXTRA)' > $(SITE)/requirements.txt
	$(BIN)/python -m pip --python $(SITE)/bin/python install --quiet --disable-pip-version-check -c constraints.txt \
		-r $(SITE)/requirements.txt
	@touch $@

demo: $(VENV)/.installed
	@rm -rf results/demo
	@VIVA_SECRET="$(DEMO_SECRET)" $(BIN)/viva grade --tier best -o results/demo \
		$(foreach f,$(shell cat docs/demo.txt),$(SUBMISSIONS)/$(f))

# Types take as long as all the rest, so they are checked at the same time.
check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types quick

types: $(VENV)/.installed-dev
	$(BIN)/mypy

quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -m 'not slow and not long and not nightly and not training' $(QUICK)

test: $(VENV)/.installed-dev
	$(BIN)/python -m compileall -q src/viva/sandbox/guest
	$(PYTEST) $(addprefix --ignore=,$(TEXTS)) -m 'not long and not nightly and not training'

long: $(VENV)/.installed-dev
	$(PYTEST) -m 'long and not nightly and not training'

# Hypothesis searches at random here, and prints how to repeat what it finds. Two processes: most of these tests keep
# more than one core busy by themselves.
nightly: $(VENV)/.installed-dev
	@rm -rf .verified
	VIVA_HYPOTHESIS=random $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'nightly or training'

# Takes about an hour on two cores: the example submissions with their tests that train, the same again and again.
training: $(VENV)/.installed-dev
	VIVA_NIGHT=all $(BIN)/python -m pytest -m training
	VIVA_SECRET="$(DEMO_SECRET)" $(BIN)/viva verify --training --no-mutants

# Everything about this machine's GPU: viva doctor --gpu, the tests for a GPU, training on CPU and GPU; see bench/gpu.py.
gpu: $(VENV)/.installed-dev
	$(BIN)/python -m bench.gpu

verify: $(VENV)/.installed-dev
	$(BIN)/viva verify

# Takes about half an hour on two cores; what it finds goes to results/mutants. DEMO_SECRET makes runs comparable.
mutants: $(VENV)/.installed-dev
	VIVA_SECRET="$(DEMO_SECRET)" $(BIN)/viva verify --mutants -o results/mutants

# Takes minutes: examiners killed at a hundred random moments; every score must be right all the same.
kills: $(VENV)/.installed-dev
	$(BIN)/python -m tests.faults.kills 100

# How many of a fixed sample of the engine's mutants `make test` notices, in a copy of this repository; takes an hour.
engine-mutants: $(VENV)/.installed-dev
	$(BIN)/python -m bench.engine_mutants run results/engine_mutants.json

# An hour over all readers of what students submit, on one core; tests/fuzz/README.md says what is found.
fuzz: $(FUZZ)/.installed
	$(FUZZ)/bin/python -m tests.fuzz --minutes 60


# The other tools are installed into .venv/others; where that cannot be done, their rows say so.
bench: $(VENV)/.installed-dev
	-$(BIN)/python -m bench.environment
	$(BIN)/python -m bench

# The commands that people wait for, on this course, cold: check, grade, verify, release; about ten minutes.
bench-everyday: $(VENV)/.installed-dev
	$(BIN)/python -m bench.everyday

# CPU of another submission over 1 to 2,000 of them, as results/flat.csv and results/flat.svg.
bench-flat: $(VENV)/.installed-dev
	$(BIN)/python -m bench.flat

# Classes of 2,000 and 20,000 from the first grading to the grades, in about 20 minutes.
bench-scale: $(VENV)/.installed-dev
	$(BIN)/python -m bench.scale

# A cluster of 50 workers that grade nothing: what one more task costs each part, and where it ends, in 10 minutes.
bench-cluster: $(VENV)/.installed-dev
	$(BIN)/python -m bench.cluster

# The pages of viva review for a class of 2,000, and the first one after the command.
bench-review: $(VENV)/.installed-dev
	$(BIN)/python -m bench.review

# Takes about an hour on a quiet machine: 5,000 submissions, one in ten hostile; ends with 1 where anything leaks.
soak: $(VENV)/.installed-dev
	$(BIN)/python -m bench.soak

# build/site, to be opened as a folder or served. It ends with an error on a broken link, on a page that no reader would
# find, and on a page that would load a script from another host.
docs: $(SITE)/.installed
	$(BIN)/python docs/make.py
	$(BIN)/python -m docs.site
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/python -m mkdocs build
	@! grep -rlE --include='*.html' '<(script|link|img)[^>]* (src|href)="?https?:' build/site

# docs/report.png and docs/review*.png, with the distribution's Chromium.
pictures: $(VENV)/.installed-dev
	PYTHONPATH=. $(BIN)/python docs/pictures.py

clean:
	rm -rf $(VENV) results build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
