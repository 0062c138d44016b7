"""The topic side of a plan's model, laid out for a corpus."""

from collections.abc import Callable
from typing import NamedTuple

from citeweave.corpus import Corpus
from citeweave.engines.core.data import Data
from citeweave.model.few_labels import FewLabels
from citeweave.model.groups import Tree, build_tree
from citeweave.model.parameters import Plan
from citeweave.model.strata import notes_on_levels

__all__ = ["Planted", "data_of_chains", "describe_levels", "plant_tree"]


class Planted(NamedTuple):
    """The topic side of a run's model, and the labels that its chains leave out."""

    tree: Tree
    labels: FewLabels | None


def plant_tree(corpus: Corpus, plan: Plan) -> Tree:
    """Lay out the topic side of a plan's model for a corpus."""
    return build_tree(
        corpus,
        plan.spec,
        eta=plan.eta,
        unknown=plan.unknown,
        categories=plan.categories,
        labels=plan.labels,
        period_years=plan.period_years,
        contributions=plan.contributions,
    )


def describe_levels(corpus: Corpus, plan: Plan) -> list[str]:
    """Describe how the levels of a plan's model divide papers; empty if none do."""
    own, years = plan.unknown == "own", plan.period_years
    return notes_on_levels(corpus, plan.spec.paper_levels, own=own, years=years)


def data_of_chains(tree: Tree, labels: FewLabels | None) -> Callable[[int], Data]:
    """Return a function that returns the data of a chain by its number."""
    return lambda number: tree.data if labels is None else labels.data(tree.data, number)
