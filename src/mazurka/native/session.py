"""A C program while it is checked: compiled, loaded, searched in a process of its own."""

import os
import pickle
import shutil
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mazurka.engine.errors import MazurkaError
from mazurka.engine.linearizable import Judge
from mazurka.engine.memory_use import rare_collections
from mazurka.engine.result import Result
from mazurka.engine.task import Outdated
from mazurka.native.c_program import CProgram
from mazurka.native.compiling import Compiled, compiled
from mazurka.native.debug_information import bit_fields, fixed_thread_locals
from mazurka.native.known_functions import ASSUMING_FUNCTIONS, ATOMIC_FUNCTIONS
from mazurka.native.naming import Names
from mazurka.native.program import Anew, Manner, NativeProgram
from mazurka.native.runtime_library import THREADS_KNOWN, Library

T = TypeVar("T")

MOST_SEARCHES = 1000


@contextmanager
def loaded(made: Compiled, program: CProgram) -> Iterator[tuple[Library, Names]]:
    library = Library(made.library, program.args)
    for kind, names in enumerate((ATOMIC_FUNCTIONS, ASSUMING_FUNCTIONS)):
        library.know_functions(kind, made.debug.code_of(names))
    try:
        yield library, Names(library, made.debug)
    finally:
        library.close()


@contextmanager
def compiled_in_a_folder(program: CProgram, opaque: Sequence[str] = ()) -> Iterator[Compiled]:
    folder = tempfile.mkdtemp(prefix="mazurka-")
    try:
        made = compiled(program, Path(folder), opaque)
        refuse_fixed_thread_locals(program, made)
        refuse_unknown_functions(program, made)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_fixed_thread_locals(program: CProgram, made: Compiled) -> None:
    if any(fixed_thread_locals(part) for part in made.objects):
        raise MazurkaError(
            f"{program.file} has thread-local variables at fixed places: leave out "
            "-ftls-model, and flags like it"
        )


def refuse_unknown_functions(program: CProgram, made: Compiled) -> None:
    """Whatever might block, or have state of its own, must be in our runtime."""
    if made.unknown:
        names = ", ".join(made.unknown)
        raise MazurkaError(
            f"{program.file} calls {names}: Mazurka does not know what that does, and so cannot "
            f"check the program. If it neither blocks nor has state that threads share, say so: "
            f"--opaque {made.unknown[0]}"
        )


def unseen_neighbours(made: Compiled) -> list[str]:
    """To write a bit-field also reads those beside it, and writes them again. The compiler tells of
    the write alone, which is all that data races need, but not of all that is done."""
    return [
        f"{place} has a bit-field: that writing it also reads and writes those beside it is not "
        "seen where accesses are steps (check with granularity='sync')"
        for place in bit_fields(made.library)
    ]


@dataclass(frozen=True)
class NativeSession:
    """How a C program is to be run: `mazurka.explore` says what the options mean."""

    program: CProgram
    manner: Manner
    step_limit: float
    progress: Callable[[Result], None] | None
    opaque: Sequence[str] = ()  # functions that do no harm
    warnings: list[str] = field(default_factory=list)  # what was not seen
    threads: list[int] = field(default_factory=list)  # how many each search has met
    senders: list[Callable[[Result], None]] = field(default_factory=list)  # in the worker

    def warned(self) -> list[str]:
        """What is not seen."""
        return self.warnings

    def look(self, modules: int) -> None:
        """No code comes up later."""

    def tell(self, result: Result) -> None:
        """How far the search is; called in the worker."""
        self.senders[-1](result)

    def run(
        self,
        search: Callable[[NativeProgram], T],
        learnt: dict[str, list[str]],
        begins_anew: bool = True,
    ) -> T:
        """Run a search in a process of its own: no program takes this one down."""
        with compiled_in_a_folder(self.program, self.opaque) as made:
            self.warnings.extend(made.unseen)
            if self.manner.granularity != "sync":
                self.warnings.extend(unseen_neighbours(made))

            def work(tell: Callable[[Result], None]) -> tuple[T, int]:
                self.senders.append(tell)
                return self.searched(made, search, learnt, begins_anew)

            found, threads = in_a_worker(work, self.progress)
            self.threads.append(threads)
            return found

    def searched(
        self,
        made: Compiled,
        search: Callable[[NativeProgram], T],
        learnt: dict[str, list[str]],
        begins_anew: bool,
    ) -> tuple[T, int]:
        """Search, again whenever threads turn out to share something more."""
        with loaded(made, self.program) as (library, names), rare_collections():
            library.set_limit(self.step_limit)
            for _ in range(MOST_SEARCHES):
                program = NativeProgram(library, names, self.manner)
                if self.program.specification is not None:
                    program.judge = Judge(self.program.specification, program.values)
                program.learn(learnt)
                try:
                    found = search(program)
                    return found, library.state[THREADS_KNOWN]
                except Anew:
                    names.locations.clear()
                    if not begins_anew:
                        library.functions.mz_begin_search()
                        raise Outdated(program.learnt()) from None
            raise MazurkaError(
                f"the program was begun anew {MOST_SEARCHES} times, and still threads share more "
                "than before"
            )


# Workers


def in_a_worker(
    work: Callable[[Callable[[Result], None]], T], progress: Callable[[Result], None] | None
) -> T:
    """What some work gives in a process of its own, which tells how far it is."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(reading)
        run_worker(work, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as messages:
            found: T = received(messages, progress)
            return found
    except BaseException:
        os.kill(worker, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(worker, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
            name = signal.strsignal(os.WTERMSIG(status))
            sys.stderr.write(f"the process that ran the program has ended: {name}\n")


def received(messages: Any, progress: Callable[[Result], None] | None) -> Any:
    while True:
        size = messages.read(8)
        if len(size) < 8:
            raise MazurkaError(
                "the program has taken down the process that ran it: it cannot be checked"
            )
        word, thing = pickle.loads(messages.read(struct.unpack("Q", size)[0]))
        if word == "progress" and progress is not None:
            progress(thing)
        elif word == "found":
            return thing
        elif word == "raised":
            raise thing


def run_worker(work: Callable[[Callable[[Result], None]], object], writing: int) -> None:
    """The life of a worker. It never comes back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent knows what to do

    def send(word: str, thing: object) -> None:
        message = pickle.dumps((word, thing))
        message = struct.pack("Q", len(message)) + message
        while message:
            message = message[os.write(writing, message) :]

    try:
        try:
            send("found", work(lambda result: send("progress", result)))
        except Exception as error:
            send("raised", portable(error))
    except OSError:  # nobody listens any more
        pass
    finally:
        os._exit(0)


def portable(error: Exception) -> Exception:
    """An exception that another process can raise."""
    if isinstance(error, MazurkaError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)))
