"""Exceptions raised by citeweave. Messages say what is wrong, where, and what to do."""

__all__ = [
    "CiteweaveError",
    "CorpusError",
    "MissingDependencyError",
    "NotFoundError",
    "ParameterError",
    "RunError",
]


class CiteweaveError(Exception):
    """Base class of all errors that the user can fix; the command line prints them in one line.

    Examples
    --------
    >>> import citeweave
    >>> try:
    ...     citeweave.load("no-such-run")
    ... except citeweave.errors.CiteweaveError as error:
    ...     print(type(error).__name__)
    RunError
    """


class ParameterError(CiteweaveError, ValueError):
    """A parameter has an invalid value.

    Examples
    --------
    >>> from citeweave import SCNTM, example_corpus
    >>> SCNTM(topics=0).fit(example_corpus())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    citeweave.errors.ParameterError: The 'topics' parameter of SCNTM must be ... Got 0 instead.
    """


class CorpusError(CiteweaveError, ValueError):
    """A corpus, or the data it is made from, is invalid.

    Examples
    --------
    >>> from citeweave import Corpus
    >>> Corpus.from_lists(tokens=[["a"]], citations=[(0, 7)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    citeweave.errors.CorpusError: Citation 0, (0, 7), points outside the corpus...
    """


class RunError(CiteweaveError, RuntimeError):
    """A run folder or a checkpoint cannot be read, written or continued.

    Examples
    --------
    >>> import citeweave
    >>> citeweave.load("no-such-run")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    citeweave.errors.RunError: There is no run folder '...no-such-run'.
    """


class MissingDependencyError(CiteweaveError, ImportError):
    """An optional dependency is missing; the message gives the install command.

    Examples
    --------
    >>> from citeweave.errors import CiteweaveError, MissingDependencyError
    >>> [issubclass(MissingDependencyError, kind) for kind in (ImportError, CiteweaveError)]
    [True, True]
    """


class NotFoundError(CiteweaveError, LookupError):
    """A topic, author or paper does not exist, or the model or corpus lacks the requested part.

    Examples
    --------
    >>> import citeweave
    >>> from citeweave.explore import Exploration
    >>> Exploration(citeweave.example_model()).topic(99)
    Traceback (most recent call last):
        ...
    citeweave.errors.NotFoundError: There is no topic 99 in use; those in use are 0, 1, 2.
    """
