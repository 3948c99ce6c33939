"""The queues of `queue`, in as many parts as their users leave apart.

With tickets, those who put and those who get each take numbers, and have to do with each other only
where their numbers meet: a put fills a place, and a get waits for its place to be filled. What is
unfinished is counted beside, by adds that commute. But whoever looks how many items there are, or
gives up when there is none, looks at all of them: for him the items are one thing. And whoever
looks at items and count together, or calls `task_done` for somebody else, needs a queue that is one
thing altogether (queues.py). Which of these a queue has to be shows while the program runs; then
the search begins anew.
"""

from typing import Any, Final, NamedTuple, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import ADD_TO, FETCH_ADD, STORE, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.primitives.futures import running_thread
from mazurka.python.primitives.queues import Queue, QueueState, is_timed
from mazurka.python.primitives.slots import Slot, Slots
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import Cell, ThreadNames
from mazurka.python.source import place_of_line

# How much of a queue is one thing.
TICKETS: Final = 0
ITEMS: Final = 1
WHOLE: Final = 2

TAKEN: Final = "taken"  # in place of what was in a place


class Filled(NamedTuple):
    """What is in a place of a queue."""

    item: Any


class Puts(SharedObject):
    """The number of the next put."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"put {name}"


class Gets(SharedObject):
    """The number of the next get."""

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return False  # but when it is there


class Place(Slot):
    """What a put fills, and a get empties."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"get {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return event.kind == WAIT and event.before is not TAKEN

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        if isinstance(self.value, Filled):
            return f"to put {name}, which is full"
        return f"to get {name}, which is []"


class Unfinished(SharedObject):
    """How many items are not marked as done."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"task_done {name}" if event.kind == ADD_TO else f"wait {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return event.kind != ADD_TO or cast(int, event.first) < 0

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"for {name}, of which {self.value} are not done"


class Tickets:
    """The items of a queue with numbers."""

    def __init__(self, maxsize: int, items: tuple[object, ...], name: str | None) -> None:
        self.maxsize = maxsize
        self.puts = Puts(len(items), name)
        self.gets = Gets(0, name, self.puts)
        self.places = Slots(self.puts, Place, [Filled(item) for item in items])

    def next_put(self) -> int:
        """Take a number, and wait until there is room for it."""
        number = cast(int, perform(FETCH_ADD, self.puts, 1, None))
        if 0 < self.maxsize <= number:
            perform(WAIT, self.places.at(number - self.maxsize), is_taken, None)
        return number

    def fill(self, number: int, item: object) -> None:
        perform(STORE, self.places.at(number), Filled(item), None)

    def get(self) -> object:
        number = cast(int, perform(FETCH_ADD, self.gets, 1, None))
        place = self.places.at(number)
        item = cast(Filled, perform(WAIT, place, is_there, None)).item
        if self.maxsize > 0:
            perform(STORE, place, TAKEN, None)
        return item


class StandardQueue:
    """A queue of the standard library."""

    def __init__(
        self,
        kind: type[Queue] = Queue,
        maxsize: int = 0,
        name: str | None = None,
        state: QueueState | None = None,
    ) -> None:
        self.maxsize = maxsize
        self.site = name or place_of_line()
        self.epoch = 0
        self.credits: dict[int, int] = {}  # what each thread has got, and not marked as done
        state = state or QueueState((), 0, False)
        self.level = RUNNING.check.models.queues.get(self.site, TICKETS)
        if kind is not Queue:
            self.level = max(self.level, ITEMS)
        if state.shut_down or (maxsize > 0 and self.level == ITEMS):
            self.level = WHOLE
        if self.level == TICKETS:
            self.tickets = Tickets(maxsize, state.items, name)
            whole: SharedObject = self.tickets.puts
        else:
            self.queue = kind(maxsize, name)
            self.queue.value = self.queue.initial = state
            whole = self.queue
        if self.level != WHOLE:
            self.unfinished = Unfinished(state.unfinished, name, whole)

    def needs(self, level: int) -> None:
        """The program does something that a queue in smaller parts cannot do."""
        if self.level < level:
            models = RUNNING.check.models
            models.queues[self.site] = max(level, models.queues.get(self.site, TICKETS))
            RUNNING.check.objects.stop_search()

    def put(self, item: Any, block: int = True, timeout: float | None = None) -> None:
        may_give_up = not block or is_timed(timeout)
        if may_give_up and self.maxsize > 0:
            self.needs(WHOLE)
        if self.level != TICKETS:
            self.put_whole(item, block, timeout)
            return
        RUNNING.check.runtime.give_away(item)
        if self.maxsize > 0:
            number = self.tickets.next_put()
            self.count(1)
        else:
            self.count(1)
            number = self.tickets.next_put()
        self.tickets.fill(number, item)

    def put_whole(self, item: object, block: int, timeout: float | None) -> None:
        if self.level == WHOLE:
            self.queue.put(item, block, timeout)
            return
        self.count(1)  # before it can be marked as done
        try:
            self.queue.put(item, block, timeout)
        except Exception:  # of items that cannot be compared
            self.count(-1)
            raise

    def get(self, block: int = True, timeout: float | None = None) -> Any:
        if not block or is_timed(timeout):
            self.needs(ITEMS)
        item = self.tickets.get() if self.level == TICKETS else self.queue.get(block, timeout)
        self.add_credit(1)
        return item

    def put_nowait(self, item: Any) -> None:
        self.put(item, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def count(self, amount: int) -> None:
        perform(ADD_TO, self.unfinished, amount, None)

    def add_credit(self, amount: int) -> None:
        epoch = RUNNING.check.runtime.epoch
        if self.epoch != epoch:
            self.epoch = epoch
            self.credits = {}
        thread = running_thread()
        self.credits[thread] = self.credits.get(thread, 0) + amount

    def task_done(self) -> None:
        """A thread that has got more than it has marked as done cannot mark too many."""
        self.add_credit(-1)
        if self.credits[running_thread()] < 0:
            self.needs(WHOLE)
        if self.level == WHOLE:
            self.queue.task_done()
        else:
            self.count(-1)

    def join(self) -> None:
        if self.level == WHOLE:
            self.queue.join()
        else:
            perform(WAIT, self.unfinished, is_zero, None)

    def shutdown(self, immediate: bool = False) -> None:
        self.needs(WHOLE)
        self.queue.shutdown(immediate)

    def qsize(self) -> int:
        self.needs(ITEMS)
        return self.queue.qsize()

    def empty(self) -> bool:
        self.needs(ITEMS)
        return self.queue.empty()

    def full(self) -> bool:
        self.needs(ITEMS)
        return self.queue.full()

    def state(self, level: int) -> QueueState:
        self.needs(level)
        return self.queue.state()


class SimpleQueue(StandardQueue):
    """`queue.SimpleQueue`, which counts nothing."""

    def count(self, amount: int) -> None:
        pass


def perform(kind: int, cell: Cell, first: object, second: object) -> Any:
    return RUNNING.check.runtime.perform(kind, cell, first, second)


def is_there(value: object) -> bool:
    return isinstance(value, Filled)


def is_taken(value: object) -> bool:
    return value is TAKEN


def is_zero(value: int) -> bool:
    return value == 0
