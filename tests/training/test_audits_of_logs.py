"""What logs of training say: the ways in which students print them, and what is odd about them."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.training.audits import audit_log, read_log

EPOCHS = [(1, 0.6512, 0.6624), (2, 0.5813, 0.7049), (3, 0.4921, 0.7104), (4, 0.4018, 0.7067)]
ROWS: list[dict[str, Any]] = [{"epoch": e, "loss": loss, "dev": dev, "lr": 1e-4} for e, loss, dev in EPOCHS]


def kinds(log: Any, **stated: Any) -> list[str]:
    return [finding.kind for finding in audit_log(log, **stated)]


@pytest.mark.parametrize(
    "log",
    [
        ROWS,
        tuple(ROWS),
        "epoch,lr,loss,dev\n" + "\n".join(f"{e},0.0001,{x},{d}" for e, x, d in EPOCHS),
        " Epoch, LR, Loss, Dev\n" + "\n".join(f"{e}, 1e-4, {x}, {100 * d:.2f}%" for e, x, d in EPOCHS),
    ],
)
def test_read_log(log: Any) -> None:
    rows = read_log(log)
    read: list[tuple[Any, ...]] = [(row.epoch, row.loss, row.accuracies.get("dev"), row.lr) for row in rows]
    assert read == [(e, Fraction(str(x)), Fraction(str(d)), Fraction(1, 10**4)) for e, x, d in EPOCHS]
    assert audit_log(log, reported={"dev": 0.7104}, lr=1e-4, epochs=4) == []


def with_(**changes: Any) -> list[dict[str, Any]]:
    return [{**row, **{name: values[at] for name, values in changes.items()}} for at, row in enumerate(ROWS)]


@pytest.mark.parametrize(
    ("log", "stated", "says"),
    [
        (with_(lr=[0, 0.0, "0", 0]), {}, "The log: the learning rate is 0 in all 4 rows, so no step changes a weight."),
        (
            with_(lr=[0, 1e-5, 2e-5, 4e-5]),
            {"lr": "1e-4"},
            "The log: the learning rate is 4e-05 at most, 40 % of the 0.0001 that is stated: did the warm-up ever end?",
        ),
        (
            with_(loss=[0.6931, 0.6932, 0.6931, 0.693]),
            {},
            "The log: the loss stays between 0.693 and 0.6932 in all 4 rows (ln 2 = 0.6931 is what guessing among 2",
        ),
        (with_(loss=[5, 5, 5, 5]), {}, "The log: the loss is 5 in all 4 rows."),
        (
            with_(loss=[0.5, 0.6, 0.4, 0.7]),
            {},
            "The log: the loss does not fall: 0.5 in the first row, 0.7 in the last (of 4).",
        ),
        (with_(loss=[0.6, 0.5, float("nan"), "nan"]), {}, "The log: the loss is nan at epoch 3: training diverged."),
        (ROWS[:2] + ROWS[3:], {}, "Epoch 3 is missing: the log has 1, 2, 4."),
        (ROWS, {"epochs": 7}, "Epochs 5, 6, 7 are missing: the log has 1, 2, 3, 4, and 7 epochs are stated."),
        (
            [*ROWS, {**ROWS[1], "loss": 0.3}],
            {},
            "Epoch 2 comes after epoch 4 in the log: is it the log of several runs?",
        ),
        ([*ROWS[:2], {**ROWS[1], "loss": 0.53}, *ROWS[2:]], {}, "Epoch 2 appears 2 times in the log."),
        (
            with_(loss=[0.6512, 0.5813, 0.5813, 0.4018], dev=[0.6624, 0.7049, 0.7049, 0.7104]),
            {},
            "The log: two rows have the same loss 0.5813 and the same accuracies (epoch 2 and epoch 3): was",
        ),
        (
            ROWS,
            {"reported": {"dev": "70.67 %"}},
            "Dev: 0.7067 is reported, that of epoch 4; the best dev accuracy in the log is 0.7104 at epoch 3.",
        ),
        (
            ROWS,
            {"reported": {"dev": 0.75}},
            "Dev: 0.75 is reported but appears nowhere in the log; the best dev accuracy in the log is 0.7104 at",
        ),
        (
            "I trained for a long time.",
            {},
            "The log holds no row that could be read; expected a list of rows such",
        ),
    ],
)
def test_audit_log(log: Any, stated: dict[str, Any], says: str) -> None:
    findings = audit_log(log, **stated)
    assert len(findings) == 1 and findings[0].text.startswith(says), [f.text for f in findings]


@pytest.mark.parametrize(
    ("log", "stated"),
    [
        (ROWS[:1], {}),
        ([{"epoch": 1, "lr": 0.0, "loss": 0.5}], {"lr": 1e-4}),  # a schedule that ends with its only epoch
        (with_(lr=[7.5e-5, 5e-5, 2.5e-5, 0]), {"lr": 1e-4}),  # and one that falls from the first epoch on
        ([{"epoch": e, "loss": x} for e, x in enumerate([0.7, 0.5, 0.4])], {"epochs": 3}),  # counted from 0
        ([{"epoch": e / 4, "loss": 1 / (e + 1)} for e in range(1, 9)], {"epochs": 2}),  # parts of epochs
        ([{"epoch": 1 + s // 3, "step": s, "loss": 1 / (s + 1)} for s in range(9)], {}),  # steps
        (with_(dev=[0.6217] * 4), {"reported": {"dev": 0.6217}}),  # collapsed: said by audit_accuracy
        (ROWS, {"reported": {"dev": 0.71040001, "test": 0.6931}}),
        (ROWS, {"reported": {"dev": "about seventy", "test": None}, "lr": "small", "epochs": "many"}),
        ("epoch,loss\n1,0.7\n1,0.6\n2,0.5\n2,0.4", {}),  # several rows an epoch
    ],
)
def test_audit_log_finds_nothing(log: Any, stated: dict[str, Any]) -> None:
    assert audit_log(log, **stated) == []


def test_reported_test_accuracy() -> None:
    """Whoever chooses by dev reports the test accuracy of that epoch, which need not be the best."""
    rows = [{**row, "test": test} for row, test in zip(ROWS, [0.7, 0.69, 0.68, 0.71], strict=True)]
    assert kinds(rows, reported={"dev": 0.7104, "test": 0.68}) == []
    assert kinds(rows, reported={"dev": 0.7104, "test": 0.72}) == ["not_in_log"]


NUMBERS = (
    st.integers() | st.floats() | st.sampled_from(["1e999", "-1e-999", "nan", "1" * 5000, "0.5", "7/15", True, None])
)
ANY_LOG = (
    st.text(st.sampled_from("epochlsavr_ nif0123456789.,:;/%-+[]{}\"'\n\t"), max_size=200)
    | st.lists(st.dictionaries(st.sampled_from(["epoch", "loss", "lr", "dev", "step", "x"]), NUMBERS), max_size=8)
    | st.dictionaries(st.sampled_from(["epoch", "loss", "dev"]), st.lists(NUMBERS, max_size=5) | NUMBERS)
    | st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
)


@given(ANY_LOG, NUMBERS, NUMBERS, NUMBERS)
def test_any_log(log: Any, dev: Any, lr: Any, epochs: Any) -> None:
    for finding in audit_log(log, reported={"dev": dev, "test": dev}, lr=lr, epochs=epochs):
        assert "\n" not in finding.text and len(finding.text) < 500


@pytest.mark.parametrize(
    "log",
    ["loss " * 500_000, "a" * 3_000_000, "[" * 1_000_000, "1" * 3_000_000, "loss 0.5\n" * 200_000,
     "{" + '"a":' * 10_000,
     [{"loss": 0.5}] * 100_000, {"loss": [0.5] * 100_000}, "epoch,loss\n" + '"' * 1_000_000, -math.inf],
    ids=lambda log: f"{type(log).__name__} {str(log)[:12]!r}",
)  # fmt: skip
def test_huge_logs(log: Any) -> None:
    assert len(read_log(log)) <= 20_000


def test_key_that_is_no_name() -> None:
    assert [row.loss for row in read_log([{10**5000: 1, "loss": 0.5}])] == [Fraction(1, 2)]
