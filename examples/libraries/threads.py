"""What all of these examples need."""

import threading
from collections.abc import Callable


def together(*functions: Callable[[], object]) -> None:
    """Run functions in threads of their own, and wait for all of them."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
