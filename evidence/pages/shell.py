"""Owns reading shell text as a shell would split it: simple commands, their words and variables. Nothing is run.

What only running would tell (a command's output, a variable that the text does not set) is marked as such, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidence.errors import EvidenceError
from evidence.pages.session import Session, Simple, Word

GIVEN = frozenset(
    {
        *("HOME", "PWD", "OLDPWD", "USER", "PATH", "SHELL", "TMPDIR", "HOSTNAME", "LANG", "RANDOM", "SECONDS", "UID"),
        *(
            "PYTHONPATH",
            "LD_LIBRARY_PATH",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CUDA_HOME",
            "CUDA_VISIBLE_DEVICES",
            "EDITOR",
        ),
    }
)
"""Variables that every shell has, or that the tools of a reader set."""

_OPERATORS = ("&&", "||", ";;", "|&", "|", ";", "(", ")", "&")
_JOINS = frozenset({"&&", "||", "|", "|&"})
_BEFORE_COMMAND = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"})
_ALONE = frozenset({"fi", "done", "esac", "}", "in"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_REDIRECTION = re.compile(r"(?:\d+|&)?(<<<|<<-?|>>|>\||>&|<&|<>|[<>])")
_STAND_IN = re.compile(r"<[A-Za-z](?:[\w .:/|-]*[\w.])?>(?=[\s\"'/:=,;)]|$)")
"""`<model>`, which a shell would take for two redirections and a reader takes for something to fill in."""
_DEEPEST = 20


class ShellError(EvidenceError):
    """Text that a shell refuses; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        """Carry the line beside the reason."""
        super().__init__(message)
        self.line = line


def read(text: str, session: Session | None = None) -> Iterator[Simple]:
    """Yield the simple commands of a text in order, those inside `$(…)` before the one that holds them.

    Raises:
        ShellError: a shell would refuse the text; what came before it has been yielded.
    """
    yield from _Reader(text, session or Session()).commands()


class _Reader:
    def __init__(self, text: str, session: Session, line: int = 1, level: int = 0) -> None:
        self.text, self.session, self.level = text, session, level
        self.position, self.first = 0, line
        self.words: list[Word] = []
        self.writes: list[str] = []
        self.starts = self.ends = 0
        self.heredocs: list[tuple[str, bool]] = []
        self.inner: list[Simple] = []
        self.depth: list[str] = []
        self.joined = ""

    @property
    def line(self) -> int:
        return self.first + self.text.count("\n", 0, self.position)

    def fail(self, message: str) -> ShellError:
        return ShellError(message, self.line)

    def commands(self) -> Iterator[Simple]:
        while self.position < len(self.text):
            character = self.text[self.position]
            if character in " \t\r":
                self.position += 1
            elif self.text.startswith("\\\n", self.position):
                self.position += 2
            elif character == "\n":
                yield from self._end()
                self.position += 1
                self._skip_heredocs()
            elif character == "#":
                self._skip_comment()
            elif operator := self._operator():
                yield from self._operate(operator)
            elif not self._redirect():
                self._take_word()
        yield from self._end()
        if self.joined:
            raise self.fail(f"nothing follows {self.joined!r}")
        if self.depth:
            raise self.fail(f"{self.depth[-1]!r} is not closed")
        if self.heredocs:
            raise self.fail(f"the text up to {self.heredocs[0][0]!r} does not end")

    def _operator(self) -> str:
        return next((one for one in _OPERATORS if self.text.startswith(one, self.position)), "")

    def _operate(self, operator: str) -> Iterator[Simple]:
        if operator == "&" and self.text.startswith("&>", self.position):
            self._redirect()
            return
        if operator == "(" and len(self.words) == 1 and self.text.startswith("()", self.position):
            self.words.clear()  # a function's head: its body is read like any other
            self.position += 2
            return
        if operator == ")" and self.depth[-1:] == ["case"]:
            self.words.clear()  # a pattern of `case`
            self.position += 1
            return
        if operator in _JOINS and not self.words and not self._closes_before():
            raise self.fail(f"nothing stands before {operator!r}")
        yield from self._end()
        if operator == "(":
            self.depth.append("(")
        elif operator == ")" and self.depth[-1:] == ["("]:
            self.depth.pop()
        elif operator == ")":
            raise self.fail("')' closes nothing")
        self.joined = operator if operator in _JOINS else ""
        self.position += len(operator)

    def _closes_before(self) -> bool:
        before = self.text[: self.position].rstrip()
        return before.endswith((")", "}")) or bool(re.search(r"(?:^|[\s;])(?:fi|done|esac)$", before))

    def _end(self) -> Iterator[Simple]:
        yield from self.inner
        self.inner.clear()
        words, writes = self._without_keywords(self.words), tuple(self.writes)
        starts = self.starts
        self.words, self.writes = [], []
        if not words and not writes:
            return
        self.joined = ""
        raw = " ".join(self.text[starts : self.ends].replace("\\\n", " ").split())
        line = self.first + self.text.count("\n", 0, starts)
        made = self._simple(words, writes, line, raw)
        if made is not None:
            yield made

    def _without_keywords(self, words: list[Word]) -> list[Word]:
        """Drop what belongs to the shell's own grammar, and note what a loop goes over."""
        while words:
            head = words[0].raw
            if head in ("for", "select") and len(words) > 1:
                self.session.variables[words[1].text] = None
                self.depth.append("do")
                return []
            if head == "case":
                self.depth.append("case")
                return []
            if head == "function":
                return []
            if head in ("if", "while", "until", "{"):
                self.depth.append({"if": "if", "{": "{"}.get(head, "do"))
            if head in _ALONE:
                self._close(head)
            elif head not in _BEFORE_COMMAND:
                break
            words = words[1:]
        return words

    def _close(self, keyword: str) -> None:
        opened = {"fi": "if", "done": "do", "esac": "case", "}": "{"}.get(keyword, "")
        if opened:
            if not self.depth or self.depth[-1] != opened:
                raise self.fail(f"{keyword!r} closes nothing")
            self.depth.pop()

    def _simple(self, words: list[Word], writes: tuple[str, ...], line: int, raw: str) -> Simple | None:
        own: dict[str, str] = {}
        while words and _ASSIGNMENT.match(words[0].raw):
            name, _, value = words.pop(0).text.partition("=")
            own[name.rstrip("+")] = value
        exported = {name: self.session.variables.get(name) for name in sorted(self.session.exported)}
        assigned = {name: value for name, value in exported.items() if value is not None} | own
        if not words:
            self.session.variables.update(own)
            return Simple(line, raw, (), assigned, self.session.directory, writes) if writes else None
        made = Simple(line, raw, tuple(words), assigned, self.session.directory, writes)
        self.session.follow(made)
        return made

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def _skip_heredocs(self) -> None:
        for delimiter, strips in self.heredocs:
            while True:
                if self.position >= len(self.text):
                    raise self.fail(f"the text up to {delimiter!r} does not end")
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = min(end + 1, len(self.text))
                if (line.lstrip("\t") if strips else line) == delimiter:
                    break
        self.heredocs.clear()

    def _redirect(self) -> bool:
        if _STAND_IN.match(self.text, self.position) or self.text[self.position : self.position + 2] in ("<(", ">("):
            return False
        match = _REDIRECTION.match(self.text, self.position)
        if match is None:
            return False
        if not self.words and not self.writes:
            self.starts = self.position
        self.position = match.end()
        if match[1] in (">&", "<&") and (number := re.compile(r"\d+|-").match(self.text, self.position)):
            self.position = number.end()
            return True
        while self.text[self.position : self.position + 1] in (" ", "\t"):
            self.position += 1
        if self.position >= len(self.text) or self.text[self.position] in "\n;|&)":
            raise self.fail(f"nothing follows {match[0]!r}")
        word = self._word()
        if match[1].startswith("<<") and match[1] != "<<<":
            self.heredocs.append((re.sub(r"[\"'\\]", "", word.raw), match[1] == "<<-"))
        elif ">" in match[1]:
            self.writes.append(word.text)
        self.ends = self.position
        return True

    def _take_word(self) -> None:
        if not self.words and not self.writes:
            self.starts = self.position
        self.words.append(self._word())
        self.ends = self.position

    def _word(self) -> Word:
        start = self.position
        parts: list[str] = []
        unset: list[str] = []
        is_open = False
        while self.position < len(self.text):
            character = self.text[self.position]
            if stand_in := _STAND_IN.match(self.text, self.position):
                parts.append(stand_in[0])
                self.position = stand_in.end()
            elif self.text[self.position : self.position + 2] in ("<(", ">("):
                self.position += 1
                self._substitute(")")
                is_open = True
            elif character in " \t\r\n;|&()<>":
                break
            elif character == "\\":
                if self.text[self.position + 1 : self.position + 2] == "\n":
                    parts.append("")
                else:
                    parts.append(self.text[self.position + 1 : self.position + 2])
                self.position += 2
            elif character == "'":
                parts.append(self._quoted())
            elif character == '"':
                self.position += 1
                is_open |= self._double(parts, unset)
            elif character in "$`":
                is_open |= self._expand(parts, unset)
            else:
                is_open |= character in "*?" and self._is_pattern(start)
                parts.append(character)
                self.position += 1
        self.position = min(self.position, len(self.text))
        raw = self.text[start : self.position]
        grown = raw.partition("=")[0] if _ASSIGNMENT.match(raw) else ""  # `X=more:$X` adds to whatever is there
        missing = dict.fromkeys(name for name in unset if name != grown)
        return Word("".join(parts), raw, tuple(missing), is_open)

    def _is_pattern(self, start: int) -> bool:
        return "=" not in self.text[start : self.position]

    def _quoted(self) -> str:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise self.fail("a quote ' is not closed")
        found = self.text[self.position + 1 : end]
        self.position = end + 1
        return found

    def _double(self, parts: list[str], unset: list[str]) -> bool:
        opened = self.line
        is_open = False
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == '"':
                self.position += 1
                return is_open
            if character == "\\":
                following = self.text[self.position + 1 : self.position + 2]
                parts.append("" if following == "\n" else following if following in '$`"\\' else f"\\{following}")
                self.position += 2
            elif character in "$`":
                is_open |= self._expand(parts, unset)
            else:
                parts.append(character)
                self.position += 1
        raise ShellError('a quote " is not closed', opened)

    def _expand(self, parts: list[str], unset: list[str]) -> bool:
        """Put a variable in; return whether only running would tell what stands there."""
        if self.text[self.position] == "`":
            end = self.text.find("`", self.position + 1)
            if end < 0:
                raise self.fail("a quote ` is not closed")
            self._nested(self.text[self.position + 1 : end], self.line)
            self.position = end + 1
            return True
        following = self.text[self.position + 1 : self.position + 2]
        if following == "(":
            self.position += 1
            self._substitute(")")
            return True
        if following == "{":
            return self._braced(parts, unset)
        if following == "'":
            self.position += 1
            parts.append(self._quoted())
            return False
        match = _NAME.match(self.text, self.position + 1)
        if match is None:
            parts.append("$")
            self.position += 1
            return False
        self.position = match.end()
        return self._variable(match[0], match[0], parts, unset)

    def _braced(self, parts: list[str], unset: list[str]) -> bool:
        end = self.text.find("}", self.position)
        if end < 0:
            raise self.fail("'${' is not closed")
        inside = self.text[self.position + 2 : end]
        self.position = end + 1
        match = re.fullmatch(
            r"([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?])(?:(:?[-=?+])(.*)|([\[#%/^,:@].*))?", inside, re.DOTALL
        )
        if match is None:
            return True
        name, operator, default = match[1], match[2] or "", match[3] or ""
        if operator.endswith(("-", "=")) and self.session.variables.get(name, "") == "":
            parts.append(default)
            return "$" in default
        return self._variable(name, inside, parts, unset) or match[4] is not None

    def _variable(self, name: str, shown: str, parts: list[str], unset: list[str]) -> bool:
        if name in self.session.variables:
            value = self.session.variables[name]
            parts.append(value if value is not None else f"${shown}")
            return value is None
        if name == "HOME":
            parts.append("~")
            return False
        if name == "PWD":
            parts.append(".")
            return False
        parts.append(f"${shown}")
        if name not in GIVEN and name[0].isalpha() | (name[0] == "_"):
            unset.append(name)
        return True

    def _substitute(self, closing: str) -> None:
        """Read the text inside `(…)` as commands of its own; the position is on the opening parenthesis."""
        start, depth, quote = self.position + 1, 0, ""
        for at in range(self.position, len(self.text)):
            character = self.text[at]
            if quote:
                quote = "" if character == quote else quote
            elif character in "'\"":
                quote = character
            elif character == "(":
                depth += 1
            elif character == closing:
                depth -= 1
                if depth == 0:
                    self._nested(self.text[start:at], self.first + self.text.count("\n", 0, start))
                    self.position = at + 1
                    return
        raise self.fail("'$(' is not closed")

    def _nested(self, text: str, line: int) -> None:
        if text.startswith("("):
            return  # arithmetic
        if self.level > _DEEPEST:
            raise self.fail("commands stand inside each other too deeply to read")
        own = Session(dict(self.session.variables), set(self.session.exported), self.session.directory)
        self.inner += _Reader(text, own, line, self.level + 1).commands()
