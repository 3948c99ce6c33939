"""prometheus_client: metrics that threads share. "Counters go up"; a labelled child is made once,
and a registry takes a name once.
"""

import pytest

import mazurka
from examples.libraries.threads import together

prometheus = pytest.importorskip("prometheus_client")


@mazurka.check
def test_no_increment_is_lost() -> None:
    registry = prometheus.CollectorRegistry()
    requests = prometheus.Counter("requests", "handled", ["method"], registry=registry)

    def handle() -> None:
        requests.labels("get").inc()

    together(handle, handle, handle)
    assert registry.get_sample_value("requests_total", {"method": "get"}) == 3


@mazurka.check
def test_a_histogram_counts_all() -> None:
    registry = prometheus.CollectorRegistry()
    seconds = prometheus.Histogram("seconds", "taken", buckets=[1, 2], registry=registry)
    together(lambda: seconds.observe(0.5), lambda: seconds.observe(1.5))
    assert registry.get_sample_value("seconds_bucket", {"le": "2.0"}) == 2
    assert registry.get_sample_value("seconds_sum") == 2


@mazurka.check
def test_a_name_is_taken_once() -> None:
    registry = prometheus.CollectorRegistry()
    refused = []

    def register() -> None:
        try:
            prometheus.Gauge("size", "of it", registry=registry)
        except ValueError as error:
            refused.append(error)

    together(register, register)
    assert len(refused) == 1
