"""Dependencies point one way: doors -> api -> scale, report -> explore -> engine <- front ends."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = SOURCE / "mazurka"

# What the modules of each part may import of the other parts.
ENGINE = {"engine"}
MAY_IMPORT = {
    "engine": ENGINE,
    "explore": ENGINE | {"explore"},
    "python": ENGINE | {"python"},  # a front end
    "native": ENGINE | {"native"},  # another one
    "report": ENGINE | {"report"},
    "scale": ENGINE | {"scale"},
    "options": ENGINE | {"explore", "options"},
    "pyproject": ENGINE | {"options", "pyproject"},
    "kept": ENGINE | {"kept", "pyproject", "report"},
    "advice": ENGINE | {"advice", "explore", "options"},
    "in_jobs": ENGINE | {"explore", "options", "scale"},
    "api": ENGINE
    | {"advice", "in_jobs"}
    | {"explore", "python", "native", "report", "scale", "options", "api"},
    "linearizability": ENGINE | {"api", "native", "options", "python", "linearizability"},
    "estimating": ENGINE | {"api", "explore", "native", "options", "scale", "estimating"},
}
DOORS = {"cli", "pytest_plugin", "pytest_fixtures", "worker", "__main__", "__init__"}


def part_of(module: str) -> str:
    """The first name below the package: `mazurka.explore.pop` is part of explore."""
    return module.split(".")[1] if "." in module else "__init__"


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name.removesuffix(".__init__"), path


MODULES = dict(modules())


def imports_of(module: str, nodes: Iterable[ast.AST] | None = None) -> set[str]:
    """The modules of Mazurka that a module imports, by some of its statements or by any."""
    found: set[str] = set()
    for node in ast.walk(tree_of(module)) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            names = {f"{node.module}.{name.name}" for name in node.names}
            found.update(names if names <= set(MODULES) else {str(node.module), *names})
    return {name for name in found if name in MODULES} - {"mazurka.version", module}


def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) in MAY_IMPORT])
def test_a_module_imports_only_what_its_part_may(module: str) -> None:
    allowed = MAY_IMPORT[part_of(module)]
    wrong = {name for name in imports_of(module) if part_of(name) not in allowed}
    assert not wrong, f"{module} imports {', '.join(sorted(wrong))}"


def test_every_module_is_in_a_part_that_has_a_direction() -> None:
    parts = {part_of(name) for name in MODULES} - {"version"}
    assert parts == {*MAY_IMPORT, *DOORS}


def test_nothing_imports_a_door() -> None:
    for module in MODULES:
        if part_of(module) not in DOORS:
            assert not {part_of(name) for name in imports_of(module)} & (DOORS - {"__init__"})


def test_no_module_imports_itself_by_way_of_others() -> None:
    """When modules are imported: what is there for type checkers alone does not count."""
    graph = {module: imports_of(module, tree_of(module).body) for module in MODULES}
    while graph:
        free = [module for module, imports in graph.items() if not imports & set(graph)]
        assert free, f"a circle of imports among {', '.join(sorted(graph))}"
        for module in free:
            del graph[module]
