"""`python -m mazurka` is the command `mazurka`."""

from mazurka.cli.main import main

main(prog_name="mazurka")
