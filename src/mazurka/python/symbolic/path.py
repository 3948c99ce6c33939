"""The path condition: all that the threads of an execution have decided of its symbolic values."""

from typing import Any

import z3

from mazurka.engine.errors import ConditionMet, MazurkaError
from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE
from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import Runtime
from mazurka.python.runtime.thread import NOWHERE

TRUE, FALSE = 0, 1  # the choices at a condition
MOST_ANSWERS = 100_000  # that are kept
MOST_EXAMPLES = 500

Key = frozenset[int]


class Decision:
    """One outcome of a condition."""

    def __init__(self, expression: z3.BoolRef) -> None:
        self.expression = expression
        self.number: int = expression.get_id()  # no other expression has it while this one exists


class SymbolicCondition:
    """What a thread is about to decide."""

    def __init__(self, written: z3.BoolRef) -> None:
        self.written = written  # as the program has it
        expression = z3.simplify(written)
        self.is_always_so = bool(z3.is_true(expression))
        self.is_never_so = bool(z3.is_false(expression))
        self.sides = Decision(expression), Decision(z3.simplify(z3.Not(expression)))

    def __str__(self) -> str:
        return in_one_line(self.written)


class PathCondition:
    """The decisions of the running execution, and which others are possible with them.

    That depends on the set of decisions only: answers are kept under it. The solver is asked when
    neither an example that it gave before shows that a decision is possible, nor a contradiction
    that it found before shows that it is not.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        runtime.choices_at = self.choices
        runtime.excludes = self.excludes
        runtime.inputs = self.example
        self.epoch = -1
        self.decisions: list[Decision] = []
        self.key: Key = frozenset()
        self.inputs: dict[str, z3.ExprRef] = {}  # of this execution, by name
        self.bounds: dict[str, list[z3.BoolRef]] = {}  # of all inputs
        self.forget()

    def forget(self) -> None:
        """Let go of all that was found out."""
        self.solver = z3.Solver()
        self.known: dict[int, Decision] = {}  # by number: kept, so that it is not given to others
        self.switches: dict[int, z3.BoolRef] = {}  # that turn on decisions in the solver
        self.values: dict[object, Any] = {}  # the inputs of all executions
        self.answers: dict[tuple[Key, int], list[int]] = {}
        self.examples: list[Example] = []
        self.contradictions: list[Key] = []
        self.fitting: list[Example] = []  # those that agree with so many of the decisions
        self.fitted = 0

    def begin(self) -> None:
        """An execution may have begun."""
        if self.epoch != self.runtime.epoch:
            self.epoch = self.runtime.epoch
            self.decisions = []
            self.key = frozenset()
            self.inputs = {}
            if len(self.answers) > MOST_ANSWERS:
                self.forget()
            self.fitting = self.examples
            self.fitted = 0

    def add(self, decision: Decision) -> None:
        self.known[decision.number] = decision
        self.decisions.append(decision)
        self.key |= {decision.number}

    def choices(self, condition: SymbolicCondition) -> list[int]:
        """Which outcomes a condition can have now."""
        self.begin()
        question = self.key, condition.sides[TRUE].number
        if question not in self.answers:
            for side in condition.sides:
                self.known[side.number] = side
            self.answers[question] = [
                choice for choice in (TRUE, FALSE) if self.is_possible(condition.sides[choice])
            ]
        return self.answers[question]

    def is_possible(self, side: Decision) -> bool:
        for decision in self.decisions[self.fitted :]:
            self.fitting = [example for example in self.fitting if example.has(decision)]
        self.fitted = len(self.decisions)
        if any(example.has(side) for example in self.fitting):
            return True
        if self.contradict(self.key | {side.number}):
            return False
        if not self.is_satisfiable([*self.decisions, side]):
            return False
        self.fitting = [*self.fitting, self.examples[-1]]
        return True

    def excludes(self, events: list[Event], event: Event) -> bool:
        """Whether a condition could not have been true, given other events."""
        decisions = [
            decided.first.sides[decided.choice]
            for decided in events
            if isinstance(decided.first, SymbolicCondition)
        ]
        assert isinstance(event.first, SymbolicCondition)
        decisions.append(event.first.sides[TRUE])
        together = frozenset([decision.number for decision in decisions])
        question = together, -1
        if question not in self.answers:
            possible = not self.contradict(together) and (
                any(all(map(example.has, decisions)) for example in self.examples)
                or self.is_satisfiable(decisions)
            )
            self.answers[question] = [TRUE] if possible else []
        return not self.answers[question]

    def contradict(self, together: Key) -> bool:
        return any(contradiction <= together for contradiction in self.contradictions)

    def is_satisfiable(self, decisions: list[Decision]) -> bool:
        """Ask the solver; if there is an example, it is the last one then."""
        answer = self.solver.check(*[self.switch_for(decision) for decision in decisions])
        if answer == z3.sat:
            self.examples = [*self.examples[-MOST_EXAMPLES:], Example(self.solver.model())]
        elif answer == z3.unsat:
            core = {str(switch) for switch in self.solver.unsat_core()}
            self.contradictions.append(
                frozenset(number for number, switch in self.switches.items() if str(switch) in core)
            )
        if answer == z3.unknown:
            condition = in_one_line(decisions[-1].expression)
            raise self.runtime.misused(
                f"the solver cannot tell whether {condition} is possible "
                f"({self.solver.reason_unknown()}): simpler conditions or bounds may help"
            )
        return bool(answer == z3.sat)

    def switch_for(self, decision: Decision) -> z3.BoolRef:
        """The solver keeps what it learns of decisions that are turned on and off."""
        number = decision.number
        if number not in self.switches:
            self.switches[number] = z3.Bool(f"switch {len(self.switches)}")
            self.solver.add(z3.Implies(self.switches[number], decision.expression))
        return self.switches[number]

    def example(self) -> list[str]:
        """Values of the inputs that lead to where the execution is."""
        if self.epoch != self.runtime.epoch or not self.inputs:
            return []
        solver = z3.Solver()  # a new one, so that the values do not depend on the search
        solver.add(*[decision.expression for decision in self.decisions])
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

    def has(self, decision: Decision) -> bool:
        found = self.found.get(decision.number)
        if found is None:
            value = self.model.eval(decision.expression, model_completion=True)
            found = bool(z3.is_true(value))
            self.found[decision.number] = found
        return found


def path_condition() -> PathCondition:
    """That of the check that runs, which has one from its first symbolic value on."""
    check = RUNNING.check
    if check.path is None:
        check.path = PathCondition(check.runtime)
    return check.path


def decide(condition: SymbolicCondition) -> bool:
    """The truth of a condition, which the execution depends on from now on."""
    runtime = RUNNING.check.runtime
    if condition.is_always_so or condition.is_never_so:
        return condition.is_always_so
    thread = runtime.current
    if thread is None:
        message = (
            f"whether {condition} can be decided only by a thread of a program that "
            "Mazurka runs, and not in a predicate or a compare_exchange"
        )
        raise MazurkaError(message) if runtime.hub is None else runtime.misused(message)
    refuse_others()
    path = path_condition()
    path.begin()
    thread.alternatives = 0  # those that are possible
    choice: Any = runtime.perform(CHOOSE, NOWHERE, condition, None)
    path.add(condition.sides[choice])
    return bool(choice == TRUE)


def refuse_others() -> None:
    """A condition may have lost an outcome by what another thread has decided, in one subtree of a
    search and not in the next: not every search takes that."""
    runtime = RUNNING.check.runtime
    if not runtime.takes_conditions:
        runtime.misuse = ConditionMet(
            "this search does not take conditions on symbolic values: use the algorithm 'trust'"
        )
        raise runtime.misuse


def in_one_line(expression: z3.ExprRef) -> str:
    return " ".join(str(expression).split())
