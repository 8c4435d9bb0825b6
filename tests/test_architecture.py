"""The shape of the code: who may import whom, how large a room may be, what a start-up may load."""

from __future__ import annotations

import ast
import importlib.util
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks
import evidence

ROOT = Path(__file__).parents[1]
BUDGET = 400
"""Lines of code of one module, docstrings, comments and blank lines aside: a rule's docstring is its page."""
HEAVY = (
    "torch",
    "triton",
    "scipy",
    "numpy",
    "mkdocs",
    "markdown",
    "jinja2",
    "rich",
    "jsonschema",
    "ruamel",
    "tabulate",
)
MODULES = sorted(path for package in (evidence, benchmarks) for path in Path(package.__path__[0]).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_keep_to_their_contracts() -> None:
    done = run("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "0 broken" in done.stdout


def test_the_check_starts_without_what_is_slow_to_load() -> None:
    program = f"import sys, evidence.check; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert run("-c", program).stdout.strip() == "[]"


def test_evidence_imports_where_nothing_but_its_own_dependencies_is() -> None:
    program = (
        "import sys\n"
        "for name in ('torch', 'triton', 'benchmarks', 'fla', 'pynvml', 'psutil', 'mkdocs', 'mkdocs_macros'):\n"
        "    sys.modules[name] = None\n"
        "import evidence.check, evidence.book, evidence.checker.catalogue, evidence.renderers.html\n"
    )
    done = run("-W", "error", "-c", program)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_owns_and_keeps_to_its_budget(path: Path) -> None:
    tree = tree_of(path)
    docstring = ast.get_docstring(tree) or ""
    is_named_otherwise = path.name == "__init__.py" or path.parent.name in ("definitions", "kernels")
    assert docstring, "a module without a docstring"
    assert is_named_otherwise or docstring.startswith("Owns "), docstring.split("\n")[0]
    assert len(code_lines(path, tree)) <= BUDGET


def code_lines(path: Path, tree: ast.Module) -> list[str]:
    """The lines that are code."""
    documented = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return [line for number, line in lines if number not in documented and line.strip() and line.strip()[0] != "#"]


def test_only_the_command_line_prints() -> None:
    printing = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printing <= {"evidence/cli.py"}


def test_nothing_validated_is_built_without_validation() -> None:
    for path in MODULES:
        assert "model_construct(" not in path.read_text(encoding="utf-8"), name_of(path)


def test_names_of_modules_say_what_is_in_them() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "core", "manager", "base_utils"}
    assert not {path.stem for path in MODULES} & vague


def test_every_package_is_importable_and_shipped() -> None:
    for package in (evidence, benchmarks):
        folders = {path.parent for path in MODULES if path.is_relative_to(package.__path__[0])}
        assert all((folder / "__init__.py").is_file() for folder in folders)
        found = {info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")}
        assert all(importlib.util.find_spec(name) for name in found)
