"""Owns the session that a worker is tested against: it lets everything begin, and hands out a proof."""

from __future__ import annotations

from benchmarks import protocol
from evidence.schema import Passed, TokensDetail

PROOF = Passed(
    gate="parity",
    source="transformers",
    phase="before",
    seeds=(1,),
    detail=TokensDetail(compared=1, agreed=1, prompts=1, prompts_equal=1, controls=(), divergences=()),
)


class Listener:
    """A session that lets everything begin and keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[protocol.Message] = []

    def hear(self) -> str:
        return protocol.GO

    def say(self, message: protocol.Message) -> None:
        self.told.append(message)
