"""Included by a worker: it has the plain kind."""

from judges.kinds import registry
from tests.judges.runs import plain_kind

registry._PLACES[plain_kind.NAME] = plain_kind.__name__
