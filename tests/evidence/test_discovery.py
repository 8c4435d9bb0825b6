"""Closed sets are found by walking a package: each member once, and a module that fails fails the walk."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.discovery import instances

MODULES = {
    "__init__.py": "from decimal import Decimal\nHERE = Decimal(0)\n",
    "b.py": "from decimal import Decimal\nONE = Decimal(1)\nSAME = ONE\nTEXT = 'no'\n",
    "a.py": "from decimal import Decimal\nfrom {name}.b import ONE\nTWO = Decimal(2)\n",
    "deep/__init__.py": "",
    "deep/c.py": "from decimal import Decimal\nTHREE = Decimal(3)\n",
}


def package(folder: Path, name: str, **more: str) -> str:
    for path, text in {**MODULES, **more}.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text.format(name=name))
    return name


@pytest.fixture(autouse=True)
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))


def test_every_instance_is_found_once_in_order_of_modules(tmp_path: Path) -> None:
    from decimal import Decimal

    name = package(tmp_path, "found_set")
    assert list(instances(name, Decimal)) == [1, 2, 3]
    assert list(instances(name, bytes)) == []


@pytest.mark.parametrize("path", ["broken.py", "broken/__init__.py"])
@pytest.mark.parametrize("text", ["import nothing_of_this_name\n", "raise ImportError('no')\n"])
def test_a_module_that_fails_is_not_passed_over(tmp_path: Path, path: str, text: str) -> None:
    from decimal import Decimal

    name = package(tmp_path, f"hole_{path[6] == '.'}_{text[0]}".lower(), **{path: text})
    with pytest.raises(ImportError):
        list(instances(name, Decimal))


def test_a_package_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ImportError):
        list(instances("no_such_package_here", int))
