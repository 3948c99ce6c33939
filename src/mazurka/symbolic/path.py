"""The path condition: all that the threads of an execution have decided of its symbolic values."""

import time
from typing import Any

import z3

from mazurka.core.operation import CHOOSE
from mazurka.core.result import ConditionMet, MazurkaError
from mazurka.program.runtime import RUNTIME
from mazurka.program.thread import NOWHERE

TRUE, FALSE = 0, 1  # the choices at a condition
MOST_ANSWERS = 100_000  # that are kept

Key = frozenset[int]


class Condition:
    """What a thread is about to decide."""

    def __init__(self, expression: z3.BoolRef, written: z3.BoolRef) -> None:
        self.expression = expression
        self.written = written  # the same as the program has it, for people to read

    def __str__(self) -> str:
        return in_one_line(self.written)


class PathCondition:
    """The decisions of the running execution, and what the solver has found out about such ones.

    What can be decided depends on the set of earlier decisions only: that is the key under which
    answers are kept, together with a model, an example of values that agree with the decisions. The
    side of a condition that the model takes can be taken, so only the other one needs the solver.
    """

    def __init__(self) -> None:
        self.epoch = -1
        self.decisions: list[z3.BoolRef] = []
        self.key: Key = frozenset()
        self.inputs: dict[str, z3.ExprRef] = {}  # of this execution, by name
        self.solver = z3.Solver()
        self.asserted: list[z3.BoolRef] = []  # what the solver knows: one level for each decision
        self.solver_calls = 0
        self.solver_seconds = 0.0
        self.forget()

    def forget(self) -> None:
        """Let go of all answers; the expressions that they are about are kept as long as they are,
        since their numbers would be given to others."""
        self.answers: dict[tuple[Key, int], list[int]] = {}
        self.models: dict[Key, z3.ModelRef] = {}
        self.expressions: dict[int, z3.ExprRef] = {}
        self.simple: dict[int, z3.BoolRef] = {}

    def begin(self) -> None:
        """An execution may have begun."""
        if self.epoch != RUNTIME.epoch:
            self.epoch = RUNTIME.epoch
            self.decisions = []
            self.key = frozenset()
            self.inputs = {}
            if len(self.answers) > MOST_ANSWERS:
                self.forget()

    def add(self, decision: z3.BoolRef) -> None:
        model = self.models.get(self.key)
        self.decisions.append(decision)
        self.key |= {self.number(decision)}
        if self.key not in self.models and model is not None and agrees(model, decision):
            self.models[self.key] = model

    def number(self, expression: z3.ExprRef) -> int:
        number: int = expression.get_id()
        self.expressions[number] = expression
        return number

    def simplified(self, expression: z3.BoolRef) -> z3.BoolRef:
        number = self.number(expression)
        if number not in self.simple:
            self.simple[number] = z3.simplify(expression)
        return self.simple[number]

    def choices(self, condition: Condition) -> list[int]:
        """Which outcomes a condition can have now."""
        self.begin()
        question = self.key, self.number(condition.expression)
        if question not in self.answers:
            sides = (TRUE, condition.expression), (FALSE, z3.Not(condition.expression))
            self.answers[question] = [choice for choice, side in sides if self.is_possible(side)]
        return self.answers[question]

    def is_possible(self, side: z3.BoolRef) -> bool:
        model = self.models.get(self.key)
        return (model is not None and agrees(model, side)) or self.is_satisfiable(side)

    def is_satisfiable(self, side: z3.BoolRef) -> bool:
        started = time.perf_counter()
        self.tell_solver()
        self.solver.push()
        self.solver.add(side)
        answer = self.solver.check()
        if answer == z3.sat:
            self.models[self.key | {self.number(side)}] = self.solver.model()
        self.solver.pop()
        self.solver_calls += 1
        self.solver_seconds += time.perf_counter() - started
        if answer == z3.unknown:
            raise RUNTIME.misused(
                f"the solver cannot tell whether {in_one_line(side)} is possible "
                f"({self.solver.reason_unknown()}): simpler conditions or bounds may help"
            )
        return bool(answer == z3.sat)

    def tell_solver(self) -> None:
        """Bring the solver to the present decisions; what they share with the last ones stays."""
        shared = 0
        while (
            shared < min(len(self.asserted), len(self.decisions))
            and self.asserted[shared] is self.decisions[shared]
        ):
            shared += 1
        self.solver.pop(len(self.asserted) - shared)
        del self.asserted[shared:]
        for decision in self.decisions[shared:]:
            self.solver.push()
            self.solver.add(decision)
            self.asserted.append(decision)

    def example(self) -> list[str]:
        """Values of the inputs that lead to where the execution is."""
        if self.epoch != RUNTIME.epoch or not self.inputs:
            return []
        solver = z3.Solver()  # a new one, so that the values do not depend on the search
        solver.add(*self.decisions)
        if solver.check() != z3.sat:
            return []
        model = solver.model()
        return [
            f"input {name} = {model.eval(variable, model_completion=True)}"
            for name, variable in self.inputs.items()
        ]


PATH = PathCondition()


def agrees(model: z3.ModelRef, decision: z3.BoolRef) -> bool:
    return bool(z3.is_true(model.eval(decision, model_completion=True)))


def decide(expression: z3.BoolRef) -> bool:
    """The truth of a condition, which the execution depends on from now on."""
    PATH.begin()
    written = expression
    expression = PATH.simplified(written)
    if z3.is_true(expression) or z3.is_false(expression):
        return bool(z3.is_true(expression))
    thread = RUNTIME.current
    if thread is None:
        message = (
            f"whether {in_one_line(written)} can be decided only by a thread of a program that "
            "Mazurka runs, and not in a predicate or a compare_exchange"
        )
        raise MazurkaError(message) if RUNTIME.hub is None else RUNTIME.misused(message)
    refuse_parsimony()
    thread.alternatives = 0  # those that are possible
    choice: Any = RUNTIME.perform(CHOOSE, NOWHERE, Condition(expression, written), None)
    PATH.add(expression if choice == TRUE else PATH.simplified(z3.Not(expression)))
    return bool(choice == TRUE)


def refuse_parsimony() -> None:
    """POP expects to find what does not depend on a data choice with the first alternative of it;
    but with that, a condition that comes later may have lost one of its outcomes."""
    guide = RUNTIME.guide
    if guide is not None and not guide.picks:
        RUNTIME.misuse = ConditionMet(
            "POP does not take conditions on symbolic values: use the algorithm 'optimal'"
        )
        raise RUNTIME.misuse


def in_one_line(expression: z3.ExprRef) -> str:
    return " ".join(str(expression).split())


RUNTIME.choices_at = PATH.choices
RUNTIME.inputs = PATH.example
