"""What tests of threads need."""

import threading
from collections.abc import Callable


def both(first: Callable[[], object], second: Callable[[], object]) -> None:
    """Run two functions in threads of their own, and wait for them."""
    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
