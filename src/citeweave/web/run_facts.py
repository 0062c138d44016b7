"""Facts about how a run was made, for the report; baselines have no chains and no plan."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from citeweave.errors import CiteweaveError
from citeweave.evaluate.diagnostics import Diagnostics, judge_chains
from citeweave.model.parameters import make_plan
from citeweave.model.traces import shown_trace
from citeweave.web.method import method_text, parameter_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

    from citeweave.explore import Exploration

__all__ = ["RunFacts"]


class RunFacts:
    """Parameters, traces and dates of the run behind an `Exploration`."""

    def __init__(self, view: Exploration) -> None:
        self.view = view
        self.model: Any = view.model
        self.shown = shown_trace(self.traces)
        self.sampled = self.shown is not None

    @cached_property
    def traces(self) -> Mapping[str, np.ndarray]:
        """Traces of the chains; empty for models that are not sampled."""
        found: Mapping[str, np.ndarray] = getattr(self.model, "traces_", None) or {}
        return found

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the run folder; empty for a model in memory."""
        folder: Path | None = self.view.folder
        if folder is None:
            return {}
        try:
            return dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):  # the model is loaded; missing dates are not worth an error
            return {}

    @property
    def when(self) -> str:
        """When the run ended, for the page footer."""
        ended = self.manifest.get("finished") or self.manifest.get("started")
        return f" from a run of {str(ended)[:10]}" if ended else ""

    @cached_property
    def plan(self) -> dict[str, Any]:
        """Schedule of a sampled run, with defaults filled in."""
        if not self.sampled:
            return {}
        made = make_plan(self.model.get_params() | {"seed": self.model.seed_})
        burn_in = getattr(self.model, "burn_in_", made.burn_in)
        networked = made.spec.citations is not None
        return {
            "iterations": made.iterations,
            "chains": made.chains,
            "burn_in": burn_in,
            "thin": made.thin,
            "seed": made.seed,
            "network_from": made.settings.network_from if networked else None,
            "burst_from": made.settings.burst_from or None,
        }

    @cached_property
    def iterations(self) -> tuple[int, int] | None:
        """Iterations completed and planned, for a sampled run."""
        if not self.sampled:
            return None
        return int(self.model.n_iter_), int(getattr(self.model, "iterations_", self.model.n_iter_))

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """The verdict on the chains."""
        return judge_chains(self.model)

    def method_text(self) -> list[str]:
        """Describe the model and the fit."""
        return method_text(
            self.view.model_name,
            eta=getattr(self.model, "eta", None),
            samples=self.model.n_samples_ if self.sampled else None,
            chains=None if self.shown is None else len(self.shown.values),
            how=self.model.combination_["how"] if self.sampled else "best",
            all_authors=self.view.contribution is not None,
            influence=self.view.cited_propensity is not None,
        )

    def parameter_rows(self) -> list[tuple[str, str]]:
        """List the parameters."""
        try:
            parameters = self.model.get_params()
        except (AttributeError, CiteweaveError):
            parameters = {}
        plan = self.plan or {"seed": getattr(self.model, "seed_", None)}
        return parameter_rows(
            parameters,
            plan,
            model_name=self.view.model_name,
            corpus=self.view.corpus,
            versions=self.manifest.get("versions") or {},
            notes=getattr(self.model, "notes_", ()),
        )
