"""Runs a program as Python does, but switches threads at bytecode instructions of its choice.

The threads are real, and one holds the baton at any time: before every instruction of the program
it may hand the baton on. Nothing here knows what Mazurka takes for a shared access.
"""

import contextvars
import dis
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, SimpleNamespace
from typing import Any

FILENAME = "<generated program>"  # of the programs, in which threads are switched

# Instructions that touch nothing but the frame that they are in: to switch before the next one
# comes to the same.
OF_THE_FRAME = {
    dis.opmap[name]
    for name in (
        "NOP", "CACHE", "RESUME", "PUSH_NULL", "COPY", "SWAP", "PRECALL", "KW_NAMES", "LOAD_CONST",
        "LOAD_FAST", "STORE_FAST", "LOAD_CLOSURE", "COPY_FREE_VARS", "MAKE_CELL", "EXTENDED_ARG",
        "JUMP_FORWARD", "PUSH_EXC_INFO", "POP_EXCEPT",
    )
    if name in dis.opmap
}  # fmt: skip


class Baton:
    """Decides which thread runs: by chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.eagerness = chance.choice([0.02, 0.1, 0.3])  # how often to switch
        self.runners: list[Runner] = []
        self.raised: list[str] = []

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not self.is_program(frame):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode" and self.is_time_to_switch(frame):
            self.hand_on()
        return self.trace

    def is_program(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename == FILENAME

    def is_time_to_switch(self, frame: FrameType) -> bool:
        return self.chance.random() < self.eagerness

    def hand_on(self) -> None:
        """Let any thread run that can, maybe this one."""
        mine = next(runner for runner in self.runners if runner.has_baton)
        ready = [runner for runner in self.runners if runner.is_ready()]
        other = self.next_of(mine, ready) if ready else mine
        if other is not mine:
            mine.has_baton, other.has_baton = False, True
            other.turn.release()
            if not mine.finished:
                mine.turn.acquire()

    def next_of(self, mine: "Runner", ready: list["Runner"]) -> "Runner":
        return self.chance.choice(ready)


class PlannedBaton(Baton):
    """Switches before those instructions, by their numbers, and wherever Python code runs."""

    def __init__(self, switches: Sequence[int]) -> None:
        super().__init__(random.Random(0))
        self.switches = switches
        self.steps = 0  # instructions so far, as long as there is somebody to switch to

    def is_program(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename != __file__

    def is_time_to_switch(self, frame: FrameType) -> bool:
        if frame.f_code.co_code[frame.f_lasti] in OF_THE_FRAME:
            return False
        if sum(not runner.finished for runner in self.runners) < 2:
            return False
        self.steps += 1
        return self.steps in self.switches

    def next_of(self, mine: "Runner", ready: list["Runner"]) -> "Runner":
        others = [runner for runner in ready if runner is not mine]
        return others[0] if others else mine


class Worker:
    """An OS thread: it takes long to make one, so they are used again."""

    def __init__(self) -> None:
        self.asked = threading.Lock()
        self.asked.acquire()
        self.job: Callable[[], object] = bool
        threading.Thread(target=self.work, daemon=True).start()

    def work(self) -> None:
        while True:
            self.asked.acquire()
            self.job()

    def do(self, job: Callable[[], object]) -> None:
        self.job = job
        self.asked.release()


IDLE: list[Worker] = []


class Runner:
    """One thread of the program."""

    def __init__(self, baton: Baton, target: Callable[[], object]) -> None:
        self.baton = baton
        self.target = target
        self.turn = threading.Lock()
        self.turn.acquire()
        self.has_baton = False
        self.started = False
        self.finished = False
        self.ended = threading.Lock()
        self.ended.acquire()
        self.awaited: Runner | None = None
        self.worker = IDLE.pop() if IDLE else Worker()
        self.result: object = None

    def is_ready(self) -> bool:
        if not self.started or self.finished:
            return False
        return self.awaited is None or self.awaited.finished

    def start(self) -> None:
        self.started = True
        self.baton.runners.append(self)
        self.worker.do(self.run)

    def join(self) -> None:
        """Called by the thread that has the baton."""
        mine = next(runner for runner in self.baton.runners if runner.has_baton)
        mine.awaited = self
        while not self.finished:
            self.baton.hand_on()
        mine.awaited = None

    def run(self) -> None:
        self.turn.acquire()
        context = contextvars.Context()  # as a new thread has
        sys.settrace(self.baton.trace)
        try:
            self.result = context.run(self.target)
        except BaseException as error:
            self.baton.raised.append(type(error).__name__)
        finally:
            sys.settrace(None)
            self.finished = True
            self.baton.hand_on()
            IDLE.append(self.worker)
            self.ended.release()


def preempted(load: Callable[[Any], Callable[[], object]], chance: random.Random) -> set[object]:
    """Run the main function of a program once: what it gives, or the exceptions of its threads."""
    baton = Baton(chance)

    def make_thread(target: Callable[[], object]) -> Runner:
        return Runner(baton, target)

    main = Runner(baton, load(SimpleNamespace(Thread=make_thread, local=threading.local)))
    main.has_baton = True
    main.start()
    main.turn.release()
    for runner in baton.runners:
        runner.ended.acquire()
    return set(baton.raised) or {main.result}


def run_together(targets: Sequence[Callable[[], object]], switches: Sequence[int]) -> int:
    """Run two functions in threads, the first one first: how many places there were to switch."""
    baton = PlannedBaton(switches)
    runners = [Runner(baton, target) for target in targets]
    for runner in runners:
        runner.start()
    runners[0].has_baton = True
    runners[0].turn.release()
    for runner in runners:
        runner.ended.acquire()
    assert not baton.raised, baton.raised
    return baton.steps


def schedules(run: Callable[[bool, Sequence[int]], int], most: int) -> Iterator[None]:
    """Call `run` with every schedule of up to two preemptions: who begins, and where to switch.
    It gives the number of places. If there are more than `most` schedules, all with one preemption
    and some with two; then some with more, at random."""
    chance = random.Random(0)
    pairs: list[tuple[bool, int, int]] = []
    longest = 0
    for swapped in (False, True):
        places = run(swapped, ())
        yield
        for first in range(1, places + 1):
            steps = run(swapped, (first,))
            longest = max(longest, steps)
            yield
            pairs += [(swapped, first, second) for second in range(first + 1, steps + 1)]
    if len(pairs) > most:
        pairs = chance.sample(pairs, most)
    for swapped, first, second in pairs:
        run(swapped, (first, second))
        yield
    for _ in range(most // 4 if longest > 3 else 0):
        count = chance.randint(3, min(6, longest))
        run(chance.random() < 0.5, sorted(chance.sample(range(1, longest + 1), count)))
        yield
