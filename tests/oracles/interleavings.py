"""Small programs as data, and the comparison of the searches with the brute-force oracle.

A program is a tuple of threads, a thread a tuple of instructions, an instruction a tuple that
begins with its name. Every thread has one register, which loads and the like set and `if` tests.
"""

import queue
import re
from collections import Counter
from collections.abc import Callable
from threading import BrokenBarrierError
from typing import Any

import mazurka
from mazurka.engine.event import Event
from mazurka.engine.operation import JOIN, SPAWN
from mazurka.engine.program import REDUNDANT
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import EXCEPTION, Result
from mazurka.engine.search import Explorer, Search, explore_in_parts
from mazurka.engine.task import Task
from mazurka.explore.naive import NaiveSearch, Trace, ordered, trace_of
from mazurka.explore.optimal import OptimalDpor
from mazurka.explore.pop import Pop
from mazurka.explore.qpor.exploration import Qpor
from mazurka.explore.source import SourceDpor
from mazurka.explore.trust.reads_from import ReadsFrom
from mazurka.explore.trust.visit import Trust
from mazurka.python.check import RUNNING
from mazurka.python.memory.containers import (
    call_method,
    contains,
    delete_item,
    iterate,
    length,
    load_item,
    store_item,
    unpack,
)
from mazurka.python.primitives.atomic import unused
from mazurka.python.program import PythonProgram
from mazurka.python.session import collections_noted
from tests.oracles.checks import check_of_objects, explorer_name, is_computed, remembered

Instruction = tuple[Any, ...]
Thread = tuple[Instruction, ...]
Program = tuple[Thread, ...]
Look = tuple[int, int, float]  # who looks at a clock, after how many steps, and what it shows

EXPLORERS: dict[str, Callable[[Search], Any]] = {
    "naive": NaiveSearch,
    "naive in tasks": lambda search: InTasks(NaiveSearch, search),
    "optimal": OptimalDpor,
    "pop": Pop,
    "pop in tasks": lambda search: InTasks(Pop, search),
    "source": SourceDpor,
    "qpor 1": lambda search: with_k(search, 1),
    "qpor 2": lambda search: with_k(search, 2),
    "qpor 3": lambda search: with_k(search, 3),
    "qpor optimal": lambda search: with_k(search, 0),
    "trust": Trust,
    "trust in tasks": lambda search: InTasks(Trust, search),
    "reads-from": ReadsFrom,
}
QUASI_OPTIMAL = ["qpor 1", "qpor 2", "qpor 3"]


def with_k(search: Search, k: int) -> Qpor:
    search.k = k
    return Qpor(search)


class InTasks:
    """A search in tasks of one execution each, every one begun from what another one left."""

    def __init__(self, explorer: Callable[[Search], Explorer], search: Search) -> None:
        self.explorer = explorer
        self.search = search

    def explore(self) -> bool:
        search = self.search
        most = search.max_executions
        tasks: list[Task] | None = None
        while tasks is None or (tasks and search.counted < most):
            search.max_executions = search.counted + 1
            explorer = self.explorer(search)
            if tasks is not None:
                explorer.take_up(Task.from_json(tasks.pop().to_json()))
            everything = explorer.explore()
            tasks = tasks or []
            if not everything:
                tasks += explorer.split()
        return not tasks


class Shared:
    """The objects that the threads of a generated program share."""

    def __init__(self, text: str) -> None:
        """Only those that are in the text of the program: every execution makes them anew."""
        self.atomics = [mazurka.Atomic(0), mazurka.Atomic(0)]
        if re.search("'with'|lock|'release'", text):
            self.locks: list[Any] = [mazurka.Lock(), mazurka.RLock()]
        if "'semaphore " in text:
            self.semaphore = mazurka.Semaphore(1)
        if "'bounded " in text:
            self.bounded = mazurka.BoundedSemaphore(1)
        if "'event " in text:
            self.event = mazurka.Event()
        if re.search("put'|get'|'qsize'|'task_done'|'queue ", text):
            self.queue = mazurka.Queue(1)
        if re.search("'condition|'notify", text):
            self.condition = mazurka.Condition()
        if "'barrier " in text:
            self.barrier = mazurka.Barrier(2)
        self.list: list[Any] = [0]
        self.dict: dict[Any, Any] = {0: 0}
        self.set: set[Any] = {0}
        self.inputs: dict[int, Any] = {}
        self.looks: list[Look] = []  # at clocks
        if re.search("'(list|dict|set) ", text):
            for container in (self.list, self.dict, self.set):
                RUNNING.check.objects.share(container, "")

    def input(self, number: int) -> Any:
        """A symbolic value, the same for all threads."""
        if number not in self.inputs:
            self.inputs[number] = mazurka.symbolic_int(f"input {number}", 0, 3)
        return self.inputs[number]


def as_function(program: Program, looks: list[list[Look]] | None = None) -> Callable[[], object]:
    """The function that runs a program: main spawns all threads but the first, which it runs itself
    (every spawn is a step that the oracle interleaves with all others)."""

    text = repr(program)

    def main() -> None:
        shared = Shared(text)
        if looks is not None:
            looks[:] = [shared.looks]
        for thread in program[1:]:
            mazurka.spawn(run_thread, shared, thread)
        run_thread(shared, program[0])

    return main


def run_thread(shared: Shared, thread: Thread) -> None:
    run_block(shared, thread, [0], [])


def run_block(shared: Shared, block: Thread, register: list[Any], children: list[Any]) -> None:
    for name, *rest in block:
        if name == "if":
            if register[0]:
                run_block(shared, rest[0], register, children)
        elif name == "with":
            with shared.locks[rest[0]]:
                run_block(shared, rest[1], register, children)
        elif name == "try lock":
            lock = shared.locks[rest[0]]
            if lock.acquire(timeout=1):
                run_block(shared, rest[1], register, children)
                lock.release()
        elif name == "condition":
            with shared.condition:
                run_block(shared, rest[0], register, children)
        elif name == "swallow":
            try:
                run_block(shared, rest[0], register, children)
            except BaseException:
                register[0] = 1
        elif name == "spawn":
            children.append(mazurka.spawn(run_thread, shared, rest[0]))
        elif name == "join":
            if children:
                children.pop().join()
        else:
            register[0] = INSTRUCTIONS[name](shared, *rest)


def barrier_wait(shared: Shared, timeout: float | None) -> int:
    try:
        return shared.barrier.wait(timeout)
    except BrokenBarrierError:
        return -1


def try_get(shared: Shared) -> Any:
    try:
        return shared.queue.get_nowait()
    except queue.Empty:
        return 0


def timed_get(shared: Shared) -> Any:
    try:
        return shared.queue.get(timeout=2)
    except queue.Empty:
        return 0


def try_put(shared: Shared, item: int) -> bool:
    try:
        shared.queue.put(item, timeout=1)
    except queue.Full:
        return False
    return True


def bounded_release(shared: Shared) -> bool:
    try:
        shared.bounded.release()
    except ValueError:
        return False
    return True


def task_done(shared: Shared) -> bool:
    try:
        shared.queue.task_done()
    except ValueError:
        return False
    return True


def release(shared: Shared, lock: int) -> bool:
    try:
        shared.locks[lock].release()
    except RuntimeError:
        return False
    return True


INSTRUCTIONS: dict[str, Callable[..., Any]] = {
    "load": lambda s, x: s.atomics[x].load(),
    "store": lambda s, x, v: s.atomics[x].store(v),
    "exchange": lambda s, x, v: s.atomics[x].exchange(v),
    "compare_exchange": lambda s, x, e, n: s.atomics[x].compare_exchange(e, n),
    "fetch_add": lambda s, x, n: s.atomics[x].fetch_add(n),
    "fetch_add unused": lambda s, x, n: unused(s.atomics[x].fetch_add)(n),
    "add": lambda s, x, n: s.atomics[x].add(n),
    "await": lambda s, x, v: s.atomics[x].await_value(lambda value: value == v),
    "await at least": lambda s, x, v: s.atomics[x].await_value(lambda value: value >= v),
    "await_exchange": lambda s, x, v, n: s.atomics[x].await_exchange(lambda value: value == v, n),
    "await raising": lambda s, x: s.atomics[x].await_value(lambda value: 1 // value),
    "release": release,
    "locked": lambda s: s.locks[0].locked(),
    "semaphore acquire": lambda s: s.semaphore.acquire(),
    "semaphore try": lambda s: s.semaphore.acquire(blocking=False),
    "semaphore release": lambda s, n: s.semaphore.release(n),
    "bounded acquire": lambda s: s.bounded.acquire(),
    "bounded release": bounded_release,
    "event set": lambda s: s.event.set(),
    "event clear": lambda s: s.event.clear(),
    "event wait": lambda s: s.event.wait(),
    "event timed wait": lambda s: s.event.wait(1),
    "put": lambda s, v: s.queue.put(v),
    "get": lambda s: s.queue.get(),
    "try put": try_put,
    "try get": try_get,
    "timed get": timed_get,
    "qsize": lambda s: s.queue.qsize(),
    "task_done": task_done,
    "queue join": lambda s: s.queue.join(),
    "condition wait": lambda s: s.condition.wait(),
    "condition timed wait": lambda s: s.condition.wait(1),
    "notify": lambda s: s.condition.notify(),
    "notify_all": lambda s: s.condition.notify_all(),
    "barrier wait": barrier_wait,
    "barrier abort": lambda s: s.barrier.abort(),
    "barrier reset": lambda s: s.barrier.reset(),
    "choose": lambda s, n: mazurka.choose(range(n)),
    "assume": lambda s, v: mazurka.assume(s.atomics[0].load() == v),
    "assert": lambda s, v: check_equal(s.atomics[0].load(), v),
}


def caught(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (IndexError, KeyError):
        return False


def method(container: Any, name: str, *arguments: Any) -> Any:
    return caught(call_method, getattr(container, name), *arguments)


def look(shared: Shared) -> float:
    """What a clock shows; the thread, how many steps it had made, and that are noted."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    assert thread is not None
    time = runtime.look_at_clock(thread)
    steps = sum(event.thread == thread.id for event in runtime.events[: runtime.position])
    shared.looks.append((thread.id, steps, time))
    return time


def sleep(seconds: float) -> None:
    runtime = RUNNING.check.runtime
    assert runtime.current is not None
    runtime.let_time_pass(runtime.current, seconds)


def is_late(shared: Shared, variable: int) -> bool:
    """Whether more than a second has passed since the time that a variable has, if it has one."""
    return look(shared) - (shared.atomics[variable].load() or 0) > 1


INSTRUCTIONS |= {
    "look": look,
    "sleep": lambda s, n: sleep(n),
    "post": lambda s, x: s.atomics[x].store(look(s)),
    "is late": is_late,
    "list read": lambda s, i: caught(load_item, s.list, i),
    "list set": lambda s, i, v: caught(store_item, s.list, i, v),
    "list append": lambda s, v: method(s.list, "append", v),
    "list pop": lambda s: method(s.list, "pop"),
    "list length": lambda s: length(s.list),
    "list items": lambda s: unpack(s.list),
    "list loop": lambda s: list(iterate(s.list)),
    "dict read": lambda s, k: caught(load_item, s.dict, k),
    "dict set": lambda s, k, v: caught(store_item, s.dict, k, v),
    "dict delete": lambda s, k: caught(delete_item, s.dict, k),
    "dict default": lambda s, k, v: method(s.dict, "setdefault", k, v),
    "dict pop": lambda s, k: method(s.dict, "pop", k),
    "dict in": lambda s, k: contains(k, s.dict),
    "dict length": lambda s: length(s.dict),
    "dict clear": lambda s: method(s.dict, "clear"),
    "dict items": lambda s: unpack(s.dict.items()),
    "dict update": lambda s, k: method(s.dict, "update", {k: 1}),
    "set add": lambda s, k: method(s.set, "add", k),
    "set discard": lambda s, k: method(s.set, "discard", k),
    "set in": lambda s, k: contains(k, s.set),
    "set pop": lambda s: method(s.set, "pop"),
    "store input": lambda s, v, i: s.atomics[v].store(s.input(i)),
    "input is less": lambda s, i, n: bool(s.input(i) < n),
    "inputs are equal": lambda s: bool(s.input(0) == s.input(1)),
    "inputs in order": lambda s: bool(s.input(0) < s.input(1) + 1),
    "assume input": lambda s, i, n: mazurka.assume(s.input(i) > n),
}


def check_equal(value: object, expected: object) -> None:
    assert value == expected


class Exploration:
    """What a search met: how often each trace, and with which failures."""

    def __init__(
        self,
        name: str,
        program: Program,
        independent_adds: bool,
        most: int,
        timeouts_last: bool = False,
    ) -> None:
        self.traces: Counter[Trace] = Counter()
        self.looks: list[list[Look]] = []  # those of the latest execution
        self.times: dict[Trace, set[tuple[Look, ...]]] = {}
        self.result = Result(algorithm=name)
        main = as_function(program, self.looks)
        with check_of_objects() as check, collections_noted(check):
            front_end = PythonProgram(check, main, independent_adds)
            check.runtime.timeouts_last = timeouts_last
            subject = remembered(front_end, name)
            search = Search(subject, self.result, False, most, None, None, self.observe)
            explorer = EXPLORERS[explorer_name(name)]
            self.finished = explorer(search).explore() and explore_in_parts(search, explorer)

    def observe(self, program: EngineProgram) -> None:
        if program.answer.status != REDUNDANT:
            trace = trace_of(program)
            self.traces[trace] += 1
            if is_computed(program):
                return
            self.times.setdefault(trace, set()).add(tuple(sorted(self.looks[0])))
            check_times(program.events, self.looks[0])

    @property
    def failures(self) -> set[tuple[str, ...]]:
        """The kinds of failure; which of two exceptions comes first is not a trace's to say."""
        return {
            (failure.kind, *([] if failure.kind == EXCEPTION else failure.details))
            for failure in self.result.failures
        }


def check_times(events: list[Event], looks: list[Look]) -> None:
    """Time never goes back along happens-before."""
    past: list[set[tuple[int, int]]] = []  # of each event, with itself: threads and numbers
    counts: Counter[int] = Counter()
    for position, event in enumerate(events):
        counts[event.thread] += 1
        known = {(event.thread, counts[event.thread])}
        for earlier, its_past in zip(events, past, strict=False):
            if (
                earlier.thread == event.thread
                or (earlier.location == event.location >= 0 and ordered(event, earlier))
                or (earlier.kind == SPAWN and earlier.choice == event.thread)
                or (event.kind == JOIN and earlier.thread == event.choice)
            ):
                known |= its_past
        past.append(known)
        assert len(past) == position + 1
    own = {(thread, 0): {(thread, 0)} for thread in range(len(events) + 1)}
    for event, its_past in zip(events, past, strict=True):
        if event.kind == SPAWN:
            own[event.choice, 0] = its_past
        number = max(number for thread, number in its_past if thread == event.thread)
        own[event.thread, number] = its_past
    for thread, steps, time in looks:
        for other, other_steps, other_time in looks:
            if thread != other and (thread, steps + 1) in own[other, other_steps]:
                assert time < other_time, (thread, steps, time, other, other_steps, other_time)


def has_adds_and_awaits(program: Program) -> bool:
    """Whether adds might disable an await: only then POP and TruSt may have redundant runs."""
    text = repr(program)
    added = set(re.findall(r"\('(?:add|fetch_add unused)', (\d)", text))
    awaited = set(re.findall(r"\('await[^']*', (\d)", text))
    return bool(added & awaited)


def has_inputs(program: Program) -> bool:
    return "input" in repr(program)


def disagreement(program: Program, independent_adds: bool = True, most: int = 500) -> str | None:
    """What is wrong with the searches on a program; None if nothing is, "" if it is too large.

    A program with more than `most` interleavings is too large for the oracle; Source-DPOR, which
    the papers prove to miss nothing, stands in for it.
    """
    oracle = Exploration("naive", program, independent_adds, most)
    names = ["source", "trust"]
    names += ["source remembered", "trust remembered"]
    if not has_inputs(program):  # the others do not take conditions on symbolic values
        names += ["pop remembered", "pop forgetful", "optimal remembered"]
        names += ["optimal", "pop", *QUASI_OPTIMAL, "qpor optimal"]
        if len(repr(program)) % 4 == 0:
            names += ["pop in tasks", "trust in tasks"]  # which take long
            names += ["naive in tasks"] if oracle.finished else []
    searches = [Exploration(name, program, independent_adds, 10 * most) for name in names]
    source = searches[0]
    if not oracle.finished:
        oracle = source
        if not all(search.finished for search in searches[:2]):
            return ""
    expected = set(oracle.traces)
    if any(len(times) > 1 for times in oracle.times.values()):
        return "one trace shows several times"
    for search in searches:
        name = search.result.algorithm
        if not search.finished:
            return f"{name} does not end"
        missed = len(expected - set(search.traces))
        if missed:
            return f"{name} misses {missed} of {len(expected)} traces"
        if set(search.traces) - expected:
            return f"{name} invents traces"
        if any(not times <= oracle.times[trace] for trace, times in search.times.items()):
            return f"{name} shows other times"
        if search.failures != oracle.failures:
            return f"{name} finds {search.failures}, the oracle {oracle.failures}"
        may_be_redundant = (
            "source" in name
            or name in QUASI_OPTIMAL
            or (
                name.startswith(("pop", "trust"))
                and independent_adds
                and has_adds_and_awaits(program)
            )
        )
        if search.result.redundant and not may_be_redundant:
            return f"{name} has {search.result.redundant} redundant executions"
        if name == "naive in tasks":  # which meets a trace in every interleaving
            if oracle.result.algorithm == "naive" and search.traces != oracle.traces:
                return f"{name} has other interleavings"
        elif max(search.traces.values()) > 1:
            return f"{name} explores a trace twice"
    return None


def disagreement_on_last_timeouts(program: Program, most: int = 500) -> str | None:
    """The same where timeouts come last: the naive search lets them come in its own runs, the
    others begin anew after each."""
    oracle = Exploration("naive", program, True, most, True)
    if not oracle.finished:
        return ""
    for name in ("source", "trust", "optimal", "pop", "qpor 2", "qpor optimal"):
        search = Exploration(name, program, True, 10 * most, True)
        if not search.finished:
            return f"{name} does not end"
        if set(search.traces) != set(oracle.traces):
            missed = len(set(oracle.traces) - set(search.traces))
            return f"{name} finds {len(search.traces)} traces, and misses {missed}"
        if any(not times <= oracle.times[trace] for trace, times in search.times.items()):
            return f"{name} shows other times"
        if search.failures != oracle.failures:
            return f"{name} finds {search.failures}, the oracle {oracle.failures}"
    return None
