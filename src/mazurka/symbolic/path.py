"""The path condition: all that the threads of an execution have decided of its symbolic values."""

from typing import Any

import z3

from mazurka.core.operation import CHOOSE
from mazurka.core.result import ConditionMet, MazurkaError
from mazurka.program.runtime import RUNTIME
from mazurka.program.thread import NOWHERE
from mazurka.standard.clock import real_perf_counter

TRUE, FALSE = 0, 1  # the choices at a condition
MOST_ANSWERS = 100_000  # that are kept
MOST_EXAMPLES = 500

Key = frozenset[int]


class Condition:
    """What a thread is about to decide."""

    def __init__(self, expression: z3.BoolRef, written: z3.BoolRef) -> None:
        self.expression = expression
        self.written = written  # the same as the program has it, for people to read

    def __str__(self) -> str:
        return in_one_line(self.written)


class PathCondition:
    """The decisions of the running execution, and which others are possible with them.

    That depends on the set of decisions only: answers are kept under it. The solver is asked when
    neither an example that it gave before shows that a decision is possible, nor a contradiction
    that it found before shows that it is not.
    """

    def __init__(self) -> None:
        self.epoch = -1
        self.decisions: list[z3.BoolRef] = []
        self.key: Key = frozenset()
        self.inputs: dict[str, z3.ExprRef] = {}  # of this execution, by name
        self.solver_calls = 0
        self.solver_seconds = 0.0
        self.forget()

    def forget(self) -> None:
        """Let go of all that was found out. (Expressions are kept as long as their numbers are
        used, since these would be given to others.)"""
        self.solver = z3.Solver()
        self.switches: dict[int, z3.BoolRef] = {}  # that turn on decisions in the solver
        self.expressions: dict[int, z3.ExprRef] = {}
        self.simple: dict[int, z3.BoolRef] = {}
        self.answers: dict[tuple[Key, int], list[int]] = {}
        self.examples: list[Example] = []
        self.contradictions: list[Key] = []
        self.fitting: list[Example] = []  # those that agree with so many of the decisions
        self.fitted = 0

    def begin(self) -> None:
        """An execution may have begun."""
        if self.epoch != RUNTIME.epoch:
            self.epoch = RUNTIME.epoch
            self.decisions = []
            self.key = frozenset()
            self.inputs = {}
            if len(self.answers) > MOST_ANSWERS:
                self.forget()
            self.fitting = self.examples
            self.fitted = 0

    def add(self, decision: z3.BoolRef) -> None:
        self.decisions.append(decision)
        self.key |= {self.number(decision)}

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
            sides = condition.expression, self.simplified(z3.Not(condition.expression))
            self.answers[question] = [
                choice for choice, side in enumerate(sides) if self.is_possible(side)
            ]
        return self.answers[question]

    def is_possible(self, side: z3.BoolRef) -> bool:
        for decision in self.decisions[self.fitted :]:
            self.fitting = [example for example in self.fitting if example.has(decision)]
        self.fitted = len(self.decisions)
        if any(example.has(side) for example in self.fitting):
            return True
        together = self.key | {self.number(side)}
        if any(contradiction <= together for contradiction in self.contradictions):
            return False
        return self.is_satisfiable(side)

    def is_satisfiable(self, side: z3.BoolRef) -> bool:
        started = real_perf_counter()
        switches = [self.switch_for(decision) for decision in (*self.decisions, side)]
        answer = self.solver.check(*switches)
        if answer == z3.sat:
            example = Example(self.solver.model())
            self.examples = [*self.examples[-MOST_EXAMPLES:], example]
            self.fitting = [*self.fitting, example]
        elif answer == z3.unsat:
            core = {str(switch) for switch in self.solver.unsat_core()}
            self.contradictions.append(
                frozenset(number for number, switch in self.switches.items() if str(switch) in core)
            )
        self.solver_calls += 1
        self.solver_seconds += real_perf_counter() - started
        if answer == z3.unknown:
            raise RUNTIME.misused(
                f"the solver cannot tell whether {in_one_line(side)} is possible "
                f"({self.solver.reason_unknown()}): simpler conditions or bounds may help"
            )
        return bool(answer == z3.sat)

    def switch_for(self, decision: z3.BoolRef) -> z3.BoolRef:
        """The solver keeps what it learns of decisions that are turned on and off."""
        number = self.number(decision)
        if number not in self.switches:
            self.switches[number] = z3.Bool(f"switch {len(self.switches)}")
            self.solver.add(z3.Implies(self.switches[number], decision))
        return self.switches[number]

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


class Example:
    """A model: values of the inputs that agree with some decisions."""

    def __init__(self, model: z3.ModelRef) -> None:
        self.model = model
        self.found: dict[int, bool] = {}

    def has(self, decision: z3.BoolRef) -> bool:
        number = decision.get_id()
        if number not in self.found:
            value = self.model.eval(decision, model_completion=True)
            self.found[number] = bool(z3.is_true(value))
        return self.found[number]


PATH = PathCondition()


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
