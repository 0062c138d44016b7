"""Report user errors as one line on standard error, with an exit code."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from citeweave.errors import CiteweaveError
from citeweave.files import is_full
from citeweave.naming import for_command_line

__all__ = ["INTERRUPTED", "USER_ERROR", "complain", "guarded"]

USER_ERROR = 2
INTERRUPTED = 130

P = ParamSpec("P")
R = TypeVar("R")


def complain(kind: str, text: str) -> None:
    """Write a message to standard error as one line."""
    line = " ".join(str(text).split())
    sys.stderr.write(f"citeweave: {kind}: {line}\n")
    sys.stderr.flush()


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors that the user can fix into a one-line message and an exit code.

    Other exceptions are bugs and keep their traceback. Warnings of the library become notes on
    standard error, and its messages name options instead of arguments.
    """

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with for_command_line(), warnings.catch_warnings():
            warnings.filterwarnings("always", category=RuntimeWarning, module="citeweave")
            warnings.showwarning = _show_warning
            try:
                return command(*args, **kwargs)
            except CiteweaveError as error:
                complain("error", str(error))
                raise typer.Exit(USER_ERROR) from error
            except KeyboardInterrupt as error:
                complain("stopped", str(error) or "by Ctrl-C.")
                raise typer.Exit(INTERRUPTED) from error
            except MemoryError as error:
                hint = "use fewer topics, or fewer chains at a time (--threads)"
                complain("error", f"not enough memory ({error}); {hint}")
                raise typer.Exit(USER_ERROR) from error
            except BrokenPipeError:
                raise  # the reader has closed the pipe, like `head`: typer exits quietly
            except OSError as error:
                if is_full(error) and error.filename is None:
                    complain("error", f"cannot write, the disk is full: {error.strerror}")
                    raise typer.Exit(USER_ERROR) from error
                if error.filename is None:
                    raise
                complain("error", f"'{error.filename}': {error.strerror or error}")
                raise typer.Exit(USER_ERROR) from error

    return wrapper


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain("note", str(message))
