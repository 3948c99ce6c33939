"""paho-mqtt: "publish ... returns an object that represents the message: its mid is the message ID
for the publish request". Threads publish at the same time; a broker takes messages of one ID for
one.

Up to 1.3.1, two of them could get the same ID.
"""

import pytest

import mazurka
from examples.libraries.threads import together

client = pytest.importorskip("paho.mqtt.client")
if hasattr(client, "_socketpair_compat"):  # old releases open sockets at once
    client._socketpair_compat = lambda: (None, None)
VERSION = [client.CallbackAPIVersion.VERSION2] if hasattr(client, "CallbackAPIVersion") else []


# What is done when an object is let go of is not explored.
FINALIZERS = ["paho.mqtt.client.Client.__del__"]


@mazurka.check(opaque=FINALIZERS)
def test_every_message_has_an_id_of_its_own() -> None:
    mqtt = client.Client(*VERSION)
    ids = []
    together(
        lambda: ids.append(mqtt.publish("news", "first", qos=1).mid),
        lambda: ids.append(mqtt.publish("news", "second", qos=1).mid),
    )
    assert sorted(ids) == [1, 2]
