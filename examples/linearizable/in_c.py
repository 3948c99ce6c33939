"""A stack and a queue in C, against specifications in Python; and broken ones."""

from pathlib import Path

import mazurka

HERE = Path(__file__).parent


class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, item: int) -> None:
        self.items.append(item)

    def pop(self) -> int | None:
        return self.items.pop() if self.items else None


class Queue:
    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        self.items.append(item)

    def get(self) -> int | None:
        return self.items.pop(0) if self.items else None


stack = mazurka.scenario(Stack, mazurka.c_program(HERE / "treiber.c"))
broken_stack = mazurka.scenario(Stack, mazurka.c_program(HERE / "treiber.c", ["-DBROKEN"]))
queue = mazurka.scenario(Queue, mazurka.c_program(HERE / "michael_scott.c"))
broken_queue = mazurka.scenario(Queue, mazurka.c_program(HERE / "michael_scott.c", ["-DBROKEN"]))
