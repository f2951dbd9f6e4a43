"""Names of cases: `test_bleu.py::test_bleu[short]` is one of the test `test_bleu.py::test_bleu`."""


def test_of(case_id: str) -> str:
    """Return the id of the test that a case belongs to."""
    return case_id.partition("[")[0]
