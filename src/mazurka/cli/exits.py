"""How the command ends: exit codes, and mistakes that are no verdicts."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

import click

VERIFIED, FAILED, WRONG_USE, INCOMPLETE, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130
EXIT_CODES = {
    "verified": VERIFIED,
    "bounded": VERIFIED,
    "failed": FAILED,
    "incomplete": INCOMPLETE,
}
EXIT_CODES_HELP = """\b
Exit codes:
  0    verified: every execution was looked at, and none fails; or bounded: the same within a bound
  1    failed: there is an execution that fails
  2    wrong use: there was nothing to check, or it cannot be checked
  3    incomplete: no failure, but the search was cut short by a limit, or did not see everything
  70   a bug in Mazurka itself
  130  interrupted by Ctrl-C
"""


class WrongUse(click.ClickException):
    """What was asked for cannot be done; the message says why, and what to do."""

    exit_code = WRONG_USE


@contextlib.contextmanager
def clean_exit() -> Iterator[None]:
    """Ctrl-C outside of a search, and faults of our own: neither must look like a verdict.

    If nobody reads the output to its end, that changes nothing about the verdict.
    """
    try:
        yield
    except click.ClickException:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except Exception:
        traceback.print_exc()
        click.echo("\nThis is a bug in Mazurka, not in the program: please report it.", err=True)
        sys.exit(BUG)
