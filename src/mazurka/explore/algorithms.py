"""The searches, by the names that users give them."""

from collections.abc import Callable

from mazurka.engine.search import Explorer, Search
from mazurka.explore.naive import NaiveSearch
from mazurka.explore.optimal import OptimalDpor
from mazurka.explore.pop import Pop
from mazurka.explore.qpor.exploration import Qpor
from mazurka.explore.sampling import PartialOrders, Priorities, Sampler
from mazurka.explore.source import SourceDpor
from mazurka.explore.trust.reads_from import ReadsFrom
from mazurka.explore.trust.visit import Trust

ALGORITHMS: dict[str, Callable[[Search], Explorer]] = {
    "pop": Pop,
    "optimal": OptimalDpor,
    "qpor": Qpor,
    "trust": lambda search: (ReadsFrom if search.reads_from else Trust)(search),
    "source": SourceDpor,
    "naive": NaiveSearch,
    "random": Sampler,
    "pct": Priorities,
    "pos": PartialOrders,
}
SAMPLERS = ("random", "pct", "pos")
SAMPLES = 1000  # that they take if nothing else ends the search
