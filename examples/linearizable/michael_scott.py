"""The queue of Michael and Scott, and a broken one: a put is over before others can see it."""

import mazurka


class Queue:
    """The specification: a plain class, for one thread."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        self.items.append(item)

    def get(self) -> int | None:
        return self.items.pop(0) if self.items else None


class Node:
    def __init__(self, item: int | None) -> None:
        self.item = item
        self.next: mazurka.Atomic[Node | None] = mazurka.Atomic(None, "next")


class MichaelScottQueue:
    def __init__(self) -> None:
        node = Node(None)
        self.head = mazurka.Atomic(node, "head")
        self.tail = mazurka.Atomic(node, "tail")

    def put(self, item: int) -> None:
        node = Node(item)
        while True:
            tail = self.tail.load()
            following = tail.next.load()
            if following is not None:  # another put has not moved the tail yet: help it
                self.tail.compare_exchange(tail, following)
            elif tail.next.compare_exchange(None, node):
                self.tail.compare_exchange(tail, node)
                return

    def get(self) -> int | None:
        while True:
            head = self.head.load()
            tail = self.tail.load()
            following = head.next.load()
            if following is None:
                return None
            if head is tail:
                self.tail.compare_exchange(tail, following)
            elif self.head.compare_exchange(head, following):
                return following.item


class BrokenQueue:
    """A put takes its place with one exchange, and links its node only then. Until that is done,
    nobody finds what was put behind it, even by a put that is over."""

    def __init__(self) -> None:
        self.head = Node(None)  # only one thread gets
        self.tail = mazurka.Atomic(self.head, "tail")

    def put(self, item: int) -> None:
        node = Node(item)
        before = self.tail.exchange(node)
        before.next.store(node)

    def get(self) -> int | None:
        following = self.head.next.load()
        if following is None:
            return None
        self.head = following
        return following.item


right = mazurka.scenario(
    Queue, MichaelScottQueue, threads=2, operations=2, arguments={"put": [1, 2]}, scenarios=1000
)
broken = mazurka.scenario(Queue, BrokenQueue, threads=[[("put", 1)], [("put", 2), "get"]])
