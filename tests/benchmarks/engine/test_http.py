"""Tests of the client of servers, by one on real sockets that misbehaves on purpose; and of how servers are started."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psutil
import pytest

pytest.importorskip("aiohttp")

from benchmarks.engine.engines import EngineError, Limits, spelling
from benchmarks.engine.engines.http import HttpEngine, TokenIds
from benchmarks.engine.engines.server import Server, free_port
from benchmarks.engine.engines.sse import Events, MalformedStreamError
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.requests import Request, joined
from benchmarks.engine.workloads import AT_ONCE

LIMITS = Limits(concurrency=4, batch_tokens=64, block_tokens=16, cache_blocks=28, longest=100)
REQUESTS = tuple(Request(index, (index + 1, 7, 9), 3) for index in range(4))
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
Behaviour = Callable[[socket.socket, dict[str, Any]], None]


def event(**said: object) -> bytes:
    return f"data: {json.dumps(said)}\n\n".encode()


def piece(tokens: Sequence[int], reason: str | None = None, **more: object) -> bytes:
    return event(choices=[{"token_ids": list(tokens), "text": "", "finish_reason": reason}], **more)


def well(connection: socket.socket, body: dict[str, Any]) -> None:
    """Say the first token of the prompt, one more, and one more, each in a piece of its own."""
    first, count = body["prompt"][0], body["max_tokens"]
    connection.sendall(HEAD)
    for at in range(count):
        connection.sendall(piece([first + at], "length" if at == count - 1 else None))
        time.sleep(0.02)
    connection.sendall(event(choices=[], usage={"completion_tokens": count}) + b"data: [DONE]\n\n")


@contextlib.contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """A server that reads a request whole, behaves so, and closes the connection."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while line := self.rfile.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            with contextlib.suppress(OSError):
                behaviour(self.connection, json.loads(self.rfile.read(length)))

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Listener(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def asking(address: str, *, silence_s: float = 20.0) -> Iterator[HttpEngine]:
    engine = HttpEngine(address, "model", TokenIds(), silence_s=silence_s)
    engine.open(LIMITS)
    try:
        yield engine
    finally:
        engine.close()


def asked(behaviour: Behaviour, *, silence_s: float = 20.0, timeout_s: float = 20.0) -> Trial:
    """What comes of the requests; none is lost, and none of a failed one has times in the rows."""
    with serving(behaviour) as address, asking(address, silence_s=silence_s) as engine:
        began = time.perf_counter()
        trial = drive(engine, REQUESTS, AT_ONCE, timeout_s=timeout_s)
        assert time.perf_counter() - began < 10
    rows = trial.rows()
    for answer, ttft, latency in zip(trial.answers, rows.ttft_s, rows.latency_s, strict=True):
        assert (answer.failure is None) == (ttft is not None) == (latency is not None)
        assert answer.failure is None or answer.failure.message
    return trial


def first_fails(behaviour: Behaviour) -> Behaviour:
    """The request with prompt 1 … is treated so, the others well."""
    return lambda connection, body: (behaviour if body["prompt"][0] == 1 else well)(connection, body)


def test_tokens_come_as_ids_each_with_the_time_it_came() -> None:
    trial = asked(well)
    assert [answer.tokens for answer in trial.answers] == [(n, n + 1, n + 2) for n in (1, 2, 3, 4)]
    for start, answer in zip(trial.enqueued_s, trial.answers, strict=True):
        assert [start, *answer.times_s] == sorted([start, *answer.times_s])
        # Three pieces, twenty milliseconds apart; a busy machine may hand over two of them together.
        assert answer.times_s[-1] - answer.times_s[0] > 0.01
    assert not trial.failures


def test_what_is_asked_is_exact() -> None:
    seen: list[dict[str, Any]] = []

    def note(connection: socket.socket, body: dict[str, Any]) -> None:
        seen.append(body)
        well(connection, body)

    asked(note)
    body = next(one for one in seen if one["prompt"][0] == 1)
    assert body["prompt"] == [1, 7, 9]
    assert (body["max_tokens"], body["temperature"], body["stream"], body["ignore_eos"]) == (3, 0.0, True, True)


def dies(connection: socket.socket, body: dict[str, Any]) -> None:
    connection.sendall(HEAD + piece([1]))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    connection.close()


def chunked(said: bytes) -> Behaviour:
    head = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
    return lambda connection, body: connection.sendall(head + b"%x\r\n%s\r\n" % (len(said), said))


def says(said: bytes, head: bytes = HEAD) -> Behaviour:
    return lambda connection, body: connection.sendall(head + said)


def hangs(connection: socket.socket, body: dict[str, Any]) -> None:
    connection.sendall(HEAD + piece([1]))
    time.sleep(3)


def hangs_up(connection: socket.socket, body: dict[str, Any]) -> None:
    del connection, body


END = piece([3], "length")
WRONG: dict[str, tuple[Behaviour, str, str]] = {
    "dies in the stream": (dies, "disconnected", "reset|not finished"),
    "hangs up without a word": (hangs_up, "disconnected", "Server"),
    "ends before it is finished": (says(piece([1]) + piece([2])), "disconnected", "2 tokens"),
    "stops in a chunk": (chunked(piece([1])), "disconnected", "complete"),
    "hangs in the stream": (hangs, "timeout", "silent"),
    "sends half a frame": (says(piece([1]) + END[:-20]), "malformed", "within an event"),
    "sends a frame without its end": (says(piece([1]) + piece([2]) + END.rstrip(b"\n")), "malformed", "within"),
    "sends wrong JSON": (says(b'data: {"choices": [}\n\n'), "malformed", "no JSON"),
    "sends JSON that is no completion": (says(event(object="list", data=[])), "malformed", "choices"),
    "sends a list": (says(b"data: [1]\n\n"), "malformed", "no object"),
    "sends text without ids": (says(event(choices=[{"text": "x"}])), "malformed", "token_ids"),
    "sends ids that are none": (says(event(choices=[{"token_ids": ["x"]}])), "malformed", "ValueError"),
    "sends what is no event": (says(b"hello\n\n"), "malformed", "no field"),
    "sends bytes": (says(b"data: \xff\xfe\n\n"), "malformed", "UTF-8"),
    "goes on after the end": (says(piece([1, 2]) + END + b"data: [DONE]\n\n" + END), "malformed", "after|follows"),
    "tells of an error in the stream": (says(piece([1]) + event(error={"code": 500})), "server-error", "500"),
    "refuses with a status": (
        says(b"overloaded", HEAD.replace(b"200 OK", b"503 Unavailable")),
        "server-error",
        "503.*overloaded",
    ),
    "answers with a page": (
        says(b"<html>", HEAD.replace(b"text/event-stream", b"text/html")),
        "malformed",
        "text/html",
    ),
    "speaks no HTTP": (says(b"220 ready\r\n\r\n", b""), "malformed", "HTTP"),
    "sends too few tokens": (says(piece([1]) + END), "wrong-length", "3 tokens were asked for, 2 came"),
    "sends too many tokens": (says(piece([1, 2, 4]) + END), "wrong-length", "more than the 3"),
    "counts otherwise than it sends": (
        says(piece([1, 2]) + END + event(choices=[], usage={"completion_tokens": 5})),
        "wrong-length",
        "counts 5",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_server_that_misbehaves_makes_failures_with_reasons(name: str) -> None:
    behaviour, reason, message = WRONG[name]
    trial = asked(first_fails(behaviour), silence_s=0.4)
    first, *others = trial.answers
    assert first.failure is not None
    assert first.failure.reason == reason
    assert re.search(message, first.failure.message)
    assert all(answer.failure is None for answer in others)
    assert trial.failed() == {f"failed_{reason.replace('-', '_')}": 1}


def test_a_failed_request_keeps_what_it_got() -> None:
    [answer, *_] = asked(first_fails(dies)).answers
    assert len(answer.tokens) == len(answer.times_s) <= 1


def test_a_server_that_is_not_there_refuses_every_request() -> None:
    with asking(f"http://127.0.0.1:{free_port()}") as engine:
        trial = drive(engine, REQUESTS, AT_ONCE, timeout_s=10)
    assert {failure.reason for failure in trial.failures} == {"refused"}
    assert len(trial.failures) == len(REQUESTS)


def test_requests_without_an_end_are_given_up_in_time() -> None:
    def never(connection: socket.socket, body: dict[str, Any]) -> None:
        time.sleep(3)

    trial = asked(never, timeout_s=0.3)
    assert {failure.reason for failure in trial.failures} == {"timeout"}


def test_a_stream_without_an_end_is_left_at_the_first_token_too_many() -> None:
    def floods(connection: socket.socket, body: dict[str, Any]) -> None:
        connection.sendall(HEAD)
        while True:
            connection.sendall(piece([1]))

    trial = asked(first_fails(floods))
    assert [failure.reason for failure in trial.failures] == ["wrong-length"]


def test_what_comes_too_late_is_no_answer_to_a_later_request() -> None:
    def dawdles(connection: socket.socket, body: dict[str, Any]) -> None:
        time.sleep(0.3 if body["prompt"][0] == 1 else 0.0)
        well(connection, body)

    with serving(dawdles) as address, asking(address) as engine:
        assert len(drive(engine, REQUESTS, AT_ONCE, timeout_s=0.1).failures) == 1
        later = drive(engine, (Request(0, (40, 1), 3),), AT_ONCE, timeout_s=10)
        assert [answer.tokens for answer in later.answers] == [(40, 41, 42)]
        time.sleep(0.4)
        assert engine.answer(0.05) is None


def test_a_server_that_closes_idle_connections_is_asked_again() -> None:
    def closing(connection: socket.socket, body: dict[str, Any]) -> None:
        said = piece([1, 2]) + END
        head = HEAD.replace(b"Connection: close", b"Content-Length: %d" % len(said))
        connection.sendall(head + said)

    with serving(closing) as address, asking(address) as engine:
        for _ in range(3):
            trial = drive(engine, REQUESTS[:1], AT_ONCE, timeout_s=10)
            assert not trial.failures
            time.sleep(0.05)


def test_the_time_of_the_client_is_its_own() -> None:
    trial = asked(well)
    assert trial.client_cpu_s is not None
    assert 0 < trial.client_cpu_s < 0.5


def test_half_a_character_waits_for_its_other_half() -> None:
    events, data = Events(), 'data: {"text": "𠀂"}\n\n'.encode()
    found = [one for at in range(len(data)) for one in events.feed(data[at : at + 1])]
    assert [json.loads(one)["text"] for one in found] == ["𠀂"]
    events.close()


def test_events_are_read_as_they_are_defined() -> None:
    events = Events()
    assert events.feed(b": a comment\r\n\r\nevent: x\ndata:one\ndata: two\n\ndata") == ["one\ntwo"]
    with pytest.raises(MalformedStreamError):
        events.close()


def test_spelling_has_one_reading() -> None:
    tokens = tuple(range(0, 151_936, 997))
    assert spelling.read(spelling.spelt(tokens)) == tokens
    with pytest.raises(spelling.SpellingError):
        spelling.read("a")


def test_joined_requests_are_told_from_batches() -> None:
    together = [(1.0, 2.0, 3.0), (1.01, 2.01, 3.01)]
    assert joined(together) == 0
    assert joined([*together, (3.5, 4.0)]) == 0
    assert joined([*together, (2.5, 4.0)]) == 1


def test_a_server_that_ends_at_once_is_told_of() -> None:
    server = Server(("python", "-c", "print('no weights here'); raise SystemExit(3)"), {}, free_port())
    with pytest.raises(EngineError, match="code 3: no weights here"):
        server.start(20)
    server.stop()


def test_a_server_that_is_never_well_is_ended() -> None:
    port = free_port()
    server = Server(("python", "-c", "import time; time.sleep(60)"), {}, port)
    with pytest.raises(EngineError, match="does not answer after"):
        server.start(0.3)
    server.stop()
    assert not [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
