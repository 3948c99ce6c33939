"""Treiber's stack, and one that is broken: its pop stores the new head without comparing."""

import mazurka


class Stack:
    """The specification: a plain class, for one thread."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, item: int) -> None:
        self.items.append(item)

    def pop(self) -> int | None:
        return self.items.pop() if self.items else None


class Node:
    def __init__(self, item: int, below: "Node | None") -> None:
        self.item = item
        self.below = below


class TreiberStack:
    def __init__(self) -> None:
        self.head: mazurka.Atomic[Node | None] = mazurka.Atomic(None, "head")

    def push(self, item: int) -> None:
        while True:
            head = self.head.load()
            if self.head.compare_exchange(head, Node(item, head)):
                return

    def pop(self) -> int | None:
        while True:
            head = self.head.load()
            if head is None:
                return None
            if self.head.compare_exchange(head, head.below):
                return head.item


class BrokenStack(TreiberStack):
    def pop(self) -> int | None:
        head = self.head.load()
        if head is None:
            return None
        self.head.store(head.below)
        return head.item


right = mazurka.scenario(
    Stack, TreiberStack, threads=2, operations=2, arguments={"push": [1, 2]}, scenarios=1000
)
broken = mazurka.scenario(
    Stack, BrokenStack, threads=2, operations=2, arguments={"push": [1, 2]}, scenarios=1000
)
