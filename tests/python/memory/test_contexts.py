"""Context variables: threads have values of their own, unless they run in the same context."""

from contextvars import Context, ContextVar, copy_context

from mazurka import explore
from tests.python.threads import both


def test_threads_do_not_share_the_values_of_a_variable() -> None:
    def program() -> None:
        user: ContextVar[list[int]] = ContextVar("user")

        def work() -> None:
            token = user.set([1])
            user.get().append(2)
            assert user.get() == [1, 2]
            user.reset(token)
            assert user.get(None) is None

        both(work, work)

    result = explore(program)
    assert (result.verdict, result.executions) == ("verified", 1)


def test_what_is_in_a_context_may_be_found_by_others() -> None:
    def program() -> int:
        count: ContextVar[list[int]] = ContextVar("count")
        count.set([0])
        here = copy_context()

        def add() -> None:
            here.copy().run(add_one)

        def add_one() -> None:
            count.get()[0] += 1

        both(add, add)
        return count.get()[0]

    assert set(explore(program).outcomes) == {1, 2}


def test_a_context_is_run_in_by_one_thread_at_a_time() -> None:
    def program() -> int:
        context = Context()
        refused = []

        def nothing() -> None:
            pass

        def enter() -> None:
            try:
                context.run(nothing)
            except RuntimeError:
                refused.append(1)

        both(enter, enter)
        return len(refused)

    assert set(explore(program).outcomes) == {0, 1}
