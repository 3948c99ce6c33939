"""The stubs say what the modules do: atomic.pyi of Atomic, typed_queue.pyi of Queue."""

import ast
import inspect
from pathlib import Path

from mazurka.python.primitives import atomic

FOLDER = Path(__file__).parents[3] / "src/mazurka/python/primitives"


def methods_in(file: str, name: str) -> dict[str, list[str]]:
    """The methods of a class, with their parameters. Compiled ones do not always tell them."""
    tree = ast.parse((FOLDER / file).read_text())
    (declared,) = [
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return {
        method.name: [argument.arg for argument in method.args.args]
        for method in declared.body
        if isinstance(method, ast.FunctionDef)
    }


def test_the_stub_of_atomic_has_its_methods_with_their_parameters() -> None:
    methods = methods_in("atomic.pyi", "Atomic")
    public = {name for name in vars(atomic.Atomic) if not name.startswith("_")}
    assert public == methods.keys() - {"__init__"}
    for name in public:
        assert list(inspect.signature(getattr(atomic.Atomic, name)).parameters) == methods[name]


def test_the_stub_of_queue_has_the_methods_that_take_and_give_items() -> None:
    stub = methods_in("typed_queue.pyi", "Queue")
    assert sorted(stub) == ["get", "get_nowait", "put", "put_nowait"]
    assert stub.items() <= methods_in("queues.py", "Queue").items()


def test_atomic_can_be_annotated_with_the_type_of_its_value() -> None:
    assert atomic.Atomic[int](3) is not None
