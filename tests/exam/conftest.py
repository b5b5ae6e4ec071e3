"""Children have the code of level exam."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _exam(request: pytest.FixtureRequest) -> None:
    """Whatever level a verdict before had."""
    if "servers" in request.fixturenames:
        request.getfixturevalue("servers").exam = True
