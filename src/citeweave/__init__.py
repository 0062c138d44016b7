"""citeweave: topics, authors, labels and citations of research literature in one model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from citeweave._moved import keep_old_names

if TYPE_CHECKING:
    from citeweave import datasets
    from citeweave.corpus import Corpus
    from citeweave.engines.core.spec import Level, ModelSpec, preset
    from citeweave.examples import example_corpus, example_model
    from citeweave.loading import load
    from citeweave.model import SCNTM, resume
    from citeweave.preparing import read
    from citeweave.simulate import simulate

__all__ = [
    "SCNTM",
    "Corpus",
    "Level",
    "ModelSpec",
    "__version__",
    "datasets",
    "example_corpus",
    "example_model",
    "load",
    "preset",
    "read",
    "resume",
    "simulate",
]

__version__ = "0.2.0"  # the single source: pyproject.toml, CITATION.cff and the site use it

keep_old_names()

# Imported lazily, so that `import citeweave` does not wait for the compiler.
_HOMES = {
    "Corpus": "citeweave.corpus",
    "SCNTM": "citeweave.model",
    "load": "citeweave.loading",
    "resume": "citeweave.model",
    "simulate": "citeweave.simulate",
    "read": "citeweave.preparing",
    "datasets": "citeweave.datasets",
    "ModelSpec": "citeweave.engines.core.spec",
    "Level": "citeweave.engines.core.spec",
    "preset": "citeweave.engines.core.spec",
    "example_corpus": "citeweave.examples",
    "example_model": "citeweave.examples",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'citeweave' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    # the package `simulate` is callable, so the name may mean either
    value = module if name in {"simulate", "datasets"} else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
