"""`mazurka cc` and `mazurka c++`: compilers for a project that is to be checked."""

import sys

import click

from mazurka.cli.exits import WrongUse, clean_exit
from mazurka.engine.errors import MazurkaError
from mazurka.native.wrapping import wrapped_compiler

AS_GIVEN = {"ignore_unknown_options": True, "help_option_names": []}


@click.command(context_settings=AS_GIVEN)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def cc(arguments: tuple[str, ...]) -> None:
    """Compile or link C, so that 'mazurka check' can check what is built.

    ARGUMENTS are those of your compiler (gcc, say), which does the work. Build a project with
    CC="mazurka cc" make, and check it with mazurka check ./program.
    """
    run(arguments, False)


@click.command("c++", context_settings=AS_GIVEN)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def cpp(arguments: tuple[str, ...]) -> None:
    """Compile or link C++, as 'mazurka cc' does for C.

    ARGUMENTS are those of your compiler: CXX="mazurka c++" make
    """
    run(arguments, True)


def run(arguments: tuple[str, ...], is_cpp: bool) -> None:
    with clean_exit():
        try:
            sys.exit(wrapped_compiler(list(arguments), is_cpp))
        except MazurkaError as error:
            raise WrongUse(str(error)) from error
