"""The data structures of "Awaiting for Godot", with the loops that they wait in as they are."""

import threading

from benchmarks.awaiting import numbered_comparators
from benchmarks.awaiting_locks import Program, start
from mazurka import Atomic, assume, spawn


def mpmc_queue(writers: int, readers: int, both: int) -> Program:
    """A bounded queue: places are given away first, and then filled or emptied in order."""
    size = 4

    def program() -> None:
        begun = Atomic(0)  # low half: writes, high half: reads
        reads_done = Atomic(0)
        writes_done = Atomic(0)

        def write_begin() -> int | None:
            value = begun.load()
            while True:
                reads, writes = value >> 16, value & 0xFFFF
                if writes == reads + size:
                    return None
                found = begun.compare_swap(value, value + 1)
                if found == value:
                    break
                value = found
            while reads_done.load() & 0xFFFF != reads:
                pass
            return writes % size

        def read_begin() -> int | None:
            value = begun.load()
            while True:
                reads, writes = value >> 16, value & 0xFFFF
                if writes == reads:
                    return None
                found = begun.compare_swap(value, value + 0x10000)
                if found == value:
                    break
                value = found
            while writes_done.load() & 0xFFFF != writes:
                pass
            return reads % size

        def put(_: int) -> None:
            write_begin()
            writes_done.add(1)

        def drain(_: int) -> None:
            while read_begin() is not None:
                reads_done.add(1)

        def put_and_drain(me: int) -> None:
            put(me)
            drain(me)

        put(0)
        start(writers, put)
        start(readers, drain)
        start(both, put_and_drain)

    return program


def mpmc_queue_reload(writers: int, readers: int, both: int) -> Program:
    """The same queue, but whoever comes too late loads the word again: such a round is pure."""
    size = 4

    def program() -> None:
        begun = Atomic(0)  # low half: writes, high half: reads
        reads_done = Atomic(0)
        writes_done = Atomic(0)

        def write_begin() -> int | None:
            while True:
                value = begun.load()
                reads, writes = value >> 16, value & 0xFFFF
                if writes == reads + size:
                    return None
                if begun.compare_exchange(value, value + 1):
                    break
            while reads_done.load() & 0xFFFF != reads:
                pass
            return writes % size

        def read_begin() -> int | None:
            while True:
                value = begun.load()
                reads, writes = value >> 16, value & 0xFFFF
                if writes == reads:
                    return None
                if begun.compare_exchange(value, value + 0x10000):
                    break
            while writes_done.load() & 0xFFFF != writes:
                pass
            return reads % size

        def put(_: int) -> None:
            write_begin()
            writes_done.add(1)

        def drain(_: int) -> None:
            while read_begin() is not None:
                reads_done.add(1)

        def put_and_drain(me: int) -> None:
            put(me)
            drain(me)

        put(0)
        start(writers, put)
        start(readers, drain)
        start(both, put_and_drain)

    return program


def treiber_stack(pushers: int, poppers: int, both: int) -> Program:
    """A linked stack, whose nodes are numbers; the top has no counter of modifications."""
    thread_count = pushers + poppers + both
    node_count = 4 * thread_count + 1

    def program() -> None:
        top = Atomic(0)
        below = tuple(Atomic(0) for _ in range(node_count))
        values = tuple(Atomic(0) for _ in range(thread_count))

        def push(me: int) -> None:
            values[me].store(me + 42)
            node = 1 + 4 * me
            link = below[node]
            while True:
                old = top.load()
                link.store(old)
                if top.compare_exchange(old, node):
                    break

        def pop(_: int) -> None:
            while True:
                node = top.load()
                if node == 0:
                    return
                following = below[node].load()
                if top.compare_exchange(node, following):
                    break
            owner = (node - 1) // 4
            if owner != 0:
                values[owner].load()

        def push_and_pop(me: int) -> None:
            push(me)
            pop(me)

        start(pushers, push)
        start(poppers, pop, first=pushers)
        start(both, push_and_pop, first=pushers + poppers)

    return program


def ms_queue(writers: int, readers: int, both: int) -> Program:
    """The queue of Michael and Scott; a word is a node and a count."""
    thread_count = writers + readers + both
    node_count = 4 * thread_count + 3

    def program() -> None:
        head = Atomic((1, 0))
        tail = Atomic((1, 0))
        following = tuple(Atomic((0 if node == 1 else -1, 0)) for node in range(node_count))

        def enqueue(me: int) -> None:
            node = 2 + 4 * me
            count = following[node].load()[1]
            following[node].store((0, count))
            done = False
            while not done:
                last = tail.load()
                link = following[last[0]]
                behind = link.load()
                if tail.load() == last:
                    if behind[0] == 0:
                        done = link.compare_exchange(behind, (node, behind[1] + 1))
                    if not done:
                        beyond = link.load()[0]
                        tail.compare_exchange(last, (beyond, last[1] + 1))
            tail.compare_exchange(last, (node, last[1] + 1))

        def dequeue(_: int) -> None:
            done = False
            while not done:
                first = head.load()
                last = tail.load()
                behind = following[first[0]].load()
                if head.load() == first:
                    if first[0] == last[0]:
                        if behind[0] == 0:
                            return
                        tail.compare_exchange(last, (behind[0], last[1] + 1))
                    else:
                        done = head.compare_exchange(first, (behind[0], first[1] + 1))
                        assume(done)

        def enqueue_and_dequeue(me: int) -> None:
            enqueue(me)
            dequeue(me)

        start(writers, enqueue)
        start(readers, dequeue, first=writers)
        start(both, enqueue_and_dequeue, first=writers + readers)

    return program


def safestack(*operations: int) -> Program:
    """A stack of three elements, with a mistake that three threads with seven operations show.

    The operations of a thread are a pop, then a push of what it has got, then a pop, ... A thread
    that pops when one element is left waits for ever: a livelock.
    """
    return stack_of_three(operations, daemons=False, checked=True)


def safestack_daemons(*operations: int) -> Program:
    """The same with threads that may wait for ever: only the mistake is a failure."""
    return stack_of_three(operations, daemons=True, checked=True)


def safestack_unchecked(*operations: int) -> Program:
    """The same without the assertion that tells the mistake."""
    return stack_of_three(operations, daemons=True, checked=False)


def stack_of_three(operations: tuple[int, ...], daemons: bool, checked: bool) -> Program:
    size = 3

    def program() -> None:
        head = Atomic(0)
        count = Atomic(size)
        below = tuple(Atomic(number) for number in (1, 2, -1))
        owners = tuple(Atomic(-1) for _ in range(size))

        def pop() -> int:
            while count.load() > 1:
                top = head.load()
                link = below[top]
                following = link.exchange(-1)
                if following >= 0:
                    if head.compare_exchange(top, following):
                        count.add(-1)
                        return top
                    link.exchange(following)
            return -1

        def push(element: int) -> None:
            link = below[element]
            while True:
                top = head.load()
                link.store(top)
                if head.compare_exchange(top, element):
                    break
            count.add(1)

        def worker(me: int) -> None:
            left = operations[me]
            while left > 0:
                left -= 1
                while True:
                    element = pop()
                    if element != -1:
                        break
                owners[element].store(me)
                owner = owners[element].load()
                assert owner == me or not checked
                if left > 0:
                    left -= 1
                    push(element)

        for me in range(len(operations)):
            if daemons:
                threading.Thread(target=worker, args=(me,), daemon=True).start()
            else:
                spawn(worker, me)

    return program


def sortnet(thread_count: int) -> Program:
    """The sorting network, whose threads poll the generations of the elements."""
    element_count = 2 * thread_count
    comparators = tuple(numbered_comparators(element_count))

    def program() -> None:
        x = tuple(Atomic(element_count - place) for place in range(element_count))
        generations = tuple(Atomic(0) for _ in range(element_count))

        def worker(me: int) -> None:
            for number in range(me, len(comparators), thread_count):
                left, right, left_generation, right_generation = comparators[number]
                left_done, right_done = generations[left], generations[right]
                while left_done.load() != left_generation:
                    pass
                while right_done.load() != right_generation:
                    pass
                first, second = x[left].load(), x[right].load()
                if first > second:
                    x[left].store(second)
                    x[right].store(first)
                left_done.store(left_generation + 1)
                right_done.store(right_generation + 1)

        handles = [spawn(worker, me) for me in range(thread_count)]
        for handle in handles:
            handle.join()
        values = [element.load() for element in x]
        assert values == sorted(values)

    return program
