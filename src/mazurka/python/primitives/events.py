"""Events, as in `threading`."""

from typing import cast

from mazurka.engine.operation import LOAD, STORE, TIMED_WAIT, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject


class Event(SharedObject):
    """A flag that threads can wait for."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(False, name)

    def is_set(self) -> bool:
        return cast(bool, RUNNING.check.runtime.perform(LOAD, self, None, None))

    def set(self) -> None:
        RUNNING.check.runtime.perform(STORE, self, True, None)

    def clear(self) -> None:
        RUNNING.check.runtime.perform(STORE, self, False, None)

    def wait(self, timeout: float | None = None) -> bool:
        runtime = RUNNING.check.runtime
        if timeout is None:
            runtime.perform(WAIT, self, bool, None)
            return True
        found = runtime.perform_timed(TIMED_WAIT, WAIT, self, None, None, timeout)
        return in_time(cast(bool, found), timeout)

    def given(self, method: str, found: object) -> object:
        return bool(found)
