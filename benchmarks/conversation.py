"""Owns a worker's end of the conversation with its session, whose messages are those of `benchmarks.protocol`."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Self, TextIO

from benchmarks import protocol


class Conversation:
    """A line at a time; the end of what comes in ends the process."""

    def __init__(self, incoming: TextIO, outgoing: TextIO) -> None:
        """Begin to listen."""
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._incoming, self._outgoing = incoming, outgoing
        threading.Thread(target=self._listen, daemon=True).start()

    @classmethod
    def over_stdio(cls) -> Self:
        """Listen on stdin and speak on stdout; what anything else prints goes to stderr from now on."""
        outgoing = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        return cls(sys.stdin, outgoing)

    def _listen(self) -> None:
        for line in self._incoming:
            self._lines.put(line.rstrip("\n"))
        # The session is gone, killed perhaps: nobody is left to measure for, so not even cleaning up matters.
        os._exit(0)

    def hear(self) -> str:
        """Return the next line."""
        return self._lines.get()

    def hear_job(self) -> protocol.Job:
        """Return the job, which is the first line."""
        return protocol.Job.model_validate_json(self.hear())

    def say(self, message: protocol.Message) -> None:
        """Send one message."""
        self._outgoing.write(message.model_dump_json() + "\n")
        self._outgoing.flush()

    def close(self) -> None:
        """Say no more."""
        self._outgoing.close()
