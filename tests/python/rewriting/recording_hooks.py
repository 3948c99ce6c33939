"""Hooks in plain Python for the tests of the rewriting: they do what the code would have done."""

import operator
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, TypeVar

import mazurka.python.session  # noqa: F401 - sets up the check in which nothing runs
from mazurka.python.memory.matching import (
    match_class,
    match_item,
    match_keys,
    match_mapping,
    match_rest,
    match_sequence,
)

Hidden = TypeVar("Hidden", bound=Callable[..., Any])


def hidden(function: Hidden) -> Hidden:
    """A function that does not look like the user's, so that it is not given hooks itself."""
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_filename="<string>")
    return function


class GlobalCell:
    @hidden
    def __init__(self, namespace: dict[str, Any], name: str) -> None:
        self.namespace = namespace
        self.name = name


@hidden
def load_global(cell: GlobalCell) -> Any:
    if cell.name in cell.namespace:
        return cell.namespace[cell.name]
    builtins = cell.namespace["__builtins__"]
    found = builtins if isinstance(builtins, dict) else vars(builtins)
    if cell.name in found:
        return found[cell.name]
    raise NameError(f"name {cell.name!r} is not defined")


@hidden
def store_global(cell: GlobalCell, value: Any) -> None:
    cell.namespace[cell.name] = value


@hidden
def delete_global(cell: GlobalCell) -> None:
    if cell.name not in cell.namespace:
        raise NameError(f"name {cell.name!r} is not defined")
    del cell.namespace[cell.name]


@hidden
def enter_loop(*facts: object) -> None:
    return None


@hidden
def may_be_waiting(*facts: object) -> None:
    return None


@hidden
def drawing() -> None:
    return None


@hidden
def drawn(before: None, calls: tuple[str, ...], number: Any) -> Any:
    return number


def awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that may wait, which is told where and for what."""

    @hidden
    def call(*arguments: Any) -> Any:
        return function(*arguments[:-1])

    return call


@hidden
def called() -> None:
    return None


@hidden
def note_import(module: str, level: int, name: str) -> None:
    return None


@hidden
def again(loop: object) -> bool:
    return True


@hidden
def closure_cell(function: FunctionType, name: str) -> CellType:
    assert function.__closure__ is not None
    assert function.__code__.co_freevars == (name,)
    return function.__closure__[0]


@hidden
def load_closure(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        raise NameError("the variable is not bound") from None


@hidden
def store_closure(cell: CellType, value: Any) -> None:
    cell.cell_contents = value


@hidden
def delete_closure(cell: CellType) -> None:
    load_closure(cell)
    del cell.cell_contents


@hidden
def same(value: Any) -> Any:
    return value


@hidden
def contains(item: Any, container: Any) -> bool:
    return item in container


@hidden
def apply(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    return function(left, right)


PLAIN: dict[str, Callable[..., Any]] = {
    "load_attribute": getattr,
    "store_attribute": setattr,
    "delete_attribute": delattr,
    "load_item": operator.getitem,
    "store_item": operator.setitem,
    "delete_item": operator.delitem,
    "global_cell": GlobalCell,
    "load_global": load_global,
    "store_global": store_global,
    "delete_global": delete_global,
    "closure_cell": closure_cell,
    "load_closure": load_closure,
    "store_closure": store_closure,
    "delete_closure": delete_closure,
    "callee": same,
    "method": getattr,
    "iterate": same,
    "iterate_in_loop": same,
    "any_of_new": any,
    "check_instance": isinstance,
    "names_of": dir,
    "all_of_new": all,
    "enter_loop": enter_loop,
    "again": again,
    "awaited_method": awaited(getattr),
    "awaited_callee": awaited(same),
    "awaited_attribute": awaited(getattr),
    "awaited_global": awaited(load_global),
    "awaited_closure": awaited(load_closure),
    "awaited_item": awaited(operator.getitem),
    "awaited_contains": awaited(contains),
    "awaited_length": awaited(len),
    "awaited_truth": awaited(bool),
    "may_be_waiting": may_be_waiting,
    "called": called,
    "same_constants": operator.eq,  # these are part of conditions, which nobody asks for here
    "would_raise": contains,
    "attributes_of": vars,
    "runs_text": called,
    "note_import": note_import,
    "evaluates": same,
    "can_sleep": same,
    "drawing": drawing,
    "drawn": drawn,
    "unpack": same,
    "unpack_hashed": same,
    "unpack_late": same,
    "contains": contains,
    "compare": apply,
    "operate": apply,
    "truth": bool,
    "operand": same,
    "text": same,
    "entered": same,
    "match_class": match_class,  # outside of a check, these do no more than that
    "match_item": match_item,
    "match_keys": match_keys,
    "match_mapping": match_mapping,
    "match_rest": match_rest,
    "match_sequence": match_sequence,
}


# Hooks that may wait, and those that do the same at once.
AT_ONCE = {
    "awaited_method": "method",
    "awaited_callee": "callee",
    "awaited_attribute": "load_attribute",
    "awaited_global": "load_global",
    "awaited_closure": "load_closure",
    "awaited_item": "load_item",
    "awaited_contains": "contains",
    "awaited_length": "callee",
    "awaited_truth": "truth",
}
UNRECORDED = ("global_cell", "called", "may_be_waiting", "drawing", "drawn")


class Recorder:
    """A hook that also writes its calls down, as if it could not wait."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.hook = PLAIN[name]
        self.name = AT_ONCE.get(name, name)
        self.calls = calls

    @hidden
    def __call__(self, *arguments: Any) -> Any:
        # Attributes, items and variables are told by name.
        if self.name.startswith(("load_a", "store_a", "delete_a", "method")):
            self.calls.append(f"{self.name} {arguments[1]}")
        elif self.name.endswith("_global"):
            self.calls.append(f"{self.name} {arguments[0].name}")
        elif self.name == "closure_cell":
            self.calls.append(f"{self.name} {arguments[1]}")
        else:
            self.calls.append(self.name)
        return self.hook(*arguments)


def recording(calls: list[str]) -> dict[str, Any]:
    return {name: PLAIN[name] if name in UNRECORDED else Recorder(name, calls) for name in PLAIN}
