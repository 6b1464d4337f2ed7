"""What a rounding costs, and which way it goes.

A lower bound that is written with fewer digits goes down, an upper one up.

So does what is promised: a claim that is written with fewer digits promises no more than it does.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext

UNIT_ROUNDOFF = 2.0**-53
"""Relative error of one operation on floats, at most."""
# which way a number goes when digits are cut: a lower bound, what is no bound, an upper bound
DOWN, NEAREST, UP = ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING
VISIBLE = 1e-6
"""A computed number near 1 is shown with so many digits: where its error is larger, its bounds are
shown instead."""
ALL_DIGITS, DIGITS = 17, 12
"""Significant digits that tell any two floats apart; and those with which computed numbers are
recorded, so that equal runs give equal bytes."""
# a claim is written smaller than it is by no more than this part of it: 0.1 + 0.2 promises 0.3; and
# a number above it by no more than that part, and not for certain, is shown as the claim
SAME, EQUAL = 1e-11, 1e-9
MISSING, INFINITY = "–", "∞"


def rounded(value: float, digits: int, way: str) -> float:
    """Return a number with fewer significant digits, 1 to 15; infinite values stay as they are.

    It is never above `value` with DOWN, never below it with UP; and so are the decimal numbers that
    the two are written as.
    """
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=way).create_decimal(repr(float(value))))


def written(value: float, digits: int = 6, way: str = NEAREST) -> str:
    """Write a number with up to so many significant digits, cut the given way; see `rounded`."""
    return f"{rounded(value, digits, way):.{digits}g}"


def computed(value: float, error: float, digits: int) -> tuple[float, float]:
    """Return a computed number with fewer digits, and the error that it then has.

    These are v and e such that [v - e, v + e] contains [value - error, value + error], whether v is
    read as the decimal number that it is written as or as the float next to it.
    """
    if not (math.isfinite(value) and math.isfinite(error)):
        return value, error
    near = rounded(value, digits, NEAREST)
    read = Decimal(near), Decimal(repr(near))
    exactly = Context(prec=60, rounding=UP)
    off = max(exactly.abs(exactly.subtract(Decimal(float(value)), each)) for each in read)
    total = exactly.add(Decimal(float(error)), off)
    return near, float(Context(prec=3, rounding=UP).plus(total))


def loss(number: float | None, way: str = NEAREST) -> str:
    """Write a loss in nats with six decimals: bounds go DOWN or UP; None is a dash."""
    if number is None:
        return MISSING
    if math.isinf(number):
        return INFINITY
    if number != 0 and not 1e-4 <= abs(number) < 1e6:
        return written(number, 3, way)
    return f"{Decimal(repr(float(number))).quantize(Decimal('1e-6'), rounding=way):f}"


def below(number: float | None, claimed: float) -> str:
    """Write a lower bound: down, and where it is above the claim with the digits that show it."""
    text = loss(number, DOWN)
    if number is None or number <= claimed:
        return text
    beside = _read(promise(claimed, number))
    return text if _read(text) > beside else told_apart(number, beside, DOWN)


def above(number: float | None) -> str:
    """Write an upper bound, or the smallest leak that would be seen: up."""
    return loss(number, UP)


def exact(number: float | None, claimed: float, *, exceeds: bool) -> str:
    """Write a computed number beside a claim: above it only if the record says that it is."""
    text = loss(number)
    if number is None:
        return text
    beside = _read(promise(claimed, number if exceeds else None))
    if (_read(text) > beside) == exceeds:
        return text
    if exceeds:
        return told_apart(number, beside, NEAREST)
    same = number > claimed and math.isclose(number, claimed, rel_tol=EQUAL)
    return loss(claimed if same else number, DOWN)


def promise(claimed: float, found: float | None = None) -> str:
    """Write a claimed number, up, with digits that show it below a larger leak."""
    text = plain(claimed)
    if not _same(_read(text), claimed):
        six = 1e-4 <= claimed < 1e6
        text = loss(claimed) if six else text
        if not _same(_read(text), claimed):
            text = loss(claimed, UP) if six else written(claimed, 6, UP)
    hidden = found is not None and claimed < found <= _read(text)
    return told_apart(claimed, found or 0.0, NEAREST) if hidden else text


def allowance(claimed: float) -> str:
    """Write a claim's number with up to six digits: up, unless it has so few but for rounding."""
    text = plain(claimed)
    return text if _same(_read(text), claimed) else written(claimed, 6, UP)


def plain(number: float) -> str:
    """Write a number with up to six significant digits and no padding."""
    return INFINITY if math.isinf(number) else f"{number:.6g}"


def _same(shown: float, claimed: float) -> bool:
    return shown == claimed or abs(claimed - shown) <= SAME * abs(claimed)


def whole(number: int) -> str:
    """Write a whole number with thousands separated; three digits of it from 10^15 on."""
    return f"{number:,}" if number < 10**15 else f"{Decimal(number):.2e}".replace("e+", "e")


def half_line_words(threshold: float, *, above: bool) -> str:
    """Name a half-line: '≥ 2', '< 0.5'; '≤ 0' where the threshold is the next float after it."""
    if above:
        return f"≥ {plain(threshold)}"
    last = math.nextafter(threshold, -math.inf)
    return f"≤ {plain(last)}" if len(repr(last)) < len(repr(threshold)) else f"< {plain(threshold)}"


def told_apart(number: float, other: float, way: str) -> str:
    """Write a number with so few digits, from seven on, as put it on its side of another."""
    for digits in range(7, ALL_DIGITS):
        short = rounded(number, digits, way)
        if short != other and (short > other) == (number > other):
            return f"{short:.{digits}g}"
    return f"{number:.{ALL_DIGITS}g}"


def _read(text: str) -> float:
    return math.inf if text == INFINITY else float(text)


def number(value: float) -> float | str:
    """Return a number that is no bound as recorded: 12 significant digits, infinities as text."""
    return _recorded(rounded(value, DIGITS, NEAREST))


def lower_number(value: float, claimed: float = math.inf) -> float | str:
    """Return a lower bound as recorded: 12 digits, rounded down, but not to below a claim."""
    short = rounded(value, DIGITS, DOWN)
    return _recorded(float(value) if value > claimed >= short else short)


def upper_number(value: float) -> float | str:
    """Return an upper bound or error as recorded: 12 significant digits, never less than it is."""
    return _recorded(rounded(value, DIGITS, UP))


def computed_number(value: float, error: float) -> tuple[float | str, float | str]:
    """Return a computed number and its error as recorded; they contain what they contained."""
    short, wide = computed(value, error, DIGITS)
    return _recorded(short), _recorded(wide)


def _recorded(value: float) -> float | str:
    return str(value) if math.isinf(value) else value


def percent(share: float) -> str:
    """Write a share as a percentage with ten digits at most, down, so that 100 % is all of it."""
    with localcontext(prec=DIGITS - 2, rounding=ROUND_FLOOR):
        return f"{(100 * Decimal(repr(float(share)))).normalize():f} %"
