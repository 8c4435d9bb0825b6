"""Owns a tokenizer of one character an id, for servers that take and give nothing but text.

Prompts and answers are token ids here; spelt by it they are text that has exactly one reading, so tokens that come
back as text are counted as the ids that they are. What a tokenizer costs a server is not what a real one would.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

_FIRST = 0x20000
"""Where ids begin: from here on every code point is a character, and none is a space or combines with another."""


class SpellingError(ValueError):
    """Text that spells no token ids."""


def spelt(tokens: Sequence[int]) -> str:
    """Return token ids as text."""
    return "".join(chr(_FIRST + token) for token in tokens)


def read(text: str) -> tuple[int, ...]:
    """Return the token ids that a text spells.

    Raises:
        SpellingError: it holds other characters.
    """
    if any(ord(character) < _FIRST for character in text):
        raise SpellingError(f"text that spells no tokens: {text[:40]!r}")
    return tuple(ord(character) - _FIRST for character in text)


def write(folder: Path, vocabulary: int) -> None:
    """Write the tokenizer of so many ids beside a model, as transformers saves one."""
    from tokenizers import Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import BPE

    made = Tokenizer(BPE(vocab={chr(_FIRST + token): token for token in range(vocabulary)}, merges=[]))
    made.decoder = Fuse()
    made.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="ascii")
