"""Runs a program as Python does, but switches threads at bytecode instructions of its choice.

The threads are real, and one holds the baton at any time: before every instruction of the program
it may hand the baton on. Nothing here knows what Mazurka takes for a shared access.
"""

import random
import sys
import threading
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

FILENAME = "<generated program>"  # of the programs, in which threads are switched


class Baton:
    """Decides which thread runs."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.eagerness = chance.choice([0.02, 0.1, 0.3])  # how often to switch
        self.runners: list[Runner] = []
        self.raised: list[str] = []

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != FILENAME:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode" and self.chance.random() < self.eagerness:
            self.hand_on()
        return self.trace

    def hand_on(self) -> None:
        """Let any thread run that can, maybe this one."""
        mine = next(runner for runner in self.runners if runner.has_baton)
        ready = [runner for runner in self.runners if runner.is_ready()]
        other = self.chance.choice(ready) if ready else mine
        if other is not mine:
            mine.has_baton, other.has_baton = False, True
            other.turn.release()
            if not mine.finished:
                mine.turn.acquire()


class Runner:
    """One thread of the program."""

    def __init__(self, baton: Baton, target: Callable[[], object]) -> None:
        self.baton = baton
        self.target = target
        self.turn = threading.Semaphore(0)
        self.has_baton = False
        self.started = False
        self.finished = False
        self.awaited: Runner | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.result: object = None

    def is_ready(self) -> bool:
        if not self.started or self.finished:
            return False
        return self.awaited is None or self.awaited.finished

    def start(self) -> None:
        self.started = True
        self.baton.runners.append(self)
        self.thread.start()

    def join(self) -> None:
        """Called by the thread that has the baton."""
        mine = next(runner for runner in self.baton.runners if runner.has_baton)
        mine.awaited = self
        while not self.finished:
            self.baton.hand_on()
        mine.awaited = None

    def run(self) -> None:
        self.turn.acquire()
        sys.settrace(self.baton.trace)
        try:
            self.result = self.target()
        except BaseException as error:
            self.baton.raised.append(type(error).__name__)
        finally:
            sys.settrace(None)
            self.finished = True
            self.baton.hand_on()


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
        runner.thread.join()
    return set(baton.raised) or {main.result}
