"""How messages name a choice: an argument in Python, an option on the command line."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["choice", "for_command_line", "on_command_line", "option", "parameter"]


class _Reader:
    """Who reads the messages; shared by all threads, because a command has one user."""

    at_command_line = False


@contextmanager
def for_command_line() -> Iterator[None]:
    """Make messages name options instead of arguments while a command runs."""
    before = _Reader.at_command_line
    _Reader.at_command_line = True
    try:
        yield
    finally:
        _Reader.at_command_line = before


def on_command_line() -> bool:
    """Return whether messages are shown on the command line."""
    return _Reader.at_command_line


def choice(argument: str, option: str) -> str:
    """Return the name of a choice that suits the reader.

    Parameters
    ----------
    argument : str
        Spelling in Python.
    option : str
        Spelling on the command line.

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
    """Return the name of an argument whose option has the same name.

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
    """Return the name of a parameter of a class or function, for error messages.

    Examples
    --------
    >>> parameter("topics", "SCNTM")
    "'topics' parameter of SCNTM"
    """
    return choice(f"'{name}' parameter of {owner}", f"option {option(name)}")
