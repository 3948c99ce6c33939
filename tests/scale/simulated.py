"""Workers without processes: what they do comes in any order, and they die at any moment."""

from collections import Counter, deque
from collections.abc import Callable
from random import Random

from greenlet import getcurrent, greenlet

from mazurka.engine.result import Result
from mazurka.engine.search import Explorer, Search
from mazurka.engine.task import Task
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.scale.driver import Driver
from mazurka.scale.ledger import Ledger
from mazurka.scale.messages import FIRST
from mazurka.scale.worker import Worker
from tests.conformance.oracle import Program
from tests.conformance.searches import trace_of
from tests.conformance.toy import ToyProgram


class TracedProgram(ToyProgram):
    """A toy program of which the outcomes are traces."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.size = len(program)

    def outcome(self) -> object:
        return trace_of(self.events, self.size)


class EagerWorker(Worker):
    """It looks at its messages after every execution."""

    def look(self, result: Result) -> None:
        super().look(result)
        assert self.current is not None
        self.current.search.until_clock = 1


class Mailbox:
    """A channel of which one end is run by hand."""

    def __init__(self) -> None:
        self.inbox: deque[object] = deque()
        self.outbox: deque[object] = deque()
        self.others = getcurrent()

    def send(self, message: object) -> None:
        self.outbox.append(message)

    def receive(self) -> object:
        while not self.inbox:
            self.others.switch()
        return self.inbox.popleft()

    def poll(self) -> bool:
        self.others.switch()
        return bool(self.inbox)


class SimulatedCrew:
    def __init__(self, random: Random, worker_of: Callable[[Mailbox], Worker], deaths: int) -> None:
        self.random = random
        self.worker_of = worker_of
        self.deaths = deaths  # how many may still come
        self.boxes: dict[int, Mailbox] = {}
        self.lives: dict[int, greenlet] = {}
        self.hired = 0

    def hire(self) -> int:
        self.hired += 1
        box = Mailbox()
        self.boxes[self.hired] = box
        self.lives[self.hired] = greenlet(self.worker_of(box).serve)
        return self.hired

    def send(self, worker: int, message: object) -> None:
        if worker in self.boxes:
            self.boxes[worker].inbox.append(message)

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        worker = self.random.choice(list(self.boxes))
        box, life = self.boxes[worker], self.lives[worker]
        for _ in range(self.random.choice([1, 1, 5])):
            if not life.dead:
                life.switch()
        is_dead = self.deaths > 0 and self.random.random() < 0.1
        if is_dead:
            self.deaths -= 1
            life.throw()
            life.throw()
        ends: list[object] = [None] if is_dead else []
        found = [(worker, message) for message in [*box.outbox, *ends]]
        box.outbox.clear()
        return found

    def dismiss(self, worker: int) -> None:
        del self.boxes[worker]
        life = self.lives.pop(worker)
        if not life.dead:
            life.throw()


def search_of(program: ToyProgram, algorithm: str, stops: bool) -> Search:
    return Search(program, Result(algorithm=algorithm), stops, None, None, None)


def in_one_process(program: Program, algorithm: str, stops: bool) -> Result:
    search = search_of(TracedProgram(program), algorithm, stops)
    ALGORITHMS[algorithm](search).explore()
    search.result.outcomes = Counter(search.outcomes)
    return search.result


def by_workers(
    program: Program,
    algorithm: str,
    stops: bool,
    seed: int,
    most: int = -1,
    deaths: int = 3,
    first: Ledger | None = None,
    watch: Callable[[Driver], str] = lambda driver: "",
) -> Ledger:
    """The ledger of a search by some workers."""
    random = Random(seed)
    now = [0.0]

    def clock() -> float:
        now[0] += random.random()
        return now[0]

    def worker_of(box: Mailbox) -> Worker:
        subject = TracedProgram(program)

        def explorer_of(task: Task) -> Explorer:
            search = search_of(subject, algorithm, stops)
            explorer = ALGORITHMS[algorithm](search)
            if not task.is_whole:
                explorer.take_up(Task.from_json(task.to_json()))
            return explorer

        return EagerWorker(box, explorer_of, clock=clock)

    ledger = first
    if ledger is None:
        ledger = Ledger(stops, most)
        ledger.results[FIRST] = Result(algorithm=algorithm)
        ledger.add([((0,), Task(algorithm))])
    crew = SimulatedCrew(random, worker_of, deaths)
    Driver(ledger, crew, random.choice([1, 2, 5]), watch, clock).run()
    return ledger
