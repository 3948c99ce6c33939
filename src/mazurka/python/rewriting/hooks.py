"""What rewritten code calls, by the names that it is written with."""

from collections.abc import Callable
from typing import Final

from mazurka.python.check import RUNNING
from mazurka.python.loops.rounds import (
    again,
    enter_loop,
    iterate_in_loop,
)
from mazurka.python.loops.sleeping import can_sleep, drawing, drawn
from mazurka.python.loops.waiting import (
    called,
    evaluates,
    may_be_waiting,
    same_constants,
    would_raise,
)
from mazurka.python.loops.waiting_hooks import (
    awaited_attribute,
    awaited_callee,
    awaited_closure,
    awaited_contains,
    awaited_global,
    awaited_item,
    awaited_length,
    awaited_method,
    awaited_truth,
)
from mazurka.python.memory.attributes import (
    attributes_of,
    closure_cell,
    delete_attribute,
    delete_closure,
    delete_global,
    global_cell,
    load_attribute,
    load_closure,
    load_global,
    note_import,
    store_attribute,
    store_closure,
    store_global,
)
from mazurka.python.memory.calls import (
    all_of_new,
    any_of_new,
    callee,
    check_instance,
    entered,
    method,
    names_of,
)
from mazurka.python.memory.containers import (
    compare,
    contains,
    delete_item,
    iterate,
    load_item,
    operand,
    operate,
    store_item,
    text,
    truth,
    unpack,
    unpack_hashed,
    unpack_late,
)
from mazurka.python.memory.identities import name_of_class
from mazurka.python.memory.matching import (
    match_class,
    match_item,
    match_keys,
    match_mapping,
    match_rest,
    match_sequence,
)
from mazurka.python.primitives.atomic import unused


def is_let_go(thing: object) -> bool:
    """Whether a finalizer is not called by the program, but as something that an execution has left
    is let go of: between executions, or in the midst of a later one. That is told, as what it does
    is not seen."""
    check = RUNNING.check
    if not check.runtime.is_collecting and check.runtime.current is not None:
        return False
    check.calls.note_finalizer(f"{name_of_class(type(thing))}.__del__", thing)
    return True


def runs_text() -> None:
    """`exec` or `eval` is about to run code that is not rewritten."""
    check = RUNNING.check
    check.runtime.note_change()
    if not check.runtime.is_elsewhere():
        check.calls.unseen["builtins.exec"] = None


HOOKS: Final[dict[str, Callable[..., object]]] = {
    "load_attribute": load_attribute,
    "store_attribute": store_attribute,
    "delete_attribute": delete_attribute,
    "attributes_of": attributes_of,
    "load_item": load_item,
    "store_item": store_item,
    "delete_item": delete_item,
    "global_cell": global_cell,
    "load_global": load_global,
    "store_global": store_global,
    "delete_global": delete_global,
    "closure_cell": closure_cell,
    "load_closure": load_closure,
    "store_closure": store_closure,
    "delete_closure": delete_closure,
    "callee": callee,
    "method": method,
    "unused": unused,
    "iterate": iterate,
    "unpack": unpack,
    "unpack_hashed": unpack_hashed,
    "unpack_late": unpack_late,
    "contains": contains,
    "compare": compare,
    "operate": operate,
    "truth": truth,
    "operand": operand,
    "text": text,
    "entered": entered,
    "any_of_new": any_of_new,
    "check_instance": check_instance,
    "names_of": names_of,
    "all_of_new": all_of_new,
    "enter_loop": enter_loop,
    "again": again,
    "awaited_method": awaited_method,
    "awaited_attribute": awaited_attribute,
    "awaited_global": awaited_global,
    "awaited_closure": awaited_closure,
    "awaited_item": awaited_item,
    "awaited_contains": awaited_contains,
    "awaited_length": awaited_length,
    "awaited_truth": awaited_truth,
    "awaited_callee": awaited_callee,
    "may_be_waiting": may_be_waiting,
    "called": called,
    "same_constants": same_constants,
    "would_raise": would_raise,
    "runs_text": runs_text,
    "note_import": note_import,
    "is_let_go": is_let_go,
    "evaluates": evaluates,
    "can_sleep": can_sleep,
    "drawing": drawing,
    "drawn": drawn,
    "iterate_in_loop": iterate_in_loop,
    "match_class": match_class,
    "match_item": match_item,
    "match_keys": match_keys,
    "match_mapping": match_mapping,
    "match_rest": match_rest,
    "match_sequence": match_sequence,
}
