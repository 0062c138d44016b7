"""One declaration a parameter: everything that is made of it follows."""

import copy
import dataclasses
import inspect
import json
import math
import re

import pytest
import typer
from typer.testing import CliRunner

from citeweave import SCNTM
from citeweave.baselines import BASELINES
from citeweave.cli.options import gathers
from citeweave.engines import registry
from citeweave.errors import ParameterError
from citeweave.model import parameters as model_parameters
from citeweave.parameters import (
    Parametrised,
    declared,
    integer,
    number,
    one_of,
    pair,
    parameter,
    table_of,
    true_or_false,
)
from citeweave.parameters.describing import help_text, markdown_table
from citeweave.parameters.scntm import PARAMETERS, SCNTMParameters


@declared
class Warmer(SCNTMParameters):
    """SCNTM with one parameter more.

    Examples
    --------
    None.
    """

    heat: tuple[float, float] = parameter(
        (1.0, 2.0),
        pair("numbers greater than 0", number(0, above=True)),
        "First and last temperature.",
        option="",
    )
    steps: int | None = parameter(
        None, integer(1, none="one per iteration"), "Steps of cooling.", group="Heat", before=3
    )
    gently: bool = parameter(False, true_or_false(), "Cool slowly.")


def test_one_more_parameter_is_one_edit_for_the_class():
    names = ["heat", "steps", "gently"]
    assert list(inspect.signature(Warmer).parameters) == [*PARAMETERS, *names]
    model = Warmer(steps=4, topics=3)
    assert model.get_params() == SCNTM(topics=3).get_params() | {
        "heat": (1.0, 2.0),
        "steps": 4,
        "gently": False,
    }
    assert repr(model) == "Warmer(topics=3, steps=4)"
    assert model.set_params(gently=True).gently is True
    with pytest.raises(ParameterError) as caught:
        Warmer(steps=0).check_params()
    assert str(caught.value) == (
        "The 'steps' parameter of Warmer must be an integer of at least 1, or None for one per "
        "iteration. Got 0 instead."
    )


def test_one_more_parameter_is_one_edit_for_the_docstring():
    text = Warmer.__doc__
    for entry in (
        "heat : (float, float), default=(1.0, 2.0)\n    First and last temperature.\n",
        "steps : int, optional\n    Steps of cooling. By default one per iteration.\n",
        "gently : bool, default=False\n    Cool slowly.\n",
    ):
        assert entry in text
    assert text.index("Parameters\n---") < text.index("steps : int") < text.index("Examples\n---")


def test_one_more_parameter_is_one_edit_for_commands():
    app = typer.Typer()
    got = {}

    @app.command()
    @gathers(parameters=table_of(Warmer).values())
    def run(*, parameters: dict[str, object]) -> None:
        got.update(parameters)

    shown = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["--help"]).stdout
    assert re.search(r"--steps +<int> +Steps of cooling \(default: one per iteration\)\.", shown)
    assert "─ Heat ─" in shown
    assert "--heat" not in shown
    assert CliRunner().invoke(app, ["--steps", "7", "--gently", "--eta", "inf"]).exit_code == 0
    assert (got["steps"], got["gently"], got["eta"], got["seed"]) == (7, True, math.inf, None)
    assert "heat" not in got


def test_one_more_parameter_is_one_edit_for_manifests(monkeypatch):
    table = table_of(Warmer)
    monkeypatch.setattr(model_parameters, "PARAMETERS", table)
    given = Warmer(heat=(2, 3), gently=True, eta=math.inf).get_params()
    kept = json.loads(json.dumps(model_parameters.parameters_to_json(given)))
    assert model_parameters.parameters_from_json(kept) == given
    assert model_parameters.old_values(table)["steps"] == 3


def test_one_more_parameter_is_one_edit_for_pages():
    rows = markdown_table(table_of(Warmer).values()).splitlines()
    assert "| `steps` | an integer of at least 1 | one per iteration | Steps of cooling. |" in rows
    assert "| `gently` | True or False | `False` | Cool slowly. |" in rows


@pytest.mark.parametrize(
    "kind", [SCNTM, *dict.fromkeys(entry.model for entry in BASELINES.values())]
)
def test_classes_are_as_scikit_learn_has_them(kind):
    table = table_of(kind)
    signature = inspect.signature(kind)
    assert {name: one.default for name, one in signature.parameters.items()} == {
        name: one.default for name, one in table.items()
    }
    assert all(one.kind is one.KEYWORD_ONLY for one in signature.parameters.values())
    kind().check_params()  # defaults obey their rules
    value = object()
    changed = kind(**dict.fromkeys(table, value))
    assert all(found is value for found in changed.get_params().values())
    model = kind(seed=3)
    assert type(model)(**model.get_params()).get_params() == model.get_params()
    assert copy.deepcopy(model).get_params() == model.get_params()
    assert model != kind(seed=3)  # an estimator is itself, whatever its parameters
    assert len({model, kind(seed=3)}) == 2
    with pytest.raises(TypeError, match="topic"):
        kind(topic=3)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    model = SCNTM(topics=3, propensity_prior=(2.0, 1.0))
    assert base.clone(model).get_params() == model.get_params()


def test_a_class_may_have_an_init_of_its_own():
    class Plain(Parametrised):
        rules = {"topics": integer(1)}  # noqa: RUF012 (a class attribute)

        def __init__(self, *, topics=5):
            self.topics = topics

    assert repr(Plain(topics=7)) == "Plain(topics=7)"
    with pytest.raises(ParameterError, match="'topics' parameter of Plain must be an integer"):
        Plain(topics=0).check_params()


@pytest.mark.parametrize(
    ("rule", "accepted", "refused"),
    [
        (integer(1), [1, 10**20], [0, 1.0, True, None, "1", math.nan]),
        (integer(0, 9), [0, 9], [-1, 10]),
        (integer(1, none="all"), [None, 1], [0]),
        (number(0), [0, 0.5, 10], [-1e-9, math.inf, math.nan, True, "0", None]),
        (number(0, above=True), [1e-9], [0]),
        (number(-1, 1), [-1, 1], [1.01]),
        (number(0, 1, none="all"), [None, 0.5], [2]),
        (pair("numbers", number(0)), [(1, 2), [0, 0.5]], [(1,), 1, (1, -1), (1, 2, 3), "12", None]),
        (true_or_false(), [True, False], [0, 1, None, "yes"]),
        (one_of("a", "b"), ["a", "b"], ["c", None, 1, ""]),
    ],
)
def test_rules(rule, accepted, refused):
    assert all(rule.accepts(value) for value in accepted)
    assert not any(rule.accepts(value) for value in refused)


def test_rules_in_words():
    assert integer(0, 9).wanted == "an integer from 0 to 9"
    assert number(0, above=True).wanted == "a number greater than 0"
    assert number(0, 1, none="all").wanted == "a number from 0 to 1, or None for all"
    assert one_of("a", "b").wanted == "'a' or 'b'"


def test_every_device_and_every_kind_of_sweep_can_be_asked_for():
    assert PARAMETERS["device"].rule.choices == (registry.AUTO, *registry.devices())
    assert PARAMETERS["sweep"].rule.choices == (registry.AUTO, *sorted(registry.sweeps("auto")))


def test_help_is_a_sentence_that_rich_leaves_alone():
    for one in PARAMETERS.values():
        text = help_text(one)
        assert text.endswith(".")
        assert "[" not in text
        assert one.about.endswith(".")


def test_a_command_may_change_what_it_says():
    here = PARAMETERS["threads"].but(none="as before", default=None)
    assert help_text(here).endswith("(default: as before).")
    assert dataclasses.replace(here, rule=PARAMETERS["threads"].rule) == PARAMETERS["threads"]
