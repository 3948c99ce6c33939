"""How many executions a search has, from a part of its tree; and what is said about that."""

import json
import random
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import mazurka
from mazurka.cli.main import main
from mazurka.engine.search import Branch
from mazurka.engine.status import Estimate
from mazurka.report.amounts import duration, duration_text, executions_text
from mazurka.scale.estimate import Estimator, Round, chances_of, estimate_of
from tests.scale.programs import failing, three_increments


class Tree:
    """A tree as searches have them: branches that go off early have by far the largest subtrees."""

    def __init__(self, length: int) -> None:
        self.length = length

    def below(self, branch: object) -> list[Branch]:
        first = branch if isinstance(branch, int) else 0
        return [(place, place + 1) for place in range(first, self.length)]

    @property
    def executions(self) -> int:
        return int(2**self.length)


def estimated(tree: Tree, runs: int, seed: int) -> tuple[Estimate | None, Estimator]:
    estimator = Estimator(tree.below, random.Random(seed))
    for _ in estimator.steps():
        if estimator.runs >= runs:
            break
    return estimate_of(estimator.rounds), estimator


def test_a_part_of_a_tree_tells_its_size() -> None:
    tree = Tree(18)
    close = covered = 0
    for seed in range(20):
        found, _ = estimated(tree, tree.executions // 50, seed)
        assert found is not None and not found.is_exact
        assert found.low < found.executions < found.high
        close += tree.executions / 2 < found.executions < 2 * tree.executions
        covered += found.low <= tree.executions <= found.high
    assert close == 20 and covered >= 18


def test_more_of_the_tree_tells_more() -> None:
    tree = Tree(20)
    found = [estimated(tree, runs, 1)[0] for runs in (500, 20_000)]
    spreads = [one.high / one.low for one in found if one is not None]
    assert len(spreads) == 2 and spreads[1] < spreads[0] / 4


def test_rounds_are_right_on_average() -> None:
    """Whatever they have learnt."""
    tree = Tree(7)
    total = 0.0
    for seed in range(400):
        estimator = Estimator(tree.below, random.Random(seed))
        for _ in range(3):
            for _ in estimator.round(2):
                pass
        total += estimator.rounds[-1].executions
    assert abs(total / 400 / tree.executions - 1) < 0.15


def test_a_small_tree_is_seen_whole() -> None:
    tree = Tree(3)
    found, estimator = estimated(tree, 1000, 0)
    assert found == Estimate(8, 8, 8) and found.is_exact
    assert estimator.runs == 8


def test_nothing_is_said_after_one_round() -> None:
    assert estimate_of([]) is None
    assert estimate_of([Round(4, 10.0)]) is None
    few = estimate_of([Round(4, 10.0), Round(4, 10.0)])
    many = estimate_of([Round(4, 10.0)] * 20)
    assert few is not None and many is not None
    assert few.high / few.low > many.high / many.low > 1  # even if all agree


def test_chances() -> None:
    chances = chances_of([100.0, 1.0, 2.0, 3.0], 2)
    assert chances[0] == 1.0
    assert sum(chances) == pytest.approx(2)
    assert chances[3] == pytest.approx(3 * chances[1])
    assert chances_of([1.0] * 5, 5) == [1.0] * 5


# What users get


def four_deposits() -> None:
    lock = threading.Lock()

    def work() -> None:
        for _ in range(2):
            with lock:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("algorithm", ["pop", "trust", "optimal"])
def test_a_forecast(algorithm: str) -> None:
    """8! / 2!^4 executions."""
    forecast = mazurka.estimate(four_deposits, algorithm=algorithm, seconds=1.0)
    assert forecast.executions is not None and forecast.seconds is not None
    assert forecast.executions.low <= 2520 <= forecast.executions.high
    assert forecast.rate > 0 and forecast.threads == 5
    assert bool(forecast.notes) == (algorithm == "optimal")


def test_a_search_that_is_over_at_once() -> None:
    forecast = mazurka.estimate(three_increments)
    result = mazurka.explore(three_increments)
    assert forecast.executions == Estimate(*[result.executions] * 3)
    assert not forecast.remedies


def test_a_failure_is_told() -> None:
    forecast = mazurka.estimate(failing)
    assert "AssertionError" in forecast.failure
    forecast = mazurka.estimate(failing, stop_on_failure=False)
    assert forecast.executions is not None and forecast.executions.is_exact


def test_advice() -> None:
    """Options that were tried come with what they take."""
    forecast = mazurka.estimate(many_accesses, seconds=2.0)
    advice = {tuple(remedy.options): remedy for remedy in forecast.remedies}
    assert "fails at once (cells[0] is written" in advice[("granularity",)].sentence
    bounded = advice[("preemptions",)]
    assert bounded.executions is not None and forecast.executions is not None
    assert bounded.executions.executions < forecast.executions.executions


def many_accesses() -> None:
    """What takes too many executions."""
    cells = [0, 0]

    def work() -> None:
        for _ in range(3):
            cells[0] += 1
            cells[1] += 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_is_refused() -> None:
    with pytest.raises(mazurka.MazurkaError, match="nothing to estimate"):
        mazurka.estimate(three_increments, algorithm="pct")
    with pytest.raises(mazurka.MazurkaError, match="more than 0"):
        mazurka.estimate(three_increments, seconds=0)
    with pytest.raises(mazurka.MazurkaError, match="estimate has no option 'job'"):
        mazurka.estimate(three_increments, job=2)  # type: ignore[call-arg]


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "small.py"
    file.write_text(Path(__file__).with_name("programs.py").read_text())
    run = CliRunner().invoke(main, ["estimate", f"{file}::three_increments", "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["executions"]["exact"] is True
    run = CliRunner().invoke(main, ["estimate", f"{file}::failing"])
    assert "fails: AssertionError" in run.stdout
    run = CliRunner().invoke(main, ["estimate", f"{file}::failing", "--algorithm", "pos"])
    assert run.exit_code == 2 and "nothing to estimate" in run.stderr


def test_words() -> None:
    assert executions_text(Estimate(2_345_678, 1_000_000, 5e16)) == (
        "about 2,300,000 executions (1,000,000 to 10^17)"
    )
    assert executions_text(Estimate(1, 1, 1)) == "1 execution"
    assert duration_text(Estimate(100, 30, 7200)) == "about 100 s (30 s to 2 h)"
    assert [duration(each) for each in (0.04, 119, 121, 86400 * 3, 4e7, 1e30)] == [
        "0.0 s",
        "119 s",
        "2 min",
        "3 days",
        "460 days",
        "10^23 years",
    ]
