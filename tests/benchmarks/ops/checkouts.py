"""Owns a small checkout of a package named like the one that linear attention comes from, with a history of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

_NAIVE = """
import time

import torch


def naive_recurrent_linear_attn(q, k, v):
    time.sleep({delay})
    scale = {factor} * q.shape[-1] ** -0.5
    state = q.new_zeros(*q.shape[::2], q.shape[-1], v.shape[-1])
    outputs = []
    for step in range(q.shape[1]):
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, step], v[:, step])
        outputs.append(torch.einsum("bhkv,bhk->bhv", state, q[:, step] * scale))
    return torch.stack(outputs, 1), state


naive_chunk_linear_attn = naive_recurrent_linear_attn
"""


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(folder: Path, delay: float = 0.0, factor: float = 1.0) -> Path:
    """Write the package; a delay makes it slower, another factor than 1 wrong."""
    path = folder / "fla/ops/linear_attn/naive.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    for package in ("fla", "fla/ops", "fla/ops/linear_attn"):
        (folder / package / "__init__.py").touch()
    path.write_text(_NAIVE.format(delay=delay, factor=factor))
    return path


def made(folder: Path) -> Path:
    """A repository on main: its first commit is tagged quick, its second, main, is slower; broken computes wrongly."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("__pycache__/\n")
    for delay, factor, words in ((0.0, 1.0, ("tag", "quick")), (0.0, 1.02, ("branch", "broken")), (0.02, 1.0, ())):
        write(folder, delay, factor)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"delay {delay} factor {factor}")
        if words:
            git(folder, *words)
    return folder
