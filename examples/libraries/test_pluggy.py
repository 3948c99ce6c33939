"""pluggy promises nothing about threads. Here plugins are registered while a hook is called."""

import pytest

import mazurka
from examples.libraries.threads import together

pluggy = pytest.importorskip("pluggy")

specified = pluggy.HookspecMarker("example")
implemented = pluggy.HookimplMarker("example")


class Specification:
    @specified
    def hook(self) -> int:
        raise NotImplementedError


class Plugin:
    @implemented
    def hook(self) -> int:
        return 1


@mazurka.check(instrument=["pluggy"])
def test_all_plugins_are_registered() -> None:
    manager = pluggy.PluginManager("example")
    manager.add_hookspecs(Specification)
    together(lambda: manager.register(Plugin(), "a"), lambda: manager.register(Plugin(), "b"))
    assert manager.hook.hook() == [1, 1]


@mazurka.check(instrument=["pluggy"])
def test_a_hook_is_called_while_a_plugin_is_registered() -> None:
    manager = pluggy.PluginManager("example")
    manager.add_hookspecs(Specification)
    manager.register(Plugin(), "a")
    results = []
    together(lambda: manager.register(Plugin(), "b"), lambda: results.append(manager.hook.hook()))
    assert results[0] in ([1], [1, 1])
