"""Tasks: a model, its data, a seed and a protocol, identified by a fingerprint of all of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from citeweave.errors import ParameterError
from citeweave.experiments.folds import WHOLE, Fold
from citeweave.experiments.models import ModelChoice

__all__ = ["DRAWS_SINCE", "Task", "make_tasks"]

DRAWS_SINCE = "0.3.0"
"""The release since which a seed gives its present draws (checked by
``tests/test_fingerprints.py``). It is part of a task's fingerprint, so results survive releases
until the samplers change: when you store new fingerprints, set it to the next release."""

CATEGORY_DRAWS_SINCE = "0.3.0, words with more and less emphasis"
"""The same for models that draw papers into categories, which have initial clusters of their
own."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One model to fit and measure.

    Attributes
    ----------
    dataset : str
        Name of the corpus, for tables.
    corpus : str
        Fingerprint of the corpus.
    model : ModelChoice
        The model to fit.
    fold : Fold
        The documents to fit it to.
    seed : int
        Seed of the model.
    protocol : str
        Name of the protocol, see `citeweave.experiments.protocols`.
    version : int
        Version of that protocol.
    options : mapping
        Options of the protocol, representable in JSON.

    Examples
    --------
    >>> from citeweave.experiments import Task, choose
    >>> task = Task(dataset="cora", corpus="0f", model=choose("scntm"), protocol="whole", version=1)
    >>> len(task.key), task.file_name.startswith("cora")
    (20, True)
    """

    dataset: str
    corpus: str
    model: ModelChoice
    fold: Fold = WHOLE
    seed: int = 1
    protocol: str
    version: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return everything that determines the numbers, without names that only tables show.

        Examples
        --------
        >>> from citeweave.experiments import Task, choose
        >>> parts = {"dataset": "cora", "corpus": "0f", "model": choose("scntm")}
        >>> task = Task(**parts, protocol="whole", version=1)
        >>> task.as_json()["protocol"]
        {'name': 'whole', 'version': 1}
        """
        return {
            "corpus": self.corpus,
            "model": self.model.as_json(),
            "fold": self.fold.as_json(),
            "seed": self.seed,
            "protocol": {"name": self.protocol, "version": self.version, **self.options},
            "citeweave": _draws_since(self.model),
        }

    @cached_property
    def key(self) -> str:
        """Fingerprint: 20 hexadecimal digits of the SHA-256 of `as_json`."""
        try:
            text = json.dumps(self.as_json(), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"The parameters of {self.model.name!r} and the options of a protocol must be "
                f"numbers, strings and lists of them, as JSON can hold them ({error})."
            ) from error
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def file_name(self) -> str:
        """Name of the file of its result: data set, model and fingerprint."""
        words = f"{self.dataset}-{self.model.name}"
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in words)
        return f"{plain[:60]}-{self.key}.json"

    def __str__(self) -> str:
        """Describe it in one line, for errors and progress."""
        return f"{self.dataset}, {self.model.name}, {self.fold.name}, seed {self.seed}"


def _draws_since(model: ModelChoice) -> str:
    return CATEGORY_DRAWS_SINCE if model.parameters.get("categories") else DRAWS_SINCE


def make_tasks(
    corpora: Mapping[str, str],
    models: Mapping[str, Sequence[ModelChoice]] | Sequence[ModelChoice],
    *,
    folds: Iterable[Fold] = (WHOLE,),
    seeds: Iterable[int] = (1,),
    protocol: str,
    version: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Task]:
    """Make the tasks of all combinations: by data set, model, seed and fold.

    Parameters
    ----------
    corpora : mapping
        Fingerprint of each corpus by name.
    models : sequence of ModelChoice, or mapping
        The models, the same for all data sets or by name of the data set.
    folds, seeds : iterables
    protocol, version
        The protocol to measure by.
    options : mapping, optional
        Options of the protocol by name of the data set.

    Examples
    --------
    >>> from citeweave.experiments import choose, k_folds, make_tasks
    >>> models = [choose("scntm", topics=7), choose("k-means", topics=7)]
    >>> tasks = make_tasks({"cora": "0f"}, models, folds=k_folds(3), protocol="folds", version=1)
    >>> len(tasks)
    6
    """
    folds, seeds = list(folds), list(seeds)
    return [
        Task(
            dataset=name,
            corpus=fingerprint,
            model=model,
            fold=fold,
            seed=int(seed),
            protocol=protocol,
            version=version,
            options=dict((options or {}).get(name, {})),
        )
        for name, fingerprint in corpora.items()
        for model in (models[name] if isinstance(models, Mapping) else models)
        for seed in seeds
        for fold in folds
    ]
