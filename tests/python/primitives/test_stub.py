"""atomic.pyi says what atomic.py does."""

import ast
import inspect
from pathlib import Path

from mazurka.python.primitives import atomic

STUB = Path(__file__).parents[3] / "src/mazurka/python/primitives/atomic.pyi"


def test_the_stub_of_atomic_has_its_methods_with_their_parameters() -> None:
    tree = ast.parse(STUB.read_text())
    (declared,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {
        method.name: [argument.arg for argument in method.args.args]
        for method in declared.body
        if isinstance(method, ast.FunctionDef)
    }
    public = {name for name in vars(atomic.Atomic) if not name.startswith("_")}
    assert public == methods.keys() - {"__init__"}
    for name in public:
        assert list(inspect.signature(getattr(atomic.Atomic, name)).parameters) == methods[name]


def test_atomic_can_be_annotated_with_the_type_of_its_value() -> None:
    assert atomic.Atomic[int](3) is not None
