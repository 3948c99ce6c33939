"""The searches, by the names that users give them."""

from collections.abc import Callable

from mazurka.core.part import WHOLE
from mazurka.explore.naive import NaiveSearch
from mazurka.explore.optimal import OptimalDpor
from mazurka.explore.pop import Pop
from mazurka.explore.qpor import Qpor
from mazurka.explore.reads_from import ReadsFrom
from mazurka.explore.sampling import PartialOrders, Priorities, Sampler
from mazurka.explore.search import Search
from mazurka.explore.source import SourceDpor
from mazurka.explore.trust import Trust

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
