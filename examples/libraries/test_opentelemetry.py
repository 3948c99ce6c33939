"""opentelemetry-sdk: "Meter and Instrument ... all methods MUST be documented that implementations
need to be safe for concurrent use". (From the specification, as of metrics; likewise for tracers.)

Up to 1.39, a thread that asked for an instrument while another made it raised KeyError. Up to 1.43,
a measurement while metrics were collected could raise ValueError.
"""

from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

metrics = pytest.importorskip("opentelemetry.sdk.metrics")
export = pytest.importorskip("opentelemetry.sdk.metrics.export")
reservoirs = pytest.importorskip("opentelemetry.sdk.metrics._internal.exemplar.exemplar_reservoir")
Resource = pytest.importorskip("opentelemetry.sdk.resources").Resource
Context = pytest.importorskip("opentelemetry.context").Context


def provider(*readers: Any) -> Any:
    return metrics.MeterProvider(readers, resource=Resource({}), shutdown_on_exit=False)


@mazurka.check
def test_one_instrument_for_a_name() -> None:
    meter = provider().get_meter("shop")
    made = []
    together(
        lambda: made.append(meter.create_counter("sold")),
        lambda: made.append(meter.create_counter("sold")),
    )
    assert made[0] is made[1]


@mazurka.check
def test_no_measurement_is_lost() -> None:
    reader = export.InMemoryMetricReader()
    sold = provider(reader).get_meter("shop").create_counter("sold")
    together(lambda: sold.add(1), lambda: sold.add(2))
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data
    assert data.data_points[0].value == 3


@mazurka.check
def test_a_measurement_while_others_collect() -> None:
    reservoir = reservoirs.SimpleFixedSizeExemplarReservoir(size=1)
    reservoir.offer(1, 0, {}, Context())
    together(lambda: reservoir.offer(2, 0, {}, Context()), lambda: reservoir.collect({}))
