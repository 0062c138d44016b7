"""Values that would hang or end the process are refused at once, by name."""

import pytest

from citeweave import SCNTM
from citeweave.errors import ParameterError
from citeweave.experiments.crossvalidation import seeds_from
from citeweave.experiments.folds import k_folds, random_splits
from citeweave.model.parameters import make_plan


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concentration", 1e-9),
        ("concentration", 1e30),
        ("concentration_prior", (1, 1e9)),
        ("concentration_prior", (1e300, 1e-300)),
        ("concentration_prior", (1e-300, 1)),
        ("propensity_prior", (1, 1e300)),
        ("chains", 10**9),
        ("iterations", 10**31),
        ("rounds", 10**9),
    ],
)
def test_models(name, value) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of SCNTM must be"):
        make_plan(SCNTM(**{name: value}).get_params())


@pytest.mark.parametrize("value", [10**9, 10**30])
def test_cross_validation(value) -> None:
    with pytest.raises(ParameterError, match=r"'folds' must be .* to 1000"):
        k_folds(value)
    with pytest.raises(ParameterError, match=r"'splits' must be .* to 1000"):
        random_splits(value)
    with pytest.raises(ParameterError, match="'seeds' must be"):
        seeds_from(value)


def test_what_is_in_use_is_accepted() -> None:
    for prior in ((1, 1), (0.03, 0.03), (2, 100), (0.1, 0.001), (10, 0.1)):
        make_plan(SCNTM(concentration_prior=prior, propensity_prior=prior).get_params())
    for concentration in (0.001, 0.1, 10, 1000):
        make_plan(SCNTM(concentration=concentration, chains=100).get_params())
