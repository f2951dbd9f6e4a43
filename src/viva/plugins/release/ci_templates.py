"""CI files with which a student's repository checks itself at every push: advice, which the student can edit."""

from typing import Final

GITHUB: Final = """\
# Runs the public tests on every push and shows the results on the page of the run. This is not your grade.
# A public test that fails makes the run red. To keep it green, delete `--strict`.
name: viva
on: push
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"
          cache: pip
      - name: Install what the tests need
        run: python -m pip install --quiet -r requirements.txt
      - name: Check
        run: |
          token=$(openssl rand -hex 16)
          echo "::stop-commands::$token"
          viva check --strict -o "$RUNNER_TEMP/results.json" && status=0 || status=$?
          echo "::$token::"
          viva export "$RUNNER_TEMP/results.json" --to summary >> "$GITHUB_STEP_SUMMARY"
          exit "$status"
"""
GITLAB: Final = """\
# Runs the public tests on every push and shows the results in the merge request. This is not your grade.
# A public test that fails makes the job fail. To let it pass, delete `--strict`.
check:
  image: python:3.12
  timeout: 30 minutes
  script:
    - python -m pip install --quiet -r requirements.txt
    - viva check --strict -o results.json && status=0 || status=$?
    - viva export results.json --to junit -o viva-junit.xml
    - exit "$status"
  artifacts:
    when: always
    reports:
      junit: viva-junit.xml
"""
FILES: Final = {".github/workflows/viva.yml": GITHUB, ".gitlab-ci.yml": GITLAB}
