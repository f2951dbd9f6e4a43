"""What every test session has: one profile of hypothesis."""

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.support.hypothesis_constants import ignore_source_constants

# What a test draws is the same in every run and on every machine; `make nightly` searches at random instead.
settings.register_profile("same", max_examples=50, derandomize=True, deadline=None, database=None)
settings.register_profile("random", max_examples=500, derandomize=False, deadline=None, database=None, print_blob=True)
settings.load_profile(os.environ.get("VIVA_HYPOTHESIS", "same"))
if settings.default is not None and settings.default.derandomize:
    ignore_source_constants()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while collecting nor in what was collected; that halves the time it takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
