"""The wheels and an environment with both, made once."""

from __future__ import annotations

import pytest

from tests.packaging.wheel import Installed, Wheels, build, install


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    return build(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def installed(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheels, tmp_path_factory.mktemp("environment"))
