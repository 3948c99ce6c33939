"""A program that is loaded with its runtime: the functions and tables of runtime/state.h."""

import ctypes
from pathlib import Path
from typing import Any, Final

from mazurka.engine.errors import MazurkaError

# Where the numbers of `struct runtime` are that Python writes or reads.
KEEP: Final = 0
PLAN_END: Final = 1
POLICY: Final = 2
FIRST: Final = 3
WATCHES_STEPS: Final = 4
ALL_STAND: Final = 5
MAX_EVENTS: Final = 6
SLEEPERS: Final = 7
WATCHED: Final = 8
ANSWER: Final = 9
POSITION: Final = 10
STOPPED: Final = 11
HAS_NEWS: Final = 13
IS_REFUSED: Final = 14
EXITED: Final = 15
EXIT_CODE: Final = 16
ASKED_THREAD: Final = 17
LOCATIONS_KNOWN: Final = 18
THREADS_KNOWN: Final = 19
OUTPUT_SIZE: Final = 20
FIRST_FAILED: Final = 21
UNFINISHED: Final = 22
ONLY_SYNC: Final = 23
HAS_RACE: Final = 24
SAME: Final = 25
FILLING: Final = 26
FILLED: Final = 27
UNROLL: Final = 28
KEEPS_ROUNDS: Final = 29
OUT_OF_ROUNDS: Final = 30
FEW_VALUES: Final = 31
PRINTED_ADDRESS: Final = 32
INDEPENDENT_ADDS: Final = 33
REPEATS_CHOICES: Final = 34
STATE_SIZE: Final = 35
RACE_SIZE: Final = 8  # of `struct race`
STEP_SIZE: Final = 15  # of `struct step`, in numbers
SLEEPER_SIZE: Final = 5
MOST_THREADS: Final = 256
MOST_STEPS: Final = 1 << 22
MOST_LOCATIONS: Final = 1 << 22
MOST_SLEEPERS: Final = 1 << 16


class Library:
    """The loaded program. There can be one at a time in a process: its addresses are fixed."""

    def __init__(self, path: Path, arguments: list[str]) -> None:
        try:
            self.functions: Any = ctypes.PyDLL(str(path))  # nobody else is let run meanwhile
        except OSError as error:
            raise MazurkaError(f"the compiled program cannot be loaded: {error}") from error
        functions = self.functions
        texts = [b"program", *[argument.encode() for argument in arguments]]
        self.arguments = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
        the_c_library = ctypes.CDLL(None)
        lent = [getattr(the_c_library, name) for name in ("regcomp", "regexec", "regfree")]
        functions.mz_know_expressions(*[ctypes.cast(one, ctypes.c_void_p) for one in lent])
        functions.mz_open.restype = ctypes.c_char_p
        refusal = functions.mz_open(len(texts), self.arguments)
        if refusal:
            raise MazurkaError(refusal.decode())
        self.known_functions: dict[int, ctypes.Array[ctypes.c_int64]] = {}
        self.state = self.table("mz_runtime", STATE_SIZE)
        self.steps = self.table("mz_steps", MOST_STEPS * STEP_SIZE)
        self.asked = self.table("mz_asked", MOST_STEPS)
        self.told = self.table("mz_told", MOST_STEPS)
        for name in ("mz_run", "mz_go_on"):
            getattr(functions, name).restype = ctypes.c_int64
        self.sleep = self.table("mz_sleep", MOST_SLEEPERS * SLEEPER_SIZE)
        self.enabled = self.table("mz_enabled", MOST_STEPS * 16)
        self.locations = self.table("mz_locations", MOST_LOCATIONS * 3)
        self.thread_size = self.number("mz_size_of_thread") // 8
        self.standing_at = self.number("mz_standing_offset") // 8
        self.status_at = self.number("mz_failure_offset") // 8
        self.threads = self.table("mz_threads", MOST_THREADS * self.thread_size)
        self.watches = self.table("mz_watches", MOST_STEPS)
        self.ranks = self.table("mz_ranks", MOST_THREADS)
        self.race = self.table("mz_race_found", RACE_SIZE)
        self.base = self.number("mz_base_address")

    def address(self, name: str) -> int:
        function = getattr(self.functions, name)
        function.restype = ctypes.c_void_p
        found: int = function()
        return found

    def number(self, name: str) -> int:
        function = getattr(self.functions, name)
        function.restype = ctypes.c_int64
        found: int = function()
        return found

    def table(self, name: str, length: int) -> memoryview:
        """A table of numbers, where it lies."""
        array = (ctypes.c_int64 * length).from_address(self.address(name))
        return memoryview(array).cast("B").cast("q")

    def text(self, name: str) -> str:
        function = getattr(self.functions, name)
        function.restype = ctypes.c_char_p
        found: bytes = function()
        return found.decode(errors="replace")

    def output(self, size: int) -> str:
        """What the program has printed."""
        return ctypes.string_at(self.address("mz_output"), size).decode(errors="replace")

    def block_at(self, address: int) -> tuple[int, int, int] | None:
        """The block of the heap that an address is in: its own address, its size, and the place in
        the code that made it."""
        size, place = ctypes.c_int64(), ctypes.c_int64()
        function = self.functions.mz_block_at
        function.restype = ctypes.c_int64
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        block = function(address, ctypes.byref(size), ctypes.byref(place))
        return (block, size.value, place.value) if block else None

    def unfreed(self, most: int = 1000) -> list[tuple[int, int]]:
        """The blocks of the heap that were never freed: where they were made, and their sizes."""
        places, sizes = (ctypes.c_int64 * most)(), (ctypes.c_int64 * most)()
        function = self.functions.mz_unfreed
        function.restype = ctypes.c_int64
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        found = min(function(places, sizes, most), most)
        return list(zip(places[:found], sizes[:found], strict=True))

    def function_of(self, thread: int) -> int:
        """Where the function of a thread begins."""
        function = self.functions.mz_function_of
        function.restype = ctypes.c_int64
        found: int = function(thread)
        return found

    def futex_at(self, address: int) -> int:
        """The futex of which a set of waiting threads is at an address, or 0."""
        return self.number_for("mz_futex_at", address)

    def futex_waiters(self, address: int) -> int:
        """Where the set of threads that wait for a futex is."""
        return self.number_for("mz_futex_waiters", address)

    def number_for(self, name: str, address: int) -> int:
        function = getattr(self.functions, name)
        function.restype = ctypes.c_int64
        function.argtypes = [ctypes.c_void_p]
        found: int = function(address)
        return found

    def know(self, address: int, size: int) -> None:
        """Some bytes are shared by threads."""
        function = self.functions.mz_know
        function.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        function(address, size)

    def know_functions(self, kind: int, code: list[tuple[int, int]]) -> None:
        """Where the code of functions of a kind is: runtime/sections.c."""
        places = [place for pair in code for place in pair]
        table = self.known_functions[kind] = (ctypes.c_int64 * len(places))(*places)
        function = self.functions.mz_know_functions
        function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int64]
        function(kind, table, len(code))

    def set_limit(self, seconds: float) -> None:
        function = self.functions.mz_set_limit
        function.argtypes = [ctypes.c_double]
        function(seconds)

    def close(self) -> None:
        self.functions.mz_close()
        import _ctypes

        tables = ("state", "steps", "asked", "told", "sleep", "enabled", "locations", "threads")
        for name in (*tables, "watches", "ranks", "race"):
            setattr(self, name, None)
        _ctypes.dlclose(self.functions._handle)
