"""How far a search is, and how far it has to go."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """How many executions a search has: this many, and most likely between two numbers."""

    executions: float
    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def at_least(self, executions: int) -> "Estimate":
        """The same, when so many were made and there are more."""
        return Estimate(*[max(number, float(executions)) for number in self.numbers])

    @property
    def numbers(self) -> tuple[float, float, float]:
        return self.executions, self.low, self.high


@dataclass(frozen=True)
class Advice:
    """Something to try, and why: options, or a change of the program."""

    options: dict[str, Any]
    sentence: str


@dataclass
class Status:
    """What is known of a search while it runs, for people."""

    estimate: Estimate | None = None
    depth: int = 0  # how many steps the latest execution had
    memory_mb: float = 0.0  # of all processes together
    waiting: int = 0  # tasks that nobody has taken up
    rates: list[float] = field(default_factory=list)  # executions per second, of each worker
