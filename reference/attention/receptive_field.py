"""The receptive field of argmax attention: which inputs a node can depend on when every head looks at one position.

    R_0(i) = {i}        R_l(i) = R_{l-1}(i) ∪ ⋃_h R_{l-1}(pointer_h(i))        the first term is the residual connection

Each level multiplies the size by at most k + 1, so |R_n(i)| ≤ min(T, (k + 1)^n). The bound is reached if the pointers
never meet; it is missed where heads agree, point at their own position, or where the sequence is too short.
"""

from collections.abc import Sequence

Pointers = Sequence[Sequence[Sequence[int]]]
"""[level][position][head] -> the position one level below that the head looks at."""


def argmax_receptive_field(T: int, n: int, k: int, pointers: Pointers) -> list[int]:
    """Count the inputs that each of the `T` nodes of level `n` depends on; level 0 are the inputs themselves.

    Args:
        T: number of positions.
        n: number of levels.
        k: number of heads.
        pointers: shape (n, T, k); `pointers[l][i][h]` is where head h of position i on level l + 1 looks on level l.
    """
    fields = [{i} for i in range(T)]
    for level in range(n):
        fields = [fields[i].union(*(fields[pointers[level][i][head]] for head in range(k))) for i in range(T)]
    return [len(field) for field in fields]


def receptive_field_bound(T: int, n: int, k: int) -> int:
    """Return min(T, (k + 1)^n): no receptive field is larger."""
    bound: int = min(T, (k + 1) ** n)
    return bound


def spreading_pointers(T: int, n: int, k: int) -> list[list[list[int]]]:
    """Return pointers that reach the bound where T ≥ (k + 1)^n.

    On level l, head h looks h (k + 1)^l ahead, cyclically. A node of level n then sees i + Σ_l h_l (k + 1)^l with
    digits h_l from 0 to k: numbers of base k + 1, each once.
    """
    return [[[(i + head * (k + 1) ** level) % T for head in range(1, k + 1)] for i in range(T)] for level in range(n)]
