"""What a message calls a choice: an argument where Python asked, an option on the command line."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["choice", "for_command_line", "on_command_line", "option", "parameter"]


class _Reader:
    """Who reads the messages; one for all threads, as a command has one user."""

    at_command_line = False


@contextmanager
def for_command_line() -> Iterator[None]:
    """Let messages name options while a command runs."""
    before = _Reader.at_command_line
    _Reader.at_command_line = True
    try:
        yield
    finally:
        _Reader.at_command_line = before


def on_command_line() -> bool:
    """Whether messages are read on the command line."""
    return _Reader.at_command_line


def choice(argument: str, option: str) -> str:
    """Name a choice as its reader makes it.

    Parameters
    ----------
    argument : str
        As it is written in Python.
    option : str
        As it is typed on the command line.

    Examples
    --------
    >>> choice("format='bibtex'", "--format bibtex")
    "format='bibtex'"
    >>> with for_command_line():
    ...     choice("format='bibtex'", "--format bibtex")
    '--format bibtex'
    """
    return option if _Reader.at_command_line else argument


def option(name: str) -> str:
    """Name an argument whose option is spelt as it is.

    Examples
    --------
    >>> option("network_from")
    "'network_from'"
    >>> with for_command_line():
    ...     option("network_from")
    '--network-from'
    """
    return choice(f"'{name}'", f"--{name.replace('_', '-')}")


def parameter(name: str, owner: str) -> str:
    """Name a parameter of a class or a function, as errors do.

    Examples
    --------
    >>> parameter("topics", "SCNTM")
    "'topics' parameter of SCNTM"
    """
    return choice(f"'{name}' parameter of {owner}", f"option {option(name)}")
