"""Programs of "Awaiting for Godot: Stateless Model Checking that Avoids Executions where Nothing
Happens": the small ones of its figures, and its sorting network.

The paper finds awaits in polling loops; these programs say ``await_value`` where the paper has such
a loop. ``add`` is a fetch-and-add whose result is not used, so that two of them may commute.
"""

from collections.abc import Callable

from mazurka import Atomic, assume, spawn

Program = Callable[[], object]


def equals(expected: int) -> Callable[[int], bool]:
    """What most awaits here wait for."""
    return lambda value: value == expected


def figure_1() -> Program:
    """Bubble sort of three elements by two threads that hand the middle one to each other."""

    def program() -> None:
        x = [Atomic(3), Atomic(2), Atomic(1)]
        y = Atomic(0)

        def p() -> None:
            sort(x[0], x[1])
            y.store(1)
            y.await_value(equals(2))
            sort(x[0], x[1])

        def q() -> None:
            y.await_value(equals(1))
            sort(x[1], x[2])
            y.store(2)

        threads = [spawn(p), spawn(q)]
        for thread in threads:
            thread.join()
        assert [element.load() for element in x] == [1, 2, 3]

    return program


def sort(left: Atomic[int], right: Atomic[int]) -> None:
    """Swap the values of two variables unless they are in order."""
    a = left.load()
    b = right.load()
    if a > b:
        left.store(b)
        right.store(a)


def figure_2() -> Program:
    """A value handed over with a flag: one trace, since the await fires only after the flag."""

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)

        def p() -> None:
            x.await_value(equals(1))
            y.load()

        def q() -> None:
            y.store(42)
            x.store(1)

        spawn(p)
        spawn(q)

    return program


def figure_3() -> Program:
    """Two threads store to the same two variables: no await, four traces."""

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)

        def worker(value: int) -> None:
            x.store(value)
            y.store(value)

        threads = [spawn(worker, 1), spawn(worker, 2)]
        for thread in threads:
            thread.join()
        assert abs(x.load() - y.load()) < 2

    return program


def figure_4() -> Program:
    """An await that two different states satisfy: the initial one, and the final one."""

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)

        def p() -> None:
            x.store(1)
            x.store(0)

        def q() -> None:
            x.await_value(equals(0))
            y.store(1)

        spawn(p)
        spawn(q)

    return program


def figure_5() -> Program:
    """An await that only one order of the additions satisfies, and then only between two of them.

    No reversal of a single pair of additions leads from the executions in which it waits for ever
    to the one in which it does not.
    """

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)

        def adder(amount: int) -> None:
            x.add(amount)

        def waiter() -> None:
            x.await_value(equals(3))
            y.store(1)

        for amount in (1, 1, 3):
            spawn(adder, amount)
        spawn(waiter)

    return program


def figure_6(first: int, second: int, third: int) -> Program:
    """The paper's loop that is pure only for x > 4, beside a thread with three stores to x.

    The figure shows the loop alone; the stores and the bound on the rounds complete the program.
    The await is the ``assume(a <= 4)`` that the paper's analysis inserts after the load.
    """
    rounds = 6

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)
        z = Atomic(0)

        def looper() -> None:
            for _ in range(rounds):
                a = x.await_value(lambda value: value <= 4)
                y.load()
                if a < 4:
                    return
                z.store(42)
            assume(False)  # out of rounds: a blocked execution

        def storer() -> None:
            x.store(first)
            x.store(second)
            x.store(third)

        spawn(looper)
        spawn(storer)

    return program


def figure_6_loop(first: int, second: int, third: int) -> Program:
    """The same with the loop as it is in the paper: the condition is hoisted over the read of y."""

    def program() -> None:
        x = Atomic(0)
        y = Atomic(0)
        z = Atomic(0)

        def looper() -> None:
            while True:
                a = x.load()
                y.load()
                if a == 4:
                    z.store(42)
                if a < 4:
                    break

        def storer() -> None:
            x.store(first)
            x.store(second)
            x.store(third)

        spawn(looper)
        spawn(storer)

    return program


def sortnet(thread_count: int) -> Program:
    """Threads share the comparators of a network that sorts two elements for each thread.

    An element has a generation, the number of comparators that are done with it. A comparator
    awaits the generations that it needs, so that only one trace is left.
    """
    element_count = 2 * thread_count
    comparators = numbered_comparators(element_count)

    def program() -> None:
        # Plain data: the awaits order all accesses to it.
        x = list(range(element_count, 0, -1))
        generations = [Atomic(0) for _ in range(element_count)]

        def worker(me: int) -> None:
            for left, right, left_generation, right_generation in comparators[me::thread_count]:
                generations[left].await_value(equals(left_generation))
                generations[right].await_value(equals(right_generation))
                if x[left] > x[right]:
                    x[left], x[right] = x[right], x[left]
                generations[left].store(left_generation + 1)
                generations[right].store(right_generation + 1)

        threads = [spawn(worker, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()
        assert x == sorted(x)

    return program


def numbered_comparators(element_count: int) -> list[tuple[int, int, int, int]]:
    """The comparators of the network: two elements, and their generations at that point."""
    touched = [0] * element_count
    numbered = []
    for left, right in odd_even_merge_sort(element_count):
        numbered.append((left, right, touched[left], touched[right]))
        touched[left] += 1
        touched[right] += 1
    return numbered


def odd_even_merge_sort(element_count: int) -> list[tuple[int, int]]:
    """Batcher's odd-even merge sort, as the list of its comparators."""
    comparators = []
    p = 1
    while p < element_count:
        k = p
        while k >= 1:
            for j in range(k % p, element_count - k, 2 * k):
                for left in range(j, j + min(k, element_count - j - k)):
                    if left // (2 * p) == (left + k) // (2 * p):
                        comparators.append((left, left + k))
            k //= 2
        p *= 2
    return comparators
