"""`python -m mazurka` is the command `mazurka`."""

from mazurka.cli import main

main(prog_name="mazurka")
