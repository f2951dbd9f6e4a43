"""The model answers of adapting_transformers, in the student's API, on top of `reference/`."""

from typing import Any

__all__ = ["answers"]

answers: dict[str, Any] = {
    "1.1": "C",
    "1.1.packing": "[CLS] Tokens-of-sentence-1 [SEP] Tokens-of-sentence-2 [SEP]",
    "1.2": "C",
    "1.3": ["A", "C", "E"],
    "1.4": "A",
    "1.5": ["A", "C"],
    "1.6": "B",
    "2.1.1": [3, 2, -4],
    "2.2.2": [[0.72, 0.96, 0], [0.96, 1.28, 0], [0, 0, 0]],
    "2.3.mean": "h * mu**2",
    "2.3.variance": "h * (sigma**4 + 2 * mu**2 * sigma**2)",
    "3.2.2": "2*d + 2",
    "3.2.3": "130*d + 2",
    "3.2.5": "2*d*n",
}
