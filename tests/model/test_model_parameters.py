"""Parameters: one table, one template, and what follows from what was left open."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest

from citeweave import SCNTM, ModelSpec, preset
from citeweave.errors import ParameterError
from citeweave.model.parameters import make_plan, parameters_from_json, parameters_to_json
from citeweave.parameters.scntm import BURST_FROM, NETWORK_FROM, PARAMETERS

WRONG = {
    "topics": [0, -3, 2.5, "20", None, True, 5000],
    "eta": ["x", -1, 1.5, math.nan, None, "3"],
    "categories": [0, -1, 2.5, "7", True],
    "authors": ["last", None, True],
    "contributions": ["first", None, 1],
    "labels": ["all", None, True],
    "paper_concentration": [0, -1.0, "one", math.inf, True],
    "category_prior": [0, -1.0, "one", None],
    "iterations": [0, -1, 1.0],
    "network_from": [-1, "half", 2.0],
    "burst_from": [-1, "half", 2.0],
    "start": [3, None, "", [0.5], [[1], [1, 2]]],
    "seed": [-1, 1.5, "one"],
    "chains": [0],
    "model": ["lda", 3, None],
    "burn_in": [-1, 0.5],
    "thin": [0, 1.5],
    "unknown": ["none", True],
    "combine": ["mean", None],
    "concentration": [0, -1.0, math.inf, math.nan, "1"],
    "concentration_prior": [(1,), (1, 0), 1.0, (1, -1), ("1", 1)],
    "propensity_prior": [(1, 2, 3), (0, 1), None],
    "self_citations": [1, None, "yes", 0.0],
    "topic_discount": [1.0, -0.1, "0"],
    "word_discount": [1.0, math.nan],
    "word_weight": [0, -0.5, 1.5, "half", None, True],
    "sweep": ["parallel", None, True],
    "rounds": [0, 1.5, 4],
    "threads": [0, 1.5],
    "device": ["gpu", None, 0],
    "engine": ["gpu", None, True],
    "workers": [0, 1.5, "two"],
    "address": [1, True],
    "exactly": [1, None, "yes"],
    "give_up": [1, None, "yes"],
    "minutes": [0, -1, "5", math.inf, True],
    "levels": ["venue", (1,), None],
    "period_years": [0, 2.5, 5, 1001],
}


def test_the_table_names_every_parameter():
    assert list(PARAMETERS) == list(SCNTM().get_params())
    assert set(WRONG) == set(PARAMETERS)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_wrong_values_are_named(name, value, small):
    with pytest.raises(ParameterError) as caught:
        SCNTM(**{name: value}).fit(small)
    text = str(caught.value)
    assert text.startswith(f"The '{name}' parameter of SCNTM must be ")
    assert text.endswith(f"Got {value!r} instead.")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"iterations": 100, "network_from": 100}, "network_from"),
        ({"iterations": 100, "network_from": 1000}, "network_from"),
        ({"iterations": 100, "burst_from": 100}, "burst_from"),
        ({"iterations": 100, "burst_from": 1000}, "burst_from"),
        ({"iterations": 100, "network_from": 10, "burst_from": 50, "burn_in": 49}, "burn_in"),
        ({"iterations": 100, "burn_in": 100}, "burn_in"),
        ({"iterations": 100, "network_from": 50, "burn_in": 49}, "burn_in"),
    ],
)
def test_parameters_that_do_not_go_together(changes, name, small):
    with pytest.raises(ParameterError, match=f"^The '{name}' parameter of SCNTM must be "):
        SCNTM(**changes).fit(small)


def test_levels_need_different_names(small):
    spec = preset("cntm-text")
    twice = ModelSpec("twice", (*spec.topic_side, spec.topic_side[-1]), spec.word_side)
    with pytest.raises(ParameterError, match=r"'model' parameter .* different names"):
        SCNTM(model=twice).fit(small)


def test_discounts_that_no_table_holds(small):
    steep = preset("cntm-text").with_discounts(words=0.9999)
    with pytest.raises(ParameterError, match="discounts are at most"):
        SCNTM(model=steep).fit(small)


@pytest.mark.parametrize("name", ["checkpoint_seconds", "checkpoint_iterations"])
def test_wrong_checkpoint_intervals(name, small):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter"):
        SCNTM().fit(small, **{name: -1})


def test_init_only_assigns():
    value = object()
    assert SCNTM(topics=value).topics is value


def test_get_and_set_params():
    model = SCNTM(topics=7, eta=2)
    copy = SCNTM(**model.get_params())
    assert copy.get_params() == model.get_params()
    assert model.set_params(topics=9, chains=2) is model
    assert (model.topics, model.chains, model.eta) == (9, 2, 2)
    with pytest.raises(ParameterError, match=r"no parameter 'topic'\. Did you mean one of: topics"):
        model.set_params(topic=3)


def test_repr_shows_what_differs():
    assert repr(SCNTM()) == "SCNTM()"
    assert repr(SCNTM(topics=5, seed=1)) == "SCNTM(topics=5, seed=1)"


def plan(**changes):
    return make_plan(SCNTM(**changes).get_params())


def test_defaults_are_filled_in():
    p = plan()
    assert (p.settings.network_from, p.settings.burst_from) == (NETWORK_FROM, BURST_FROM)
    assert (p.burn_in, p.thin, p.kept) == (1800, 4, 50)
    p = plan(exactly=True)
    assert (p.burn_in, p.thin, p.kept) == (1500, 10, 50)
    late = plan(iterations=100, network_from=90)
    assert late.burn_in == 90
    assert plan(model="cntm-text", iterations=100, network_from=90).burn_in == 75
    assert plan(iterations=100, network_from=90, burst_from=95).burn_in == 95
    assert plan(model="np-atm", iterations=100, burst_from=99).settings.burst_from == 0
    assert plan(topic_discount=0.2).spec.topic_side[0].discount == 0.2
    assert plan().seed != plan().seed


def test_runs_from_before_bursts_had_a_start_keep_their_plan():
    """Their manifests say nothing of it, and their checkpoints have the digest of then."""
    old = parameters_to_json(SCNTM(seed=1, iterations=100).get_params())
    del old["burst_from"], old["start"]
    assert old["network_from"] is None  # which was half the iterations
    made = make_plan(parameters_from_json(old))
    assert (made.settings.network_from, made.settings.burst_from, made.start) == (50, 0, "random")
    assert made.digest() == plan(seed=1, iterations=100, network_from=50, burst_from=0).digest()
    assert made.digest() != plan(seed=1, iterations=100, network_from=50, burst_from=9).digest()
    changed = plan(seed=1, iterations=100, network_from=50, burst_from=0, start="clusters")
    assert made.digest() != changed.digest()


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 7, 8, 40, 100])
@pytest.mark.parametrize("model", ["scntm", "cntm-text", "np-atm"])
def test_short_runs_have_short_stages(iterations, model):
    settings = plan(model=model, iterations=iterations).settings
    assert settings.network_from <= iterations / 8
    assert settings.burst_from <= iterations / 4
    early = plan(iterations=2000, burn_in=5).settings
    assert (early.network_from, early.burst_from) == (5, 5)


@pytest.mark.parametrize(
    ("iterations", "burn_in", "thin"), [(10, 4, 1), (10, 4, 4), (11, 0, 3), (1, 0, 1), (9, 8, 50)]
)
def test_kept_samples(iterations, burn_in, thin):
    p = plan(iterations=iterations, network_from=0, burn_in=burn_in, thin=thin)
    kept = [i for i in range(1, iterations + 1) if p.keeps(i)]
    assert len(kept) == p.kept
    assert kept[0] == p.first_kept > burn_in
    assert kept[-1] == iterations
    assert all(b - a == thin for a, b in itertools.pairwise(kept))


def test_digest_changes_with_what_is_drawn():
    base = {"seed": 1, "iterations": 20}
    same = plan(**base).digest()
    assert plan(**base, threads=1, chains=3, combine="best").digest() == same
    for change in (
        {"topics": 21},
        {"eta": 1},
        {"unknown": "own"},
        {"thin": 2},
        {"word_discount": 0.5},
    ):
        assert plan(**base, **change).digest() != same


@pytest.mark.parametrize("eta", [0, 3, np.int64(3), math.inf, "inf"])
@pytest.mark.parametrize("model", ["np-atm", preset("scntm").without("phi'")])
def test_parameters_through_json(eta, model):
    params = SCNTM(eta=eta, model=model, concentration_prior=(2, 0.5)).get_params()
    text = json.dumps(parameters_to_json(params), allow_nan=False)
    back = parameters_from_json(json.loads(text))
    assert make_plan(back | {"seed": 1}) == make_plan(params | {"seed": 1})


@pytest.mark.parametrize(("old", "name"), [(True, "paper"), (False, "zero")])
def test_self_citations_of_earlier_releases(old, name):
    """True and False go on for a release, with a warning; manifests that hold them without one."""
    with pytest.warns(DeprecationWarning, match=f"self_citations={old} is now .*'{name}'"):
        plan = make_plan(SCNTM(self_citations=old).get_params())
    assert plan.settings.self_citations == name
    now = make_plan(SCNTM(self_citations=name, seed=plan.seed).get_params())
    assert now.digest() == dataclasses.replace(plan, threads=now.threads).digest()
    stored = parameters_to_json(SCNTM().get_params()) | {"self_citations": old}
    assert parameters_from_json(stored)["self_citations"] == name


def test_choices_of_self_citations_have_digests_of_their_own():
    digests = {
        make_plan(SCNTM(self_citations=name, seed=1).get_params()).digest()
        for name in PARAMETERS["self_citations"].rule.choices
    }
    assert len(digests) == 3
