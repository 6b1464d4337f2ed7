"""Twin of the projected walk of the overview (section 2.2). The bias itself, factor by factor, with
60 decimal digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

Record = tuple[int, int]
DIGITS = 60


def bias(
    dataset: tuple[Record, ...], query: int, epsilon: float, alpha: float, ties: str
) -> Decimal:
    """Bias after the last example at or before the query."""
    with localcontext() as context:
        context.prec = DIGITS
        lowest = Decimal(alpha)
        up = Decimal(epsilon).exp()
        p = Decimal(1) / 2
        for point in sorted({x for x, _ in dataset if x <= query}):
            labels = [y for x, y in dataset if x == point]
            for update in [[y] for y in labels] if ties == "index" else [labels]:
                for y in update:
                    p = p * up if y == 1 else p / up
                p = min(max(p, lowest), 1 - lowest)
        return p


def probability_of_one(
    dataset: tuple[Record, ...], query: int, epsilon: float, alpha: float, ties: str
) -> float:
    """1 is output with the bias."""
    return float(bias(dataset, query, epsilon, alpha, ties))


def log_law(
    dataset: tuple[Record, ...], query: int, epsilon: float, alpha: float, ties: str
) -> tuple[Decimal, Decimal]:
    """ln P[0] and ln P[1]."""
    with localcontext() as context:
        context.prec = DIGITS
        p = bias(dataset, query, epsilon, alpha, ties)
        return (1 - p).ln(), p.ln()
