"""Ordinary programs, with executions that are computed."""

from benchmarks.ordinary import compared, render


def test_a_comparison() -> None:
    found = compared("cache(2)", 100)
    assert found.is_equal
    assert found.run.executions == 100
    assert found.computed.computed > 0
    assert render([found]).row_count == 1
