"""Turns a run that failed into a Failure: what happened, step by step, in words."""

import re
from collections import Counter
from collections.abc import Callable
from typing import cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD_TO,
    APPEND,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    CHOOSE,
    COMPARE_EXCHANGE,
    EXCHANGE,
    FETCH_ADD,
    FIRST_ON_PARTS,
    INDEX_READ,
    INDEX_SET,
    ITEM_INSERT,
    ITEM_READ,
    ITEM_SET,
    JOIN,
    LENGTH,
    LOAD,
    NONE,
    NOTIFY,
    QUEUE_SHUTDOWN,
    READ,
    READ_WHOLE,
    SPAWN,
    STORE,
    TAKE,
    UNKNOWN,
    VERBS,
    WAIT,
    WRITE,
)
from mazurka.engine.program import Program
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    STUCK,
    TOO_LONG,
    Failure,
    Schedule,
    Step,
)
from mazurka.python.check import RUNNING
from mazurka.python.loops.rounds import Loop, found_circle
from mazurka.python.loops.waiting import CONTAINS, LENGTH_OF, TRUTH, Fails, Looked
from mazurka.python.memory.shapes import MISSING, is_memory, plain_length
from mazurka.python.operations import View
from mazurka.python.primitives.barriers import OPEN
from mazurka.python.primitives.loop_inbox import Handed, Inbox
from mazurka.python.runtime.race_detector import Access, Race
from mazurka.python.runtime.runtime import (
    DIVERGED,
    IN_A_CIRCLE,
    INTERRUPTED,
    NOTHING,
    POLLING,
)
from mazurka.python.runtime.runtime import TOO_LONG as ENDLESS
from mazurka.python.runtime.standard_thread import Life
from mazurka.python.runtime.thread import Identity, Thread
from mazurka.python.source import assigned_name, place, raised_at, source_line

LONGEST_VALUE = 60
WHERE_TO_LOOK = (
    "look for clocks, random numbers, hashes, input, or state that is kept between executions"
)
MADE_BY = re.compile(r"([0-9.]+)[#@]([0-9]+)")  # a thread, and its count
ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # which is another one in every run


class Account:
    """Names for the threads and objects of one run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = thread_names()
        self.objects = object_names(program)

    def thread(self, id: int) -> str:
        return self.names.get(id, "a thread that does not exist")

    def step(self, event: Event) -> Step:
        file, line = self.place(event)
        source = source_line(file, line) if file else ""
        return Step(self.thread(event.thread), self.action(event), file, line, source)

    def place(self, event: Event) -> tuple[str, int]:
        """The file and line of an event."""
        return place(*RUNNING.check.runtime.places.at(event.place))

    def step_of_access(self, access: Access, name: str) -> Step:
        """An access that is no event."""
        file, line = place(access.code, access.instruction)
        source = source_line(file, line) if file else ""
        action = f"{'write' if is_write(access) else 'read'} {name}"
        return Step(self.thread(access.thread), action, file, line, source)

    def action(self, event: Event) -> str:
        """What an event did, in words."""
        runtime = RUNNING.check.runtime
        kind = event.kind
        if kind == SPAWN or kind == JOIN:
            return f"{VERBS[kind]} {self.thread(event.choice)}"
        if kind == CHOOSE and isinstance(event.second, tuple):  # of an event loop: what it may do
            return str(event.second[event.choice])
        if kind == CHOOSE:
            if not isinstance(event.first, int):
                return f"{event.first} is {'false' if event.choice else 'true'}"
            return f"choose alternative {event.choice + 1} of {event.alternatives}"
        name = self.objects[event.location]
        if runtime.locations[event.location].part_of >= 0:
            return self.part_action(event, name)
        if kind >= FIRST_ON_PARTS:
            return item_action(event, name)
        if kind == AWAIT_PART:
            return awaited_action(event, name)
        if not runtime.locations[event.location].type_name:
            return variable_action(event, name)
        if runtime.locations[event.location].type_name == "Inbox":
            return inbox_action(event, name)
        before = show(event.before)
        if runtime.locations[event.location].type_name == "Ended":
            return f"{'end' if kind == STORE else 'look whether it has ended:'} {name}"
        if kind == LOAD:
            return f"load {name}: {before}"
        if kind == STORE:
            return f"store {show(event.first)} to {name}"
        if kind == ADD_TO or kind == FETCH_ADD:
            return f"{VERBS[kind]} {show(event.first)} to {name}: {before} -> {show(event.after)}"
        if kind == COMPARE_EXCHANGE and event.mode != WRITE:
            return f"compare_exchange {name}: fails, {before} is not {show(event.first)}"
        if kind == EXCHANGE or kind == COMPARE_EXCHANGE or kind == AWAIT_EXCHANGE:
            return f"{VERBS[kind]} {name}: {before} -> {show(event.after)}"
        if kind == AWAIT:
            return f"await {name}: {before}"
        if event.mode != WRITE:
            return f"{VERBS[kind]} {name}: no change"
        return f"{VERBS[kind]} {name}"

    def part_action(self, event: Event, name: str) -> str:
        """What an event did to a part of a condition or barrier, which the user does not see."""
        runtime = RUNNING.check.runtime
        location = runtime.locations[event.location]
        if location.type_name == "Waiter":
            if event.kind == NOTIFY:
                waiter = runtime.thread_called(location.name.partition("#")[0])
                return f"notify {self.thread(waiter)} on {name}"
            return f"wait on {name}: {'notified' if event.before else 'timed out'}"
        if event.kind == NOTIFY:
            return f"{'open' if event.first == OPEN else 'break'} {name}"
        return f"wait at {name}: {event.before}"

    def operation(self, kind: int, location: int, thread: int) -> str:
        """An operation that did not happen."""
        if kind == NONE:
            return "nothing (the thread has ended)"
        if kind == CHOOSE:
            return "choose"
        other = self.thread(thread) if location < 0 else self.objects[location]
        return f"{VERBS[kind]} {other}"

    def where(self, code: object, instruction: int) -> str:
        if code is None:
            return ""
        file, line = place(code, instruction)
        text = source_line(file, line)
        return f" at {file}:{line}" + (f": {text}" if text else "")

    def where_raised(self, error: BaseException) -> str:
        found = raised_at(error)
        return self.where(*found) if found else ""


def inbox_action(event: Event, name: str) -> str:
    """What an event did to what other threads hand over to an event loop."""
    if event.kind == LOAD:
        return f"look at {name}"
    if event.kind == WAIT:
        return f"wait in {name}"
    if event.kind == QUEUE_SHUTDOWN:
        return f"close {name}"
    if event.mode != WRITE:
        return f"hand something to {name}, which is closed"
    return f"hand {cast(Handed, event.after).what} to {name}"


def variable_action(event: Event, name: str) -> str:
    """What an event did to an attribute or variable."""
    if event.kind == LOAD or event.kind == AWAIT:
        return f"read {name}: {show_now(event.before)}"
    if event.first is MISSING:
        return f"delete {name}"
    return f"write {show_now(event.first)} to {name}"


def show_now(value: object) -> str:
    """A value that was found in memory. What is in it may have changed since."""
    if value is MISSING:
        return "not there"
    return f"a {type(value).__name__}" if is_memory(type(value)) else show(value)


def item_action(event: Event, name: str) -> str:
    """What an event did to a container."""
    kind = event.kind
    view = cast(View, event.view)
    if kind == LENGTH:
        return f"length of {name}: {view.length}"
    if kind >= APPEND:
        ending = ": empty" if kind == TAKE and event.mode == READ else ""
        return f"{VERBS[kind]} {'to ' if kind == APPEND else ''}{name}{ending}"
    item = f"{name}[{show(event.second)}]"
    by_index = kind == INDEX_READ or kind == INDEX_SET
    there = event.part >= 0 if by_index else view.present
    if kind == ITEM_SET or (there and kind == INDEX_SET):
        return f"{VERBS[kind]} {item} to {show_now(event.after)}"
    if there and (kind == INDEX_READ or (kind == ITEM_READ and view.value is not None)):
        return f"{VERBS[kind]} {item}: {show_now(view.value)}"
    if there and kind != ITEM_INSERT:
        return f"{VERBS[kind]} {item}"
    return f"{VERBS[kind]} {item}: {'already there' if there else 'not there'}"


def awaited_action(event: Event, name: str) -> str:
    """A read of a container that has waited."""
    kind = cast(Looked, event.first).kind
    view = cast(View, event.view)
    if kind == LENGTH:
        return f"length of {name}: {view.length}"
    if kind == READ_WHOLE:
        return f"{VERBS[kind]} {name}"
    found = view.value
    text = "not there" if isinstance(found, Fails) else show_now(found)
    return f"{VERBS[kind]} {name}[{show(event.second)}]: {text}"


def awaited_in_words(looked: Looked, name: str, contents: object) -> str:
    """What a thread finds in a container as long as it waits."""
    sort = looked.sought.sort
    if sort == LENGTH_OF or sort == TRUTH:
        return f"length of {name}: {plain_length(contents)}"
    found = looked.sought.find(contents)
    key = show(looked.sought.key)
    if sort == CONTAINS:
        return f"{key} is {'' if found else 'not '}in {name}"
    return f"{name}[{key}] is {'not there' if isinstance(found, Fails) else show(found)}"


def account_of(program: Program) -> Failure:
    """The failure of the latest run."""
    runtime = RUNNING.check.runtime
    account = Account(program)
    if program.answer.race is not None:
        failure = data_race(account)
    elif runtime.stopped == DIVERGED:
        failure = nondeterminism(account)
    elif runtime.stopped == ENDLESS:
        failure = too_long(account)
    elif runtime.stopped == INTERRUPTED:
        failure = stuck(account)
    elif runtime.stopped == POLLING:
        failure = polling(account)
    elif runtime.stopped == IN_A_CIRCLE:
        failure = in_a_circle(account)
    elif runtime.first_failed is not None:
        failure = raised(account, runtime.first_failed)
    elif found_circle() is not None:
        failure = in_a_circle(account)
    else:
        failure = waiting_for_ever(account)
    return failure


def schedule_of(program: Program, kind: str, message: str, length: int) -> Schedule:
    check = RUNNING.check
    objects = check.objects
    settings = check.settings
    runtime = check.runtime
    options: dict[str, object] = {
        "independent_adds": runtime.independent_adds,
        "max_events": runtime.max_events,
        "granularity": "access" if runtime.race_detector is None else "sync",
        "loop_purity": settings.purity,
        "awaits": settings.awaits,
        "unroll": settings.unroll or None,
        "equivalence": "mazurkiewicz" if runtime.orders_writes else "reads-from",
    }
    if settings.clock_readers:
        options["clocks"] = sorted(settings.clock_readers)
    if objects.trusted:
        options["changing"] = sorted(objects.changed)
    steps = program.steps_of(program.events[:length])
    return Schedule(tuple(steps), "", kind, message, options)


def new_failure(
    account: Account, kind: str, message: str, details: list[str], length: int | None = None
) -> Failure:
    events = account.program.events
    end = len(events) if length is None else length
    return Failure(
        kind,
        message,
        schedule_of(account.program, kind, message, end),
        [account.step(event) for event in worth_telling(events[:end])],
        details=[*details, *RUNNING.check.runtime.inputs()],
    )


def worth_telling(events: list[Event]) -> list[Event]:
    """Without the ends of threads that nobody looks at, and looks of event loops at what others
    hand over to them."""
    looked_at = {event.location for event in events if event.mode == READ}
    return [
        event
        for event in events
        if event.location < 0
        or RUNNING.check.runtime.locations[event.location].type_name not in ("Ended", "Inbox")
        or (event.location in looked_at and not is_look_at_inbox(event))
    ]


def is_look_at_inbox(event: Event) -> bool:
    return (
        event.kind == LOAD and RUNNING.check.runtime.locations[event.location].type_name == "Inbox"
    )


def raised(account: Account, thread: Thread) -> Failure:
    """An exception left a thread."""
    runtime = RUNNING.check.runtime
    error = thread.exception
    assert error is not None
    text = ADDRESS.sub("", shown(error, str))
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    details = [f"raised{account.where_raised(error)}"]
    # (That blocks are atomic may show only in what follows.)
    end = None if runtime.blocks else runtime.failed_position
    failure = new_failure(account, EXCEPTION, summary, details, end)
    failure.thread = account.thread(thread.id)
    failure.exception = error
    return failure


def waiting_for_ever(account: Account) -> Failure:
    """No thread can go on: a livelock if one of them awaits a value or waits in a loop, else a
    deadlock."""
    runtime = RUNNING.check.runtime
    details = []
    message = "no thread can go on"
    for event in sorted(account.program.answer.waiting, key=thread_order):
        if runtime.threads[event.thread].spin is not None:
            continue
        if event.kind == AWAIT or event.kind == AWAIT_EXCHANGE:
            message = "a thread awaits a value that never comes"
        details.append(account_of_waiting(account, event))
        details.extend(waiting_tasks(account, event))
    for thread in sorted(runtime.live, key=family_order):
        if thread.spin is not None and not thread.finished:
            message = "a thread waits in a loop for what never comes"
            details.append(account_of_spinning(account, thread))
    kind = DEADLOCK if message == "no thread can go on" else LIVELOCK
    return new_failure(account, kind, message, details)


def account_of_spinning(account: Account, thread: Thread) -> str:
    """Which loop a thread goes round for ever, and what it finds there in every round."""
    loop = cast(Loop, thread.spin)
    events = account.program.events[loop.begin :]
    found = [account.action(event) for event in events if event.thread == thread.id]
    if not thread.gave_up:
        name = account.objects[thread.cell.location]
        if thread.kind == AWAIT_PART:
            found.append(awaited_in_words(cast(Looked, thread.first), name, thread.cell.value))
        else:
            found.append(f"{name} is {show_now(thread.cell.value)}")
    return account_of_rounds(account, thread, loop, found)


def account_of_rounds(account: Account, thread: Thread, loop: Loop, steps: list[str]) -> str:
    text = f"{account.thread(thread.id)} goes round for ever at {loop.file}:{loop.line}"
    source = source_line(loop.file, loop.line)
    if source:
        text += f": {source}"
    return f"{text} ({'; '.join(steps) or 'without any step'})"


def in_a_circle(account: Account) -> Failure:
    """Threads do the same again and again, and keep each other from getting on with it."""
    details = []
    circle = found_circle()
    assert circle is not None
    events = account.program.events[circle.begin : circle.end]
    for thread in sorted(RUNNING.check.runtime.live, key=family_order):
        steps = [account.action(event) for event in events if event.thread == thread.id]
        if steps and thread.loop is not None:
            details.append(account_of_rounds(account, thread, cast(Loop, thread.loop), steps))
    message = "threads go round in loops for ever, and none gets anywhere"
    return new_failure(account, LIVELOCK, message, details)


def waiting_tasks(account: Account, event: Event) -> list[str]:
    """Where the tasks of an event loop wait, in which nothing can go on."""
    inbox = RUNNING.check.runtime.threads[event.thread].cell
    if not isinstance(inbox, Inbox):
        return []
    return [
        f"{name} waits{account.where(code, instruction)}"
        for name, code, instruction in inbox.waiting_tasks()
    ]


def account_of_waiting(account: Account, event: Event) -> str:
    """Who waits for what, who holds it, and where."""
    runtime = RUNNING.check.runtime
    thread = runtime.threads[event.thread]
    text = f"{account.thread(event.thread)} waits "
    if event.kind == JOIN:
        text += f"to join {account.thread(event.choice)}"
    else:
        name = account.objects[event.location]
        location = runtime.locations[event.location]
        if location.type_name == "Inbox":
            text += f"in {name}, which has nothing to do"
        elif location.type_name == "Waiter":
            text += f"for a notification on {name}"
        elif location.part_of >= 0:
            text += f"at {name}"
        elif event.kind == ACQUIRE:
            holder = thread.cell.value
            assert isinstance(holder, int)
            text += f"to acquire {name}, held by {account.thread(holder)}"
        elif event.kind == WAIT:
            text += f"for {name}, which is {show(thread.cell.value)}"
        else:
            text += f"to {VERBS[event.kind]} {name}, which is {show(thread.cell.value)}"
    return text + "," * (thread.code is not None) + account.where(thread.code, thread.instruction)


def nondeterminism(account: Account) -> Failure:
    runtime = RUNNING.check.runtime
    divergence = runtime.divergence
    assert divergence is not None
    expected = divergence.expected
    thread = account.thread(divergence.thread)
    recorded = str(expected.first)
    if expected.kind != UNKNOWN:
        recorded = account.operation(expected.kind, expected.location, expected.choice)
    happened = account.operation(divergence.kind, divergence.location, divergence.thread)
    why = f", {divergence.why}" if divergence.why else ""
    details = [
        f"recorded: {recorded}{account.where(*runtime.places.at(expected.place))}",
        f"on the repeat: {happened}{why}" + account.where(divergence.code, divergence.instruction),
    ]
    message = (
        f"the program does not repeat itself: under the same schedule {thread} first did "
        f"'{recorded}', and then '{happened}'{why}; " + WHERE_TO_LOOK
    )
    failure = new_failure(account, NONDETERMINISM, message, details, runtime.position)
    failure.thread = thread
    return failure


def account_of_change(program: Program, first: str, second: str) -> Failure:
    message = (
        "the program does not repeat itself: two runs under the same schedule end in two ways; "
        + WHERE_TO_LOOK
    )
    details = [f"first: {first}", f"then: {second}"]
    return new_failure(Account(program), NONDETERMINISM, message, details)


def too_long(account: Account) -> Failure:
    recent = account.program.events[-1000:]
    places = Counter((event.thread, *account.place(event)) for event in recent)
    details = [
        f"{account.thread(thread)} was {count} times (of the last {len(recent)} steps) at "
        f"{file}:{line}: {source_line(file, line)}"
        for (thread, file, line), count in places.most_common(4)
    ]
    limit = RUNNING.check.runtime.max_events
    message = (
        f"an execution has more than max_events={limit} steps: it seems stuck in a "
        "loop; wait with await_value instead of polling, bound the loop, or raise max_events"
    )
    return new_failure(account, TOO_LONG, message, details)


def stuck(account: Account) -> Failure:
    runtime = RUNNING.check.runtime
    error = runtime.interrupt
    assert error is not None
    message = (
        "a thread ran for longer than step_limit without reaching an operation: look for an "
        "endless loop, for a real lock, sleep or input, or raise step_limit"
    )
    failure = new_failure(account, STUCK, message, [f"it was{account.where_raised(error)}"])
    if runtime.first_failed is not None:
        failure.thread = account.thread(runtime.first_failed.id)
    return failure


def polling(account: Account) -> Failure:
    """A thread goes on and on between two steps, where no other thread runs."""
    runtime = RUNNING.check.runtime
    watcher = runtime.race_detector
    assert watcher is not None
    name = account.objects[watcher.latest]
    message = (
        f"a thread made more than max_events={runtime.max_events} accesses to shared variables "
        f"without coming to a step, the latest to {name}: if it waits for another thread to change "
        "that, wait with an Event or a Condition, or check with granularity='access'; if it does "
        "not, raise max_events"
    )
    thread = runtime.threads[watcher.running]
    details = [f"it was{account.where(thread.code, thread.instruction)}"]
    failure = new_failure(account, STUCK, message, details)
    failure.thread = account.thread(thread.id)
    return failure


# Data races


def race_to_tell() -> Race | None:
    """The data race of the latest run. It comes before all other failures, which may be due to it,
    but for those after which nothing more can be explored."""
    runtime = RUNNING.check.runtime
    stopped = runtime.stopped
    if runtime.race_detector is None or (stopped != NOTHING and stopped != ENDLESS):
        return None
    return runtime.race_detector.race


def data_race(account: Account) -> Failure:
    race = race_to_tell()
    assert race is not None
    name = account.objects[race.location]
    part = race.first.part
    if part >= 0 and part == race.second.part:
        keys = RUNNING.check.runtime.locations[race.location].keys
        name += f"[{part if keys is None else show(keys[part])}]"
    accesses = (race.first, race.second)
    words = [
        f"{'written' if is_write(one) else 'read'} by {account.thread(one.thread)}"
        for one in accesses
    ]
    message = f"{name} is {words[0]} and {words[1]}, and nothing orders the two"
    details = [
        f"{account.thread(one.thread)} {'wrote' if is_write(one) else 'read'} it"
        + account.where(one.code, one.instruction)
        for one in accesses
    ]
    # The schedule is that of the whole run: so a replay does all that the run did, in its order.
    failure = new_failure(account, DATA_RACE, message, details)
    failure.steps = steps_of_race(account, race, name)
    failure.thread = account.thread(race.second.thread)
    return failure


def steps_of_race(account: Account, race: Race, name: str) -> list[Step]:
    """The steps up to a race, and its two accesses as if they were steps."""
    events = account.program.events
    told = worth_telling(events[: race.second.position])
    earlier = {id(event) for event in events[: race.first.position]}
    before = [account.step(event) for event in told if id(event) in earlier]
    between = [account.step(event) for event in told if id(event) not in earlier]
    first, second = [account.step_of_access(one, name) for one in (race.first, race.second)]
    return [*before, first, *between, second]


def is_write(access: Access) -> bool:
    return access.mode == WRITE


def show(value: object) -> str:
    """A value, short."""
    text = ADDRESS.sub("", shown(value, repr))
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def shown(value: object, how: Callable[[object], str]) -> str:
    """What `str` or `repr` gives, which for a user's class may be an exception."""
    try:
        return how(value)
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


def family_order(thread: Thread) -> list[int]:
    """Sorts a thread before its children, and the first child before the second."""
    return [int(order) for order in thread.name.split(".")]


def thread_order(event: Event) -> list[int]:
    return family_order(RUNNING.check.runtime.threads[event.thread])


def function_name(thread: Thread) -> str:
    function = thread.function
    if isinstance(function, Life):
        return str(function.thread.name)
    return getattr(function, "__name__", "thread")


def thread_names() -> dict[int, str]:
    """A thread is called like its function, numbered where several threads share it."""
    threads = sorted(RUNNING.check.runtime.live, key=family_order)
    functions = [function_name(thread) for thread in threads]
    totals = Counter(functions)
    seen: Counter[str] = Counter()
    names = {}
    for thread, function in zip(threads, functions, strict=True):
        seen[function] += 1
        names[thread.id] = function if totals[function] == 1 else f"{function}-{seen[function]}"
    return names


def object_names(program: Program) -> dict[int, str]:
    """An object is called as the user named it, else like the variable it was assigned to, and
    numbered where several objects of the run share that name."""
    runtime = RUNNING.check.runtime
    used = {event.location for event in [*program.events, *program.answer.waiting]}
    if runtime.divergence is not None:
        used |= {runtime.divergence.location, runtime.divergence.expected.location}
    if runtime.race_detector is not None:
        race = runtime.race_detector.race
        used |= {runtime.race_detector.latest, -1 if race is None else race.location}
    used |= {runtime.locations[id].part_of for id in used if id >= 0}
    used.discard(-1)
    guesses: dict[int, str | None] = {}
    parts = {id for id in used if runtime.locations[id].part_of >= 0}
    ordinary = {id for id in used if runtime.locations[id].owner is not None}
    for id in sorted(used - parts - ordinary, key=making_order):
        location = runtime.locations[id]
        guesses[id] = location.label or assigned_name(location.code, location.instruction)
    totals = Counter(guesses.values())
    seen: Counter[str] = Counter()
    names = ordinary_names(sorted(ordinary, key=making_order))
    for id, guess in guesses.items():
        if guess is None:
            names[id] = f"{runtime.locations[id].type_name} {runtime.locations[id].name}"
        else:
            names[id] = guess if totals[guess] == 1 else f"{guess}[{seen[guess]}]"
            seen[guess] += 1
    for id in parts:
        names[id] = names[runtime.locations[id].part_of]
    return names


def ordinary_names(locations: list[int]) -> dict[int, str]:
    """Attributes and items are called like the object that they belong to, which is numbered where
    several are called alike."""
    runtime = RUNNING.check.runtime
    owners: dict[str, list[Identity]] = {}
    for id in locations:
        owner = runtime.locations[id].owner
        assert owner is not None
        alike = owners.setdefault(owner.label, [])
        if owner not in alike:
            alike.append(owner)
    names = {}
    for id in locations:
        location = runtime.locations[id]
        assert location.owner is not None
        alike = owners[location.owner.label]
        number = f"-{alike.index(location.owner) + 1}" if len(alike) > 1 else ""
        names[id] = f"{location.owner.label}{number}.{location.field}".strip(".")
    return names


def making_order(location: int) -> tuple[list[int], int]:
    """Sorts the objects of one thread in the order in which it made them."""
    found = MADE_BY.match(RUNNING.check.runtime.locations[location].name)
    if found is None:  # made outside
        return [], location
    return [int(part) for part in found[1].split(".")], int(found[2])
