"""The stubs say what the modules do: atomic.pyi of Atomic, typed_queue.pyi of Queue."""

import ast
import inspect
from pathlib import Path

from mazurka.python.primitives import atomic, sync

STUBS = Path(__file__).parents[3] / "src/mazurka/python/primitives"


def methods_in(stub: str) -> dict[str, list[str]]:
    """The methods of a stub's class, with their parameters."""
    tree = ast.parse((STUBS / stub).read_text())
    (declared,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        method.name: [argument.arg for argument in method.args.args]
        for method in declared.body
        if isinstance(method, ast.FunctionDef)
    }


def test_the_stub_of_atomic_has_its_methods_with_their_parameters() -> None:
    methods = methods_in("atomic.pyi")
    public = {name for name in vars(atomic.Atomic) if not name.startswith("_")}
    assert public == methods.keys() - {"__init__"}
    for name in public:
        assert list(inspect.signature(getattr(atomic.Atomic, name)).parameters) == methods[name]


def test_the_stub_of_queue_has_the_methods_that_take_and_give_items() -> None:
    methods = methods_in("typed_queue.pyi")
    assert sorted(methods) == ["get", "get_nowait", "put", "put_nowait"]
    for name, parameters in methods.items():
        assert list(inspect.signature(getattr(sync.Queue, name)).parameters) == parameters


def test_atomic_can_be_annotated_with_the_type_of_its_value() -> None:
    assert atomic.Atomic[int](3) is not None
