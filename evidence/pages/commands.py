"""Owns the commands that a page prints in its shell blocks: prompts dropped, output left out, variables put in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evidence.pages import masks, shell
from evidence.pages.programs import Program, program_of
from evidence.pages.session import Session, Simple

SHELLS = frozenset({"bash", "sh", "shell", "console", "zsh", "shell-session", "shellsession", "sh-session", "terminal"})
_CONSOLES = frozenset({"console", "shell-session", "shellsession", "sh-session", "terminal"})
"""Blocks of these may hold nothing but output."""
_UNNAMED = frozenset({"", "text", "plain", "plaintext", "none"})

_PROMPT = re.compile(
    r"[ \t]*(?=\S)(?:\([\w.-]+\)[ \t]+)?(?:[\w.-]+@[\w.-]+(?::[^\s$#]*)?|\[[^\]\n]+\])?[ \t]*"
    r"(?:[$%❯]|#(?=[ \t]+(?:python|make)))[ \t]+"
)
_INDENTED = re.compile(r"^(?: {4}|\t)[ \t]*\S", re.MULTILINE)
_STARTS = re.compile(r"(?:[A-Z_]+=\S+[ \t]+)*(?:(?:\S*/)?python3?|make|pip|git|pytest|torchrun|evidence)[ \t]+\S")
"""How every line of a block without a language has to begin for it to be one of commands."""
_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:[^`\n]|\n(?!\s*\n))+)(?<!`)\1(?!`)")
_NAMING = re.compile(
    r"(?:[$%][ \t]+)?(?:[A-Z_]+=\S+\s+)*"
    r"(?:(?:\S*/)?python[\d.]*\s+(?:-m\s+\S|\S+\.py\b)|make\s+[a-z]|(?:bash|sh|torchrun)\s+\S)"
)
"""How code in running text begins that is a command, and no mere mention of a program."""
_STAND_INS = (
    re.compile(r"<[A-Za-z][\w .:/|-]*>"),
    re.compile(r"(?<![\w.])(?:/?(?:some/)?path/to)\b"),
    re.compile(r"(?<![A-Za-z0-9])(?:my|your)[_-]\w+", re.IGNORECASE),
    re.compile(r"(?<![A-Za-z])(?:TODO|FIXME|TBD|X{3,}|YOUR\w*)(?![A-Za-z])"),
    re.compile(r"…|(?<![/.\w])\.{3}(?!\w)"),
    re.compile(
        r"(?<![A-Za-z0-9_$@{-])(?:[A-Z]+_)*(?:MODEL|CKPT|CHECKPOINT|WEIGHTS?|PATH|DIR|FILE|FILENAME|NAME|HOST|PORT|USER|TOKEN|KEY|URL"
        r"|ID|VALUE|DATASET|REPO|BRANCH|COMMIT|VERSION)(?![A-Za-z0-9_=])"
    ),
)
_BRACKETED = re.compile(r"\[(?:your|my|the|a)[ _-][^\]]*\]", re.IGNORECASE)
_SECRET = re.compile(r"(?:[A-Z]+_)*(?:TOKEN|KEY|SECRET|PASSWORD)=")
_HOMES = re.compile(
    r"(?:^|[=:,\s\"'@])((?:/home|/Users|/root)/[^\s\"':,]*|~(?!/\.)[\w.-]*/[^\s\"':,]*|[A-Za-z]:[\\/]Users\b[^\s\"']*)"
)
_MOUNTS = re.compile(
    r"(?:^|[=:,\s\"'])(/(?:mnt|scratch|nfs|lustre|gpfs|data|datasets|models|ckpts?|checkpoints|weights)/[^\s\"':,]+)"
)
_CONTAINERS = frozenset({"docker", "podman", "singularity", "apptainer", "enroot", "kubectl"})


class Command(NamedTuple):
    """One command of a page's body: its line there, its text, and its words without what only the shell sees."""

    line: int
    text: str
    words: tuple[str, ...]
    program: Program
    assigned: tuple[tuple[str, str], ...] = ()
    """Variables that are set for it."""
    unset: tuple[str, ...] = ()
    """Variables that it uses and that the page sets nowhere above."""
    is_open: bool = False
    """A word of it is known only once it runs."""
    directory: str | None = "."
    """Where it runs, from where the page starts; `clone:NAME` below a repository it fetched; None if not known."""
    fault: str = ""
    """Why a shell refuses it; then it has no words."""
    made: frozenset[str] = frozenset()
    """Files that commands above it made."""

    @property
    def stand_in(self) -> str:
        """What a reader would have to replace before it can run, empty if nothing."""
        for before, word in zip(("", *self.words), self.words, strict=False):
            if before in ("-e", "--env"):
                continue  # the name of a variable that a container is handed
            if _SECRET.match(word):
                continue  # that everybody has one of their own
            for pattern in _STAND_INS:
                if match := pattern.search(word):
                    return match[0]
        if match := _BRACKETED.search(" ".join(self.words)):
            return match[0]
        return f"${self.unset[0]}" if self.unset else ""

    @property
    def home(self) -> str:
        """A place in it that is on its author's machine, empty if there is none."""
        patterns = (_HOMES,) if self.program.name in _CONTAINERS else (_HOMES, _MOUNTS)
        texts = [*self.words, *(value for _, value in self.assigned)]
        found = (match for text in texts for pattern in patterns if (match := pattern.search(text)))
        first = next(found, None)
        return first[1] if first else ""


def commands(body: str) -> Iterator[Command]:
    """Yield the commands of a page's shell blocks in order; where some lines have a prompt, the others are output.

    Code without a language, indented code too, is such a block where all of it begins like one.

    Blocks are read as one session: what one sets, the next one knows.
    """
    session = Session()
    for block in sorted((*_fenced(body), *_indented(body)), key=lambda block: block.above):
        if _is_shell(block.language, block.lines):
            may_be_output = block.language in _CONSOLES and not any(_PROMPT.match(line) for line in block.lines)
            for command in read_commands(_typed(block.lines), block.above, session):
                if not (command.fault and may_be_output):
                    yield command


class _Block(NamedTuple):
    """Lines of code, how many stand above them, and what language they say they are."""

    above: int
    language: str
    lines: list[str]


def _fenced(body: str) -> Iterator[_Block]:
    for fence in masks.fences(body):
        lines = [line.removesuffix("\r") for line in fence.content.split("\n")]
        yield _Block(fence.opens, fence.info.partition(" ")[0].strip("{}.").lower(), lines)


def _indented(body: str) -> Iterator[_Block]:
    """Yield indented code, which says no language."""
    if _INDENTED.search(body) is None:
        return
    lines, visible = body.split("\n"), masks.blocks(body).split("\n")
    fenced = {number for fence in masks.fences(body) for number in range(fence.opens, fence.closes + 1)}
    above, found = 0, list[str]()
    for index, line in enumerate([*lines, ""]):
        is_code = index < len(lines) and bool(line.strip()) and not visible[index].strip() and index + 1 not in fenced
        if is_code:
            above = above if found else index
            found.append(line.removesuffix("\r"))
        elif found:
            yield _Block(above, "", found)
            found = []


def inline_commands(body: str) -> Iterator[Command]:
    """Yield the commands that stand as code in running text: those that name a module, a script or a target."""
    visible = masks.comments(masks.blocks(body))
    for span in _SPAN.finditer(visible):
        text = span[2].strip()
        if _NAMING.match(text):
            above = visible.count("\n", 0, span.start(2))
            yield from read_commands(" ".join(text.split()), above)


def read_commands(text: str, above: int = 0, session: Session | None = None) -> Iterator[Command]:
    """Yield the commands of a shell text that stands `above` lines down; a shell's refusal is the last of them."""
    session = session or Session()
    try:
        for simple in shell.read(text, session):
            yield _command(simple, above, session)
    except shell.ShellError as error:
        line = text.split("\n")[min(error.line, text.count("\n") + 1) - 1].strip()
        yield Command(above + error.line, line, (), Program("", ""), fault=error.message)


def _command(simple: Simple, above: int, session: Session) -> Command:
    words = tuple(word.text for word in simple.words)
    return Command(
        line=above + simple.line,
        text=simple.raw,
        words=words,
        program=program_of(words),
        assigned=tuple(sorted(simple.assigned.items())),
        unset=tuple(dict.fromkeys(name for word in simple.words for name in word.unset)),
        is_open=any(word.is_open and not word.unset for word in simple.words),
        directory=simple.directory,
        made=frozenset(session.made),
    )


def _is_shell(language: str, lines: list[str]) -> bool:
    if language in SHELLS:
        return True
    filled = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    if language not in _UNNAMED or not filled:
        return False
    prompted = [line for line in filled if _PROMPT.match(line)]
    heads = [line for above, line in zip(["", *filled], filled, strict=False) if not above.endswith("\\")]
    return (bool(prompted) and filled[0] == prompted[0]) or all(_STARTS.match(line) for line in heads)


def _typed(lines: list[str]) -> str:
    """The lines that are typed, at their places: without prompts, and without output where there are prompts."""
    if not any(_PROMPT.match(line) for line in lines):
        return "\n".join(lines)
    kept: list[str] = []
    continues = False
    for line in lines:
        prompt = _PROMPT.match(line)
        typed = line[prompt.end() :] if prompt else re.sub(r"^[ \t]*>[ \t]", "", line) if continues else ""
        kept.append(typed)
        continues = typed.endswith("\\")
    return "\n".join(kept)
