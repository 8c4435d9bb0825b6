"""Owns mutations of class I: commands that a reader cannot run as they are written."""

from __future__ import annotations

from benchmarks.evidence.mutants.mutation import Family, Mutation, mutation
from benchmarks.evidence.mutants.workbench import Mutant

_COMMANDS = {
    "with-a-placeholder": "python -m synthetic.run --op fuse --weights <ckpt> --log",
    "with-a-path-to-fill-in": "python -m synthetic.run --op fuse --weights /path/to/weights --log",
    "with-my-own-weights": "python -m synthetic.run --op fuse --weights my_weights.pt --log",
    "in-a-home-directory": "python /home/somebody/synthetic/run.py --op fuse",
    "in-a-tilde-directory": "python -m synthetic.run --op fuse --weights ~/weights.pt --log",
    "of-a-moved-script": "python synthetic/old/run.py --op fuse",
    "of-a-moved-module": "python -m synthetic.bench --op fuse --log",
    "without-its-argument": "python -m synthetic.run --log",
    "with-another-default": "python -m synthetic.run --op tile --size 1 --log",
    "of-no-target": "make bench-everything",
    "with-an-open-quote": 'python -m synthetic.run --op "fuse --log',
    "in-a-script-that-is-gone": "bash scripts/bench_{number}.sh",
    "with-an-ellipsis": "python -m synthetic.run ... --log",
}


def _typed(name: str, command: str) -> Mutation:
    def act(mutant: Mutant) -> None:
        language = mutant.rng.choice(("bash", "sh", "console"))
        prompt = "$ " if language == "console" else ""
        text = command.format(number=mutant.rng.randint(1, 99))
        mutant.append("docs/kernels.md", f"```{language}\n{prompt}{text}\n```")

    act.__name__ = f"command_{name}"
    act.__doc__ = f"A page prints a command {name.replace('-', ' ')}."
    return mutation("I", "EV706", "EV707", "EV708", fault=24)(act)


COMMANDS = Family(tuple(_typed(*one) for one in _COMMANDS.items()))


@mutation("I", "EV706", "EV707", "EV708", fault=24)
def command_in_the_readme(mutant: Mutant) -> None:
    """README.md prints a command with a placeholder."""
    mutant.append("README.md", "```bash\npython -m synthetic.run --op fuse --weights <checkpoint> --log\n```")


@mutation("I", "EV706", "EV707", "EV708")
def command_in_a_sentence(mutant: Mutant) -> None:
    """A page prints a command of a module that is not there inside a sentence."""
    mutant.append("docs/kernels.md", "Run `python -m synthetic.bench_all --op fuse --log` to see it.")


@mutation("I", "EV706", "EV707", "EV708")
def command_that_is_continued(mutant: Mutant) -> None:
    """A page prints a command over two lines, the second with a placeholder."""
    mutant.append("docs/kernels.md", "```bash\npython -m synthetic.run --op fuse \\\n  --weights <ckpt> --log\n```")


@mutation("I", "EV706", "EV707", "EV708")
def command_after_another(mutant: Mutant) -> None:
    """A page prints a sound command and, behind it on the same line, one that is not."""
    mutant.append("docs/kernels.md", "```bash\ncd docs && python -m synthetic.bench --op fuse --log\n```")
