"""Names of threads and locations of a C program, for other processes and for people.

A thread is its parent and which child it is. A location is a variable and an offset in it, or an
offset in the heap or on the stack of a thread: these are the same wherever the program runs.
"""

from collections.abc import Sequence

from mazurka.engine.errors import MazurkaError
from mazurka.native.debug_information import DebugInformation
from mazurka.native.runtime_library import LOCATIONS_KNOWN, Library

# Where things of threads are: runtime/fibers.c, memory.c and heap.c.
STACKS, STACK_SIZE = 0x600000000000, 8 << 20
LOCALS = 0x610000000000
HEAPS, HEAP_SIZE = 0x620000000000, 256 << 20
MOST_THREADS = 256


class Names:
    def __init__(self, library: Library, debug: DebugInformation) -> None:
        self.library = library
        self.debug = debug
        self.threads: dict[int, str] = {0: "0"}
        self.numbers: dict[str, int] = {"0": 0}
        self.locations: dict[int, str] = {}
        self.lineages: dict[int, list[int]] = {}

    # Threads

    def thread(self, number: int) -> str:
        name = self.threads.get(number)
        if name is None:
            at = number * self.library.thread_size
            parent, order = self.library.threads[at + 1], self.library.threads[at + 2]
            name = self.threads[number] = f"{self.thread(parent)}.{order + 1}"
            self.numbers[name] = number
        return name

    def thread_called(self, name: str) -> int:
        if name not in self.numbers:
            parent, _, order = name.rpartition(".")
            find = self.library.functions.mz_thread_called
            number = find(self.thread_called(parent), int(order) - 1)
            if number < 0:
                raise MazurkaError("the program has more threads than can be checked")
            self.thread(number)
        return self.numbers[name]

    def lineage(self, number: int) -> list[int]:
        found = self.lineages.get(number)
        if found is None:
            found = self.lineages[number] = [int(order) for order in self.thread(number).split(".")]
        return found

    # Locations

    def location(self, number: int) -> str:
        name = self.locations.get(number)
        if name is None:
            name = self.locations[number] = self.address(self.library.locations[number * 3])
        return name

    def address(self, address: int) -> str:
        """The name of an address. It must be that of the same thing in every process."""
        areas: Sequence[tuple[str, int, int]] = (
            ("stack", STACKS, STACK_SIZE),
            ("heap", HEAPS, HEAP_SIZE),
        )
        for area, begin, size in areas:
            thread, offset = divmod(address - begin, size)
            if 0 <= thread < MOST_THREADS:
                return f"{area} of {self.thread(thread)}+{offset}"
        variable = self.debug.variable_at(address - self.library.base)
        if variable is not None and variable.name != "futexes":
            return f"{variable.name}+{address - self.library.base - variable.address}"
        return self.other_address(address)

    def other_address(self, address: int) -> str:
        size = self.library.thread_size * 8
        thread, offset = divmod(address - self.library.address("mz_threads"), size)
        if 0 <= thread < MOST_THREADS:
            return f"waiter {self.thread(thread)}+{offset}"
        thread, offset = divmod(address - LOCALS, self.library.number("mz_size_of_locals") or 1)
        if 0 <= thread < MOST_THREADS:
            return f"locals of {self.thread(thread)}+{offset}"
        word = self.library.futex_at(address)
        if word:
            return f"waiters of {self.address(word)}"
        return f"object+{address - self.library.base}"

    def shared(self) -> list[str]:
        """The locations that are known, and their sizes: below 0 for locks and atomics."""
        table = self.library.locations
        found = []
        for number in range(self.library.state[LOCATIONS_KNOWN]):
            if table[number * 3 + 1]:
                size = table[number * 3 + 1] * (-1 if table[number * 3 + 2] else 1)
                found.append(f"{self.location(number)}:{size}")
        return found

    def know(self, name: str) -> None:
        """A location of another process is one here, too."""
        place, _, size = name.rpartition(":")
        self.library.know(self.address_of(place), int(size))
        self.locations.clear()

    def address_of(self, name: str) -> int:
        if name.startswith("waiters of "):
            return self.library.futex_waiters(self.address_of(name.removeprefix("waiters of ")))
        area, _, offset = name.rpartition("+")
        return self.begin_of(area) + int(offset)

    def begin_of(self, area: str) -> int:
        kind, _, thread = area.rpartition(" of ")
        if kind == "stack":
            return STACKS + self.thread_called(thread) * STACK_SIZE
        if kind == "heap":
            return HEAPS + self.thread_called(thread) * HEAP_SIZE
        if kind == "locals":
            size = self.library.number("mz_size_of_locals")
            return LOCALS + self.thread_called(thread) * size
        if area.startswith("waiter "):
            size = self.library.thread_size * 8
            return self.library.address("mz_threads") + self.thread_called(area[7:]) * size
        variable = self.debug.by_name.get(area)
        if area == "object":
            return self.library.base
        if variable is None:
            raise MazurkaError(f"the program has no variable {area} any more")
        return self.library.base + variable.address
