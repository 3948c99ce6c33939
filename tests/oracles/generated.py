"""How many generated programs a test takes, and which."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, seed, settings

# Some of them in every run; .ci/run asks for eight times as many.
PROGRAMS = int(os.environ.get("MAZURKA_ORACLE_PROGRAMS", "50"))
SEED = os.environ.get("MAZURKA_ORACLE_SEED")


def generated(programs: int) -> Callable[[Any], Any]:
    """Runs a test on so many programs: always the same ones, unless a seed asks for others."""
    thorough = settings(
        max_examples=max(programs, 1),
        derandomize=SEED is None,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    def decorate(test: Any) -> Any:
        return thorough(test) if SEED is None else seed(SEED)(thorough(test))

    return decorate
