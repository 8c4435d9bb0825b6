"""Owns the client of any server that speaks OpenAI's completions over HTTP with streaming.

Everything happens on the thread that asks: the loop of requests runs while an answer is waited for, so the time that
the client itself needs is that thread's, and what it is too busy to read it reads late, and says so. A token's time is
when the piece of the stream that holds it came. However a request ends, it ends in an answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import aiohttp

from benchmarks.engine.engines import EngineError, Limits, spelling
from benchmarks.engine.engines.sse import Events, MalformedStreamError
from benchmarks.engine.requests import Answer, Failure, FailureReason, Request, joined

_T = TypeVar("_T")
_DONE = "[DONE]"
_CONNECT_S = 10.0
_EARLY_S = 0.0015
"""How long before a time the loop stops sleeping, as it wakes by whole milliseconds."""
_SHOWN = 200
_COUNTED = ("chunks", "streamed_chunks", "joined_running_batch")


class Dialect(Protocol):
    """How a kind of server is asked, and how it says tokens."""

    @property
    def about(self) -> str:
        """How tokens are counted, for the record."""

    def body(self, request: Request) -> Mapping[str, object]:
        """Return what is asked, beside the model and what every server is asked."""

    def tokens(self, choice: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the token ids of one piece of an answer.

        Raises:
            KeyError, TypeError, ValueError: it says none.
        """


class TokenIds:
    """Servers that take prompts as token ids and return those of the answer, as vLLM does."""

    about = "ids, as the server gives them"

    def body(self, request: Request) -> Mapping[str, object]:
        """Return the prompt's ids; the end of a sequence is ignored."""
        return {
            "prompt": list(request.prompt),
            "ignore_eos": True,
            "return_token_ids": True,
            "stream_options": {"include_usage": True},
        }

    def tokens(self, choice: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the ids of a piece."""
        return tuple(int(token) for token in choice["token_ids"] or ())


class Spelt:
    """Servers that are given text and give it, over a model with the tokenizer of `spelling`."""

    about = "ids, read from text of one character an id"

    def __init__(self, more: Mapping[str, object] = MappingProxyType({})) -> None:
        """Ask for more than every server knows; the model itself ends no sequence."""
        self._more = more

    def body(self, request: Request) -> Mapping[str, object]:
        """Return the prompt's text."""
        return {"prompt": spelling.spelt(request.prompt), **self._more}

    def tokens(self, choice: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the ids of a piece."""
        return spelling.read(choice["text"])


class _FailedError(Exception):
    """A request that has failed."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(reason, message[: 2 * _SHOWN])


@dataclass(slots=True)
class _Said:
    """What a server has said to one request."""

    request: Request
    tokens: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    pieces: int = 0
    """Pieces with tokens in them."""
    counted: int | None = None
    """Tokens as the server counts them."""
    cached: int | None = None
    is_finished: bool = False
    is_done: bool = False

    def event(self, data: str, moment_s: float, dialect: Dialect) -> None:
        """Take one event.

        Raises:
            _FailedError: it tells of an error, or is none that completions know.
        """
        if self.is_done:
            raise _FailedError("malformed", f"something follows the end: {data[:_SHOWN]}")
        if data == _DONE:
            self.is_done = True
            return
        try:
            said = json.loads(data)
        except ValueError as error:
            raise _FailedError("malformed", f"an event is no JSON: {data[:_SHOWN]!r}") from error
        if not isinstance(said, dict):
            raise _FailedError("malformed", f"an event is no object: {data[:_SHOWN]!r}")
        if told := said.get("error"):
            raise _FailedError("server-error", f"in the stream: {json.dumps(told)[:_SHOWN]}")
        try:
            for choice in said["choices"]:
                found = dialect.tokens(choice)
                self.tokens += found
                self.times_s += [moment_s] * len(found)
                self.pieces += bool(found)
                self.is_finished = self.is_finished or choice.get("finish_reason") is not None
            if len(self.tokens) > self.request.output_tokens:
                raise _FailedError("wrong-length", f"more than the {self.request.output_tokens} tokens asked for came")
            if usage := said.get("usage"):
                self.counted = int(usage["completion_tokens"])
                details = usage.get("prompt_tokens_details") or {}
                self.cached = details.get("cached_tokens", self.cached)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise _FailedError("malformed", f"an event is no piece of a completion ({why}): {data[:_SHOWN]}") from error

    def end(self) -> None:
        """Take the end of the stream.

        Raises:
            _FailedError: the answer has not ended, or the server counts other tokens.
        """
        if not self.is_finished:
            raise _FailedError("disconnected", f"the stream ends after {len(self.tokens)} tokens, and is not finished")
        if self.counted is not None and self.counted != len(self.tokens):
            message = f"the server counts {self.counted} tokens, and {len(self.tokens)} came"
            raise _FailedError("wrong-length", message)

    def answer(self, failure: Failure | None) -> Answer:
        """Return what came of it."""
        return Answer(self.request.index, tuple(self.tokens), tuple(self.times_s), self.cached, failure)


class HttpEngine:
    """A server that runs already."""

    def __init__(self, address: str, model: str, dialect: Dialect, *, silence_s: float = 300.0) -> None:
        """Ask the server at this address for a model; a request fails once nothing came for `silence_s`."""
        self._address, self._model, self._dialect, self._silence_s = address, model, dialect, silence_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._in_flight: dict[int, asyncio.Task[None]] = {}
        self._counts: Counter[str] = Counter()
        self._answered: list[tuple[float, ...]] = []

    def open(self, limits: Limits) -> None:
        """Get ready to connect; that a server answers is seen when it is asked."""
        del limits
        self._loop = asyncio.new_event_loop()
        self._ended: asyncio.Queue[Answer] = asyncio.Queue()
        self._session = self._loop.run_until_complete(self._connected())

    async def _connected(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=self._silence_s),
        )

    def submit(self, requests: Sequence[Request]) -> None:
        """Send requests, all of them before anything that comes back is read.

        Raises:
            EngineError: it is not open.
        """
        if self._loop is None:
            raise EngineError("the client is not open")
        if not self._in_flight:
            # Connections that a server has closed meanwhile are seen to be closed, and not used again.
            self._run(_turns(3))
        self._forget({request.index for request in requests})
        for request in requests:
            self._in_flight[request.index] = self._loop.create_task(self._ask(request))
        self._run(_turns(1))

    def _forget(self, indices: Set[int]) -> None:
        """Drop what is left of earlier requests of these indices, so that nothing late is taken for a new answer."""
        for index in indices & self._in_flight.keys():
            self._in_flight.pop(index).cancel()
        for _ in range(self._ended.qsize()):
            answer = self._ended.get_nowait()
            if answer.index not in indices:
                self._ended.put_nowait(answer)

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended."""
        return self._run(self._next(timeout_s))

    async def _next(self, timeout_s: float) -> Answer | None:
        ends_s = time.perf_counter() + timeout_s
        try:
            async with asyncio.timeout(max(0.0, timeout_s - _EARLY_S)):
                return await self._ended.get()
        except TimeoutError:
            while self._ended.empty() and time.perf_counter() < ends_s:
                await asyncio.sleep(0)
            return None if self._ended.empty() else self._ended.get_nowait()

    def _run(self, what: Coroutine[Any, Any, _T]) -> _T:
        if self._loop is None:
            raise EngineError("the client is not open")
        return self._loop.run_until_complete(what)

    async def _ask(self, request: Request) -> None:
        said = _Said(request)
        failure = None
        try:
            await self._stream(said)
            said.end()
        except _FailedError as error:
            failure = error.failure
        except MalformedStreamError as error:
            failure = Failure("malformed", error.message)
        except TimeoutError:
            failure = Failure("timeout", f"the server was silent for {self._silence_s:g} s")
        except aiohttp.ClientConnectorError as error:
            failure = Failure("refused", _told(error))
        except (aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError, OSError) as error:
            failure = Failure("disconnected", _told(error))
        except (aiohttp.ClientError, ValueError) as error:
            failure = Failure("malformed", _told(error))
        self._note(said)
        del self._in_flight[request.index]
        self._ended.put_nowait(said.answer(failure))

    async def _stream(self, said: _Said) -> None:
        request, events = said.request, Events()
        asked = {"model": self._model, "max_tokens": request.output_tokens, "temperature": 0.0, "stream": True}
        body = {**asked, **self._dialect.body(request)}
        async with self._session.post(f"{self._address}/v1/completions", json=body) as response:
            if response.status != 200:
                text = (await response.content.read(_SHOWN)).decode(errors="replace")
                raise _FailedError("server-error", f"status {response.status}: {text}")
            if response.content_type != "text/event-stream":
                raise _FailedError("malformed", f"the answer is {response.content_type}, and no stream of events")
            async for piece in response.content.iter_any():
                moment_s = time.perf_counter()
                for event in events.feed(piece):
                    said.event(event, moment_s, self._dialect)
        events.close()

    def _note(self, said: _Said) -> None:
        """Count what shows that it was streamed, and served beside others."""
        self._counts["chunks"] += said.pieces
        self._counts["streamed_chunks"] += max(0, said.pieces - 1)
        if said.times_s:
            self._answered.append(tuple(said.times_s))

    def counters(self) -> Mapping[str, int]:
        """Return pieces with tokens, those before the last one of their request, and requests that joined others."""
        self._counts["joined_running_batch"] += joined(self._answered)
        self._answered.clear()
        return {name: self._counts[name] for name in _COUNTED}

    def settings(self) -> Mapping[str, str]:
        """Return how tokens are counted."""
        return {"tokens": self._dialect.about, "client": f"aiohttp {aiohttp.__version__}"}

    def close(self) -> None:
        """Drop what is in flight, and every connection."""
        if self._loop is not None:
            self._loop.run_until_complete(self._ending())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
            self._loop = None

    async def _ending(self) -> None:
        for task in self._in_flight.values():
            task.cancel()
        await asyncio.gather(*self._in_flight.values(), return_exceptions=True)
        await self._session.close()


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[: 2 * _SHOWN]
