"""Owns reading server-sent events strictly: whole events out of pieces of bytes, and no half one passed over."""

from __future__ import annotations

from evidence.errors import EvidenceError

_EVENT_BYTES = 1 << 20


class MalformedStreamError(EvidenceError):
    """Bytes that are no stream of events, or a stream that ends within one."""


class Events:
    """One stream. An event is its data, as text; events without data, such as comments, are none."""

    def __init__(self) -> None:
        """Begin at the start of a stream."""
        self._rest = b""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of every event that this piece completes.

        Raises:
            MalformedStreamError: a line is no field, or is no text, or an event never ends.
        """
        found: list[str] = []
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if event := self._line(line.removesuffix(b"\r")):
                found.append(event)
        if len(self._rest) > _EVENT_BYTES:
            raise MalformedStreamError(f"an event of more than {_EVENT_BYTES} bytes")
        return found

    def _line(self, line: bytes) -> str | None:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise MalformedStreamError(f"a line is not UTF-8: {line[:80]!r}") from error
        if not text:
            event, self._data = "\n".join(self._data), []
            return event or None
        name, colon, value = text.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name not in ("", "event", "id", "retry") or not colon:
            raise MalformedStreamError(f"a line is no field of an event: {text[:80]!r}")
        return None

    def close(self) -> None:
        """End the stream.

        Raises:
            MalformedStreamError: it ends within an event.
        """
        if self._rest or self._data:
            rest = self._rest.decode(errors="replace") or "\n".join(self._data)
            raise MalformedStreamError(f"the stream ends within an event: {rest[:80]!r}")
