"""What type checkers see of `mazurka.Queue`: the queue of queues.py, generic in its items."""

from typing import Any, Generic

from typing_extensions import TypeVar  # type checkers know it; nothing imports it

from mazurka.python.primitives import queues

T = TypeVar("T", default=Any)  # a Queue() that says nothing takes anything

class Queue(queues.Queue, Generic[T]):
    def put(self, item: T, block: int = True, timeout: float | None = None) -> None: ...
    def get(self, block: int = True, timeout: float | None = None) -> T: ...
    def put_nowait(self, item: T) -> None: ...
    def get_nowait(self) -> T: ...
