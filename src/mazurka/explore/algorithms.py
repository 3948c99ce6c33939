"""The searches, by the names that users give them."""

from collections.abc import Callable

from mazurka.engine.search import Search
from mazurka.engine.task import WHOLE
from mazurka.explore.naive import NaiveSearch
from mazurka.explore.optimal import OptimalDpor
from mazurka.explore.pop import Pop
from mazurka.explore.qpor.exploration import Qpor
from mazurka.explore.sampling import PartialOrders, Priorities, Sampler
from mazurka.explore.source import SourceDpor
from mazurka.explore.trust.reads_from import ReadsFrom
from mazurka.explore.trust.visit import Trust

ALGORITHMS: dict[str, Callable[[Search], bool]] = {
    "pop": lambda search: Pop(search, [WHOLE]).explore(),
    "optimal": lambda search: OptimalDpor(search).explore(),
    "qpor": lambda search: Qpor(search).explore(),
    "trust": lambda search: (ReadsFrom if search.reads_from else Trust)(search).explore(),
    "source": lambda search: SourceDpor(search).explore(),
    "naive": lambda search: NaiveSearch(search).explore(),
    "random": lambda search: Sampler(search).explore(),
    "pct": lambda search: Priorities(search).explore(),
    "pos": lambda search: PartialOrders(search).explore(),
}
SAMPLERS = ("random", "pct", "pos")
SAMPLES = 1000  # that they take if nothing else ends the search
