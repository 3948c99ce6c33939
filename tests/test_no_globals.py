"""What a check knows is dropped when it ends: no module keeps anything that a check has changed."""

import ast
import asyncio
import gc
import importlib
import inspect
import pkgutil
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mazurka
from mazurka.python import check as check_module
from mazurka.python.check import RUNNING, Check

SOURCE = Path(check_module.__file__).parent.parent
CONTAINERS = (dict, list, set, deque, bytearray)

# Module-level objects of our own classes that nobody ever changes, though one could.
CONSTANTS = {"FAILING", "IS_EMPTY", "IS_FULL", "NO_INDEX", "NO_KEY", "NOWHERE", "PRIVATE"}
# The searches have some more, and say so by their names.
LIKE_CONSTANTS = ("NO_", "WHOLE")


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(mazurka.__path__, "mazurka."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith("mazurka.")


def attributes_of(thing: object) -> dict[str, object]:
    """The attributes of an instance; those of compiled classes are no dict."""
    found = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        for name, member in vars(kind).items():
            is_slot = inspect.isgetsetdescriptor(member) or inspect.ismemberdescriptor(member)
            if is_slot and not name.startswith("__") and hasattr(thing, name):
                found[name] = getattr(thing, name)
    return found


def value_of(thing: object, outer: tuple[int, ...] = ()) -> object:
    """What can be compared with what it will be later."""
    if thing is None or isinstance(thing, (bool, int, float, str, bytes)):
        return thing
    if id(thing) in outer:
        return "itself"
    outer = (*outer, id(thing))
    if isinstance(thing, dict):
        return [(value_of(key, outer), value_of(value, outer)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple, deque)):
        return [value_of(part, outer) for part in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(str(value_of(part, outer)) for part in thing)
    if is_ours(thing):
        return value_of(attributes_of(thing), outer)
    return id(thing)


def state_of(module: ModuleType) -> dict[str, object]:
    """The values of a module, and of its classes, that something might change."""
    found: dict[str, object] = {}
    for name, value in vars(module).items():
        if name.startswith("__") or value is RUNNING:
            continue
        found[name] = value_of(value)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, part in vars(value).items():
                if isinstance(part, CONTAINERS) or is_ours(part):
                    found[f"{name}.{attribute}"] = value_of(part)
    return found


def state() -> dict[str, dict[str, object]]:
    return {module.__name__: state_of(module) for module in list(modules())}


# Checks of every sort


class Account:
    def __init__(self) -> None:
        self.balance = 0
        self.history: list[int] = []
        self.lock = threading.Lock()

    def deposit(self, amount: int) -> None:
        with self.lock:
            self.balance += amount
            self.history.append(amount)


BANK = Account()
SHARED = mazurka.Atomic(0)
LOCAL = threading.local()


def with_threads() -> int:
    LOCAL.amount = 1
    threads = [threading.Thread(target=BANK.deposit, args=(amount,)) for amount in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    SHARED.add(1)
    time.sleep(random.random())
    return BANK.balance


def with_race() -> None:
    account = Account()

    def deposit() -> None:
        account.balance += 1

    handles = [mazurka.spawn(deposit) for _ in range(2)]
    for handle in handles:
        handle.join()
    assert account.balance == 2


def with_loop() -> None:
    ready: list[int] = []

    def wait() -> None:
        while not ready:
            pass

    handle = mazurka.spawn(wait)
    ready.append(1)
    handle.join()


def with_blocks() -> None:
    def step() -> None:
        with mazurka.atomic:
            SHARED.store(SHARED.load() + 1)

    handles = [mazurka.spawn(step) for _ in range(2)]
    for handle in handles:
        handle.join()


async def with_asyncio() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def put(number: int) -> None:
        await asyncio.sleep(0)
        await queue.put(number)

    await asyncio.gather(put(1), put(2))


def with_symbolic_values() -> None:
    number = mazurka.symbolic_int("number", 0, 9)
    names: dict[object, str] = {1: "one"}
    found = names.get(number, "")
    if number > 5:
        assert not found


def with_a_check_in_it() -> None:
    mazurka.explore(with_blocks)


def run_checks() -> None:
    assert not mazurka.explore(with_loop).failures
    for program in (with_threads, with_blocks, with_asyncio):
        assert not mazurka.explore(program).failures
        assert not mazurka.explore(program, granularity="sync").failures
    pytest.importorskip("z3")
    assert mazurka.explore(with_symbolic_values, algorithm="trust").executions > 1
    (failure,) = mazurka.explore(with_race, unroll=3).failures
    assert mazurka.replay(with_race, failure.schedule).kind == failure.kind
    assert mazurka.explore(with_race, granularity="sync").failures
    with pytest.raises(mazurka.MazurkaError, match="under way already"):
        mazurka.explore(with_a_check_in_it)


def test_no_module_remembers_a_check() -> None:
    run_checks()  # which loads what is loaded when it is needed
    before = state()
    idle = value_of(RUNNING.idle)
    run_checks()
    after = state()
    for module in before:
        changed = {
            name
            for name in before[module].keys() | after[module].keys()
            if before[module].get(name) != after[module].get(name)
        }
        assert not changed, f"checks have changed {module}: {changed}"
    assert RUNNING.check is RUNNING.idle
    assert value_of(RUNNING.idle) == idle


def test_a_check_is_dropped() -> None:
    before = [RUNNING.idle, *all_checks()]  # other tests may have kept some, in a traceback say
    run_checks()
    for _ in range(2):  # the first time lets go of greenlets, the second of what they held
        gc.collect()
    assert [found for found in all_checks() if not any(found is one for one in before)] == []


def all_checks() -> list[Check]:
    return [found for found in gc.get_objects() if type(found) is Check]


COUNTER = mazurka.Atomic(0)


def test_an_object_made_outside_begins_anew_in_every_check() -> None:
    """Whichever executions of the two checks use it."""

    def always() -> object:
        mazurka.choose([0, 1, 2])
        return COUNTER.fetch_add(1)

    def sometimes(chosen: int) -> object:
        return COUNTER.fetch_add(1) if mazurka.choose([0, 1, 2]) == chosen else 0

    for chosen in range(3):
        assert set(mazurka.explore(always).outcomes) == {0}
        assert set(mazurka.explore(lambda: sometimes(chosen)).outcomes) == {0}  # noqa: B023


# What the source says


def is_empty_container(value: ast.expr | None) -> bool:
    if isinstance(value, (ast.Dict, ast.List)):
        return not ast.unparse(value).strip("{}[]")
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("dict", "list", "set", "deque", "defaultdict", "Counter")
        and not value.args
    )


def state_in(tree: ast.Module) -> Iterator[str]:
    """Names in the source of a module that can only be meant to change."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"global {', '.join(node.names)}"
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_empty_container(node.value):
            yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)


@pytest.mark.parametrize(
    "source",
    ["def f():\n    global x\n    x = 1", "KNOWN: dict[str, int] = {}", "SEEN = set()", "ALL = []"],
)
def test_state_in_a_source_is_found(source: str) -> None:
    assert list(state_in(ast.parse(source)))


def test_no_source_has_state() -> None:
    for path in SOURCE.rglob("*.py"):
        found = {name for name in state_in(ast.parse(path.read_text())) if is_state(name)}
        assert not found, f"{path} has module-level state: {found}"


def is_state(name: str) -> bool:
    return name not in CONSTANTS and not name.startswith(LIKE_CONSTANTS)


def is_changeable(thing: object) -> bool:
    """Whether an object is one of ours, and has attributes that could change."""
    if isinstance(thing, (type, tuple, BaseException)) or not is_ours(thing) or callable(thing):
        return False
    parameters = getattr(thing, "__dataclass_params__", None)  # of a dataclass
    return not getattr(parameters, "frozen", False) and bool(attributes_of(thing))


def test_the_running_check_is_the_only_object_of_the_process() -> None:
    for module in modules():
        found = {
            name
            for name, value in vars(module).items()
            if is_changeable(value) and value is not RUNNING and is_state(name)
        }
        assert not found, f"{module.__name__} has objects that could change: {found}"


@pytest.mark.parametrize("change", [lambda known: known.update(x=1), lambda known: known.clear()])
def test_changed_state_is_seen(change: Callable[[dict[str, int]], object]) -> None:
    module = ModuleType("mazurka.example")
    vars(module)["KNOWN"] = {"y": 2}
    before = state_of(module)
    change(vars(module)["KNOWN"])
    assert state_of(module) != before
    assert "mazurka.example" not in sys.modules
