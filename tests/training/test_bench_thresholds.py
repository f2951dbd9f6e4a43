"""The scripts that measure thresholds run a test with many seeds, and no limit of the test ends them."""

import pytest

from bench.thresholds import Unhurried

pytest_plugins = ["pytester"]


class Reader:
    """Reads the limits as a run with `--submission` does: before other plugins may change the tests."""

    def __init__(self) -> None:
        self.limits: list[object] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]):  # type: ignore[no-untyped-def]  # a generator for pluggy
        """Remember the limit that comes first."""
        markers = [item.get_closest_marker("timeout") for item in items]
        self.limits = [marker.args[0] for marker in markers if marker is not None]
        return (yield)


def test_a_test_with_many_seeds_has_an_hour(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n\n@pytest.mark.timeout(120)\ndef test_it(): pass\n\ndef test_other(): pass\n")
    reader = Reader()
    pytester.inline_run("--collect-only", "-q", plugins=[reader, Unhurried()])
    assert reader.limits == [3600, 3600]
