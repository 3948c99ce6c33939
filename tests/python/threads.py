"""What tests of threads need."""

import threading
from collections.abc import Callable


def both(first: Callable[[], object], second: Callable[[], object]) -> None:
    in_threads(first, second)


def in_threads(*functions: Callable[[], object]) -> None:
    """Run each function in a thread of its own, and wait for them."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
