"""Atomic blocks: parts of threads that nothing comes between.

A block is explored like any other code. An execution in which something came between its steps is
kept only if it is equivalent to one in which nothing did. It is not cut short before: what a search
learns from it may lead to executions that are kept.
"""

from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import JOIN, SPAWN
from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import Block
from mazurka.python.runtime.standard_thread import in_execution, own_state


def enter_block() -> None:
    """The running thread enters a block, unless it is in one."""
    check = RUNNING.check
    runtime = check.runtime
    if not in_execution():
        return
    state = own_state()
    state.nesting += 1
    if state.nesting == 1:
        if runtime.race_detector is not None:
            check.blocks_lock.acquire()  # a block must be a step to have an order among others
        thread = runtime.current
        assert thread is not None
        state.block = Block(thread.id, runtime.position)
        runtime.blocks.append(state.block)


def leave_block() -> None:
    check = RUNNING.check
    runtime = check.runtime
    if not in_execution():
        return
    state = own_state()
    state.nesting -= 1
    if state.nesting == 0 and not runtime.cancelling:
        assert state.block is not None
        state.block.end = runtime.position
        if runtime.race_detector is not None:
            check.blocks_lock.release()


def are_atomic(blocks: list[Block], events: list[Event]) -> bool:
    """Whether the events have an equivalent order in which nothing comes between those of a block:
    with each block as one node, the order that they must keep has no cycle."""
    begin = len(events)
    end = 0
    nodes = list(range(len(events)))
    for block in blocks:
        if is_split(block, events):
            begin = min(begin, block.begin)
            end = max(end, min(block.end, len(events)))
    if begin >= end:
        return True
    for number, block in enumerate(blocks):
        for position in range(block.begin, min(block.end, end)):
            if events[position].thread == block.thread:
                nodes[position] = len(events) + number
    return not has_cycle(successors(begin, end, nodes, events))


def is_split(block: Block, events: list[Event]) -> bool:
    """Whether another thread took a step between those of a block."""
    own_steps = [
        position
        for position in range(block.begin, min(block.end, len(events)))
        if events[position].thread == block.thread
    ]
    return bool(own_steps) and own_steps[-1] - own_steps[0] >= len(own_steps)


def successors(begin: int, end: int, nodes: list[int], events: list[Event]) -> dict[int, set[int]]:
    """For each node, those that must come after it."""
    after: dict[int, set[int]] = {node: set() for node in nodes[begin:end]}
    for later in range(begin, end):
        for earlier in range(begin, later):
            one, other = nodes[earlier], nodes[later]
            if one != other and must_precede(events[earlier], events[later]):
                after[one].add(other)
    return after


def must_precede(one: Event, other: Event) -> bool:
    return (
        dependent(one, other)
        or (one.kind == SPAWN and one.choice == other.thread)
        or (other.kind == JOIN and other.choice == one.thread)
    )


def has_cycle(after: dict[int, set[int]]) -> bool:
    """Whether some nodes are left when those that none precedes are taken away, one by one."""
    preceded = dict.fromkeys(after, 0)
    for node in after:
        for other in after[node]:
            preceded[other] += 1
    free = [node for node in after if preceded[node] == 0]
    taken = 0
    while free:
        taken += 1
        for other in after[free.pop()]:
            preceded[other] -= 1
            if preceded[other] == 0:
                free.append(other)
    return taken < len(after)
