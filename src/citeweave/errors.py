"""The errors citeweave raises on purpose: each text says what, where and what to do."""

__all__ = [
    "CiteweaveError",
    "CorpusError",
    "MissingDependencyError",
    "NotFoundError",
    "ParameterError",
    "RunError",
]


class CiteweaveError(Exception):
    """Base of all errors that a user can mend; the command prints them in one line."""


class ParameterError(CiteweaveError, ValueError):
    """A parameter has a wrong value."""


class CorpusError(CiteweaveError, ValueError):
    """A corpus, or what it is made from, is not valid."""


class RunError(CiteweaveError, RuntimeError):
    """A run folder or a checkpoint cannot be read, written or continued."""


class MissingDependencyError(CiteweaveError, ImportError):
    """An optional dependency is needed; the text gives the install line."""


class NotFoundError(CiteweaveError, LookupError):
    """A topic, author or paper does not exist, or a model or corpus lacks the part asked for."""
