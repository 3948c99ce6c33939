"""flask: "The application context ... g" and "request" are proxies to what belongs to the request
that the thread handles; threads handle requests at the same time.
"""

import pytest

import mazurka
from examples.libraries.threads import together

flask = pytest.importorskip("flask")


# What is done when an object is let go of is not explored.
FINALIZERS = ["werkzeug.test.EnvironBuilder.__del__"]


@mazurka.check(opaque=FINALIZERS)
def test_each_request_has_its_own_g() -> None:
    app = flask.Flask("shop", static_folder=None)

    def work(name: str) -> None:
        with app.app_context():
            flask.g.name = name
            assert flask.g.name == name
        assert not flask.has_app_context()

    together(lambda: work("first"), lambda: work("second"))


@mazurka.check(opaque=FINALIZERS)
def test_each_thread_sees_its_own_request() -> None:
    app = flask.Flask("shop", static_folder=None)

    def work(name: str) -> None:
        with app.test_request_context("/", query_string={"name": name}):
            assert flask.request.args["name"] == name

    together(lambda: work("first"), lambda: work("second"))
