"""Numbers as people read them: one form everywhere."""

import pytest

from citeweave.wording import NBSP, UNKNOWN, number, percent, short_number


def test_shares_keep_their_unit_on_the_line() -> None:
    nan = float("nan")
    found = [percent(x).replace(NBSP, " ") for x in (0.0, 1e-9, 0.5, nan, None)]
    assert found == ["0.0 %", "< 0.1 %", "50.0 %", UNKNOWN, UNKNOWN]
    assert " " not in percent(0.5)
    assert percent(0.021, signed=True) == f"+2.1{NBSP}%"


def test_numbers_have_a_true_minus_and_say_what_is_unknown() -> None:
    assert [number(x, 1) for x in (1234.56, -2.0, float("nan"), None)] == [
        "1,234.6",
        "−2.0",
        UNKNOWN,
        UNKNOWN,
    ]
    assert short_number(-2_500_000) == "−2.5M"


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_what_is_infinite_is_written(value: float) -> None:
    assert short_number(value).endswith("∞")
