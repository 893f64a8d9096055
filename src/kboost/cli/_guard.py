"""Error handling of commands: an exit code and one line on standard error."""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import typer

BAD_INPUT, INTERNAL, INTERRUPTED = 1, 3, 130  # 2 is a usage error
BROKEN_PIPE = 141  # as if the signal had ended the process


def handle_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Convert exceptions to one line and an exit code; with KBOOST_DEBUG=1 they are raised."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        as_json = bool(options.get("as_json"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the result contains what matters
                result = command(*args, **options)
                sys.stdout.flush()
                return result
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:  # the reader, such as head, has had enough
            _discard_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt as error:
            fail(str(error) or "interrupted; nothing was saved.", INTERRUPTED, as_json=as_json)
        except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
            if os.environ.get("KBOOST_DEBUG"):
                raise
            fail(one_line(error), BAD_INPUT, as_json=as_json)
        except Exception as error:
            if os.environ.get("KBOOST_DEBUG"):
                raise
            words = f"{type(error).__name__}: {one_line(error)} (a bug; KBOOST_DEBUG=1 shows where)"
            fail(words, INTERNAL, as_json=as_json)

    return run


def _discard_output() -> None:
    """Write what is left to nowhere, so that Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def fail(words: str, code: int, *, as_json: bool = False) -> NoReturn:
    """Print an error and exit."""
    from kboost.cli._console import printable

    line = json.dumps({"error": words}) if as_json else f"error: {printable(words)}"
    print(line, file=sys.stderr)
    raise typer.Exit(code)


def one_line(error: BaseException) -> str:
    """The message on one line."""
    return " ".join(str(error).split()) or type(error).__name__
