from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evidence.checker.tree import Tree
from evidence.pages.commands import Command, read_commands


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tool")
    for path in (
        "bench/run.py",
        "bench/app/__main__.py",
        "src/lib/cli.py",
        "one.py",
        "sub/Makefile",
        "tests/test_a.py",
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("all:\n\techo\n" if path.endswith("Makefile") else "")
    return folder


def lacks(root: Path, text: str, address: str | None = None) -> str:
    found = [Tree(root, address).lack(command) for command in read_commands(text)]
    return "; ".join(f"{lack.message} {lack.fix}".strip() for lack in found if lack is not None)


@pytest.mark.parametrize(
    "text",
    [
        *("python -m bench.run", "python -m bench.app", "python -m lib.cli", "python -m one", "python one.py"),
        *("python -m http.server", "python -m pytest", "python -m nobody.knows", "cd bench && python run.py"),
        *("make -C sub", "make -C sub all X=1 -j 4", "make -f sub/Makefile all", "cd sub && make all"),
        *(
            "pytest tests/test_a.py::test_x -q",
            "pytest",
            "python $SCRIPT",
            "python *.py",
            "./$X.sh",
            "python /opt/x.py",
        ),
        *("tar xf x.tgz && cd /tmp/x && python setup.py", "python -m venv new && source new/bin/activate"),
        *("source .venv/bin/activate", "mkdir obj && cd obj && make", "cd build && make", "./build/bench --x"),
        *("pytest -k a/b -q tests/test_a.py", "docker logs -f engine", "pip install -r https://x.org/r.txt"),
    ],
)
def test_what_is_there_or_cannot_be_told(root: Path, text: str) -> None:
    assert lacks(root, text) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("python -m bench.rum", "the module bench.rum is not in the repository did you mean bench.run?"),
        ("python -m bench", "the module bench is a package without __main__ did you mean bench.run?"),
        ("python -m lib.clip", "the module lib.clip is not in the repository did you mean lib.cli?"),
        ("python old/run.py", "there is no old/run.py it is bench/run.py now"),
        ("cd bench && python bench/run.py", "there is no bench/run.py it is bench/run.py now"),
        ("cd bench && make all", "there is no Makefile for make to read"),
        ("make -C subs all", "there is no folder subs to make in"),
        ("cd obj && make", "there is no folder obj to make in"),
        ("bin/bench.sh", "there is no bin/bench.sh"),
        ("docker build -f docker/Dockerfile .", "there is no docker/Dockerfile"),
        ("pytest -q test_a.py", "there is no test_a.py it is tests/test_a.py now"),
        ("make -f sub/Makefile al", "make has no target al did you mean all?"),
    ],
)
def test_what_is_not_there(root: Path, text: str, said: str) -> None:
    assert lacks(root, text) == said


def test_a_clone_of_this_repository_is_this_repository(root: Path) -> None:
    clone = "git clone https://example.org/me/{0}.git\ncd {0}\npython gone.py"
    assert "there is no gone.py" in lacks(root, clone.format(root.name))
    assert lacks(root, clone.format("engine")) == ""
    assert "there is no gone.py" in lacks(root, clone.format("engine"), "https://example.org/me/engine.git")
    assert lacks(root, clone.format(root.name), "https://example.org/me/engine.git") == ""


def test_recipes_say_where_they_stand(root: Path) -> None:
    (root / "run.sh").write_text("#!/bin/sh\nset -e\npython one.py --x\n")

    def found(text: str) -> list[tuple[str, str]]:
        return [(place, inner.text) for one in read_commands(text) for place, inner in Tree(root).recipes(one)]

    assert found("make -C sub") == [("sub/Makefile:2", "echo")]
    assert found("bash run.sh")[-1] == ("run.sh:3", "python one.py --x")
    assert found("python one.py") == []


def test_the_source_of_a_program(root: Path, tmp_path: Path) -> None:
    (root / "one.py").write_text("x = 1\n")
    (tmp_path / "outside.py").write_text("secret\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")

    def source(text: str) -> str:
        (command,) = read_commands(text)
        assert isinstance(command, Command)
        return Tree(root.resolve()).source(command)

    assert source("python one.py") == source("python -m one") == "x = 1\n"
    assert source("python link.py") == source("python none.py") == source("ls") == ""


def test_what_is_installed_is_found_by_its_path_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finders may act on being asked: that of setuptools brings the old distutils back when it hears of pip."""
    asked: list[str] = []

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            asked.append(name)

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    assert lacks(root, "python -m pip install -e .") == ""
    assert "pip" not in asked
    lacks(root, "python -m nobody.knows")
    assert "nobody" in asked
