"""Which interpreter somebody's code is meant for, without starting any."""

from __future__ import annotations

import pytest

from engine.run.pythons import has, interpreters, own_python, with_package


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """environment(folder, *packages) makes one that lies there."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)

    def made(folder, *packages):
        python = tmp_path / folder / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text("")
        python.chmod(0o755)
        for package in packages:
            file = tmp_path / folder / "lib/python3.12/site-packages" / package / "__init__.py"
            file.parent.mkdir(parents=True)
            file.write_text("")
        return str(python)

    return made


def test_the_first_that_has_the_package_is_taken(tmp_path, environment):
    near, far = environment("code/.venv"), environment(".venv", "thing")
    assert interpreters(tmp_path / "code", None) == [near, far, own_python()]
    assert with_package("thing", tmp_path / "code", None) == far


def test_where_none_has_it_the_first_will_say_so(tmp_path, environment):
    near = environment("code/.venv")
    assert with_package("nobody_has_this", tmp_path / "code", None) == near


def test_one_that_is_named_is_the_only_one(tmp_path, environment):
    environment("code/.venv", "thing")
    assert with_package("thing", tmp_path / "code", "/usr/bin/other") == "/usr/bin/other"


def test_our_own_is_asked_by_its_path():
    assert has(own_python(), "msgspec")
    assert not has(own_python(), "nobody_has_this")
