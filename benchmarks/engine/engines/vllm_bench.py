"""Owns `vllm bench serve` as the client of vLLM's server, in place of this suite's own: what it sent, and what came.

It is given the same prompts and lengths in the same order, spelt as text, and its own detailed result is read: when it
sent each request, when the first piece of each answer came, and the gaps between pieces. Its clock is the system's
monotonic one, as ours is. Where one piece held several tokens it does not say which, so those count as the last ones.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.engine.engines import EngineError, spelling
from benchmarks.engine.engines.server import ServedEngine, environment
from benchmarks.engine.engines.vllm import VARIABLES
from benchmarks.engine.engines.vllm_server import TEXT, VllmServer
from benchmarks.engine.load import Trial
from benchmarks.engine.requests import Answer, Failure, Request, completed, joined
from benchmarks.engine.workloads import Arrival
from evidence.schema.workloads import Closed

_PROGRAM = (
    "from vllm.utils.argparse_utils import FlexibleArgumentParser\n"
    "from vllm.benchmarks.serve import add_cli_args, main\n"
    "parser = FlexibleArgumentParser()\n"
    "add_cli_args(parser)\n"
    "main(parser.parse_args())\n"
)
"""What `vllm bench serve` runs."""
_RESULT = "result.json"


class BenchedServer(ServedEngine):
    """vLLM's server, whose trials are asked by `vllm bench serve`."""

    def __init__(self, python: Path, dtype: str, model: Any) -> None:
        """Serve a built model under an interpreter that has vLLM."""
        super().__init__(VllmServer(python, dtype, TEXT), model)
        self._python = python
        self._counts: Counter[str] = Counter()

    def drive(
        self, requests: Sequence[Request], arrival: Arrival, starts_s: Sequence[float] | None, *, timeout_s: float
    ) -> Trial:
        """Have it send requests and return what came of each.

        Raises:
            EngineError: it ends without a result, or is asked for an open loop, whose times it draws itself.
        """
        if starts_s is not None:
            raise EngineError("vllm bench serve draws the times of an open loop itself")
        clients = arrival.concurrency if isinstance(arrival, Closed) else len(requests)
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            lines = [{"prompt": spelling.spelt(one.prompt), "output_tokens": one.output_tokens} for one in requests]
            (folder / "prompts.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="ascii")
            command = (str(self._python), "-c", _PROGRAM, *self._words(folder, len(requests), clients))
            try:
                ran = subprocess.run(
                    command, env=environment(VARIABLES), capture_output=True, text=True, timeout=timeout_s
                )
            except subprocess.TimeoutExpired as error:
                raise EngineError(f"vllm bench serve has not ended after {timeout_s:g} s") from error
            result = folder / _RESULT
            if ran.returncode or not result.is_file():
                lines_said = ran.stderr.strip().splitlines() or ["it said nothing"]
                raise EngineError(f"vllm bench serve ended with code {ran.returncode}: {lines_said[-1]}")
            trial, counts = read(json.loads(result.read_text(encoding="utf-8")), tuple(requests))
        self._counts += counts
        return trial

    def _words(self, folder: Path, count: int, clients: int) -> tuple[str, ...]:
        told = {
            "--backend": "openai",
            "--base-url": self.address,
            "--model": self.served_name,
            "--dataset-name": "custom",
            "--dataset-path": str(folder / "prompts.jsonl"),
            "--custom-output-len": "-1",
            "--num-prompts": str(count),
            "--max-concurrency": str(clients),
            "--temperature": "0",
            "--ready-check-timeout-sec": "0",
            "--result-dir": str(folder),
            "--result-filename": _RESULT,
        }
        switches = ("--skip-chat-template", "--disable-shuffle", "--ignore-eos", "--disable-tqdm")
        words = [word for option, value in told.items() for word in (option, value)]
        return (*words, *switches, "--save-result", "--save-detailed")

    def counters(self) -> Mapping[str, int]:
        """Return what it counted, and what the own client did before it."""
        return Counter(super().counters()) + self._counts

    def settings(self) -> Mapping[str, str]:
        """Return the server's settings, and who asks it."""
        return {**super().settings(), "client": "vllm bench serve"}


def read(result: Mapping[str, Any], requests: tuple[Request, ...]) -> tuple[Trial, Counter[str]]:
    """Return a detailed result as a trial, and what shows that it was streamed.

    Raises:
        EngineError: it does not hold one row a request.
    """
    names = ("start_times", "ttfts", "itls", "generated_texts", "errors")
    missing = [name for name in names if len(result.get(name, ())) != len(requests)]
    if missing:
        raise EngineError(f"the result of vllm bench serve has no {', '.join(missing)} for each request")
    rows = zip(requests, *(result[name] for name in names), strict=True)
    answers = tuple(completed(one, _answer(one, *row)) for one, *row in rows)
    counts = Counter(
        bench_requests=sum(answer.failure is None for answer in answers),
        streamed_chunks=sum(len(gaps) for gaps in result["itls"]),
        joined_running_batch=joined([answer.times_s for answer in answers if answer.times_s]),
    )
    return Trial(requests, tuple(result["start_times"]), answers, None, None), counts


def _answer(request: Request, start_s: float, ttft_s: float, gaps_s: Sequence[float], text: str, error: str) -> Answer:
    if error:
        return Answer(request.index, (), (), failure=Failure("server-error", error.strip().splitlines()[-1]))
    try:
        tokens = spelling.read(text)
    except spelling.SpellingError as unread:
        return Answer(request.index, (), (), failure=Failure("malformed", str(unread)))
    times_s = list(accumulate(gaps_s, initial=start_s + ttft_s))
    times_s += [times_s[-1]] * (len(tokens) - len(times_s))
    return Answer(request.index, tokens, tuple(times_s))
