"""Owns what engines are asked for, as data: how many requests of which lengths come when, and in how much cache.

Everything is drawn from a seed without torch, so a plan, a worker and a reader of the record make the same requests.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from benchmarks.engine.engines import Limits
from benchmarks.engine.requests import Request
from evidence.errors import UnknownNameError
from evidence.schema import Setting
from evidence.schema.workloads import (
    AtOnce,
    Closed,
    EngineWorkload,
    Inputs,
    Paced,
    Poisson,
    PretrainedWeights,
    RandomWeights,
    TokenLengths,
    Work,
)

Scale = Literal["small", "full"]
Arrival = AtOnce | Closed | Poisson | Paced
AT_ONCE = AtOnce()
SCALES: tuple[Scale, ...] = ("small", "full")
_WARM_UP_SEED = 7_919
"""Added to a workload's seed for the requests before the clock, so that they share nothing with those behind it."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths between two bounds. With `long_share` that share has the upper one, and the others a quarter at most."""

    minimum: int
    maximum: int
    long_share: float | None = None

    def draw(self, count: int, source: random.Random) -> tuple[int, ...]:
        """Return so many lengths; the long ones are spread over the order by chance."""
        if self.long_share is None:
            return tuple(source.randint(self.minimum, self.maximum) for _ in range(count))
        long = max(1, round(self.long_share * count))
        short = max(self.minimum, self.maximum // 4)
        drawn = [self.maximum] * long + [source.randint(self.minimum, short) for _ in range(count - long)]
        source.shuffle(drawn)
        return tuple(drawn)


@dataclass(frozen=True, slots=True)
class Load:
    """One scenario. `tags` name what it engages; see `benchmarks.engine.features`."""

    name: str
    about: str
    requests: int
    prompts: Lengths
    outputs: Lengths
    arrival: Arrival = AT_ONCE
    tags: frozenset[str] = frozenset()
    shared_prefix: int = 0
    """Tokens that all prompts begin with."""
    concurrency: int = 8
    batch_tokens: int = 256
    block_tokens: int = 16
    cache_share: float = 1.0
    """Size of the cache, as a share of what `concurrency` requests of the longest kind fill."""
    prefix_cache: Literal["off", "reset", "warm"] = "off"
    warm_up_requests: int = 4
    warm_up_outputs: int | None = 8
    """The most tokens that each of them makes; None: as many as those that are measured."""
    seed: int = 23

    @property
    def warmed_whole(self) -> Load:
        """The same with a warm-up that takes every step of the trial: graphs and code are made before the clock."""
        return replace(self, warm_up_requests=self.requests, warm_up_outputs=None)

    @property
    def limits(self) -> Limits:
        """What every arm may use."""
        longest = self.shared_prefix + self.prompts.maximum + self.outputs.maximum
        # One block more than a request fills: engines reserve the next one before the last token.
        blocks = -(-longest // self.block_tokens) + 1
        return Limits(
            concurrency=self.concurrency,
            batch_tokens=self.batch_tokens,
            block_tokens=self.block_tokens,
            cache_blocks=max(blocks, round(self.cache_share * self.concurrency * blocks)),
            longest=longest,
        )

    def drawn(self, vocabulary: int) -> tuple[Request, ...]:
        """Return the requests that are measured."""
        return self._drawn(vocabulary, self.requests, is_warm_up=False)

    def warm_up(self, vocabulary: int) -> tuple[Request, ...]:
        """Return the requests before them: prompts of the same lengths, of other tokens."""
        drawn = self._drawn(vocabulary, self.warm_up_requests, is_warm_up=True)
        most = self.warm_up_outputs
        if most is None:
            return drawn
        return tuple(replace(request, output_tokens=min(most, request.output_tokens)) for request in drawn)

    def _drawn(self, vocabulary: int, count: int, *, is_warm_up: bool) -> tuple[Request, ...]:
        source = random.Random(self.seed)
        prompts, outputs = self.prompts.draw(count, source), self.outputs.draw(count, source)
        if is_warm_up:
            source = random.Random(self.seed + _WARM_UP_SEED)
        prefix = tuple(source.randrange(1, vocabulary) for _ in range(self.shared_prefix))
        return tuple(
            Request(index, (*prefix, *(source.randrange(1, vocabulary) for _ in range(length))), wanted)
            for index, (length, wanted) in enumerate(zip(prompts, outputs, strict=True))
        )

    def starts_s(self) -> tuple[float, ...] | None:
        """Return when each request of an open loop is due, from the first; None where that depends on answers."""
        if isinstance(self.arrival, Paced):
            return tuple(index * self.arrival.interval_s for index in range(self.requests))
        if not isinstance(self.arrival, Poisson):
            return None
        source = random.Random(self.arrival.seed)
        at, found = 0.0, []
        for _ in range(self.requests):
            found.append(at)
            at += source.expovariate(self.arrival.rate_per_s)
        return tuple(found)

    def described(
        self,
        weights: PretrainedWeights | RandomWeights,
        dtype: str,
        vocabulary: int,
        *,
        settings: Sequence[Setting] = (),
    ) -> EngineWorkload:
        """Return what a record says of it, with settings of the run beside its own."""
        asked = self.drawn(vocabulary)
        prompts, outputs = [len(one.prompt) for one in asked], [one.output_tokens for one in asked]
        return EngineWorkload(
            name=self.name,
            role="target",
            weights=weights,
            dtype=dtype,
            requests=self.requests,
            arrival=self.arrival,
            prompt_tokens=TokenLengths(minimum=min(prompts), maximum=max(prompts), total=sum(prompts)),
            output_tokens=TokenLengths(minimum=min(outputs), maximum=max(outputs), total=sum(outputs)),
            ignore_eos=True,
            sampling=(),
            prefix_cache=self.prefix_cache,
            warm_up_requests=self.warm_up_requests,
            inputs=Inputs(
                distribution=f"{self.about}; uniform random token ids, {self.shared_prefix} shared",
                seed=self.seed,
                sets=1,
                sha256=digest(asked),
            ),
            work=(
                Work(of="requests", count=self.requests),
                Work(of="prompt-tokens", count=sum(prompts)),
                Work(of="output-tokens", count=sum(outputs)),
            ),
            parameters=(*_settings(self.limits), *settings),
        )


def _settings(limits: Limits) -> tuple[Setting, ...]:
    """Return what every arm may use, as a record holds it."""
    most = {
        "requests a batch": limits.concurrency,
        "tokens a step": limits.batch_tokens,
        "cache blocks": limits.cache_blocks,
        "tokens a block": limits.block_tokens,
    }
    return tuple(Setting(name=name, value=str(count)) for name, count in most.items())


def digest(requests: Sequence[Request]) -> str:
    """Return a digest of requests: their prompts and how many tokens each wants."""
    text = json.dumps([[one.prompt, one.output_tokens] for one in requests], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


_small = partial(Load, requests=12, prompts=Lengths(16, 48), concurrency=4, batch_tokens=64, block_tokens=16)
_full = partial(Load, requests=32, prompts=Lengths(64, 512), concurrency=16, batch_tokens=2048, block_tokens=256)
_EQUAL = "all at once, outputs of one length"
_SKEWED = "all at once, one output in four is long"
_STAGGERED = "one after the other at equal intervals, outputs of many lengths"
_POISSON = "independent arrivals, outputs of many lengths"
_EQUAL_LONG = "all at once, prompts of one length that is long, outputs of one length"
_SHARED = "all at once, behind one long prefix"
_LONG = "all at once, one prompt in four is long"
_OVER = "all at once, in half the cache that they fill"
_LOADS: dict[Scale, tuple[Load, ...]] = {
    "small": (
        _small("uniform", _EQUAL, outputs=Lengths(24, 24)),
        _small("skewed", _SKEWED, outputs=Lengths(4, 48, 0.25), tags=frozenset({"skewed"})),
        _small("staggered", _STAGGERED, outputs=Lengths(4, 32), arrival=Paced(interval_s=0.025)),
        _small("poisson", _POISSON, outputs=Lengths(4, 32), arrival=Poisson(rate_per_s=40.0, seed=5, concurrency=None)),
        _small(
            "equal-long",
            _EQUAL_LONG,
            requests=20,
            prompts=Lengths(256, 256),
            outputs=Lengths(12, 12),
            concurrency=8,
            batch_tokens=1024,
        ),
        _small(
            "shared-prefix",
            _SHARED,
            prompts=Lengths(8, 16),
            outputs=Lengths(16, 16),
            shared_prefix=128,
            batch_tokens=256,
            tags=frozenset({"shared-prefix"}),
            prefix_cache="reset",
        ),
        _small(
            "long-prompts",
            _LONG,
            requests=8,
            prompts=Lengths(16, 320, 0.25),
            outputs=Lengths(8, 16),
            batch_tokens=512,
            tags=frozenset({"long-prompts"}),
        ),
        _small(
            "oversubscribed",
            _OVER,
            prompts=Lengths(16, 32),
            outputs=Lengths(48, 64),
            batch_tokens=128,
            cache_share=0.5,
            tags=frozenset({"oversubscribed"}),
        ),
    ),
    "full": (
        _full("uniform", _EQUAL, outputs=Lengths(32, 32)),
        _full("skewed", _SKEWED, outputs=Lengths(8, 64, 0.25), tags=frozenset({"skewed"})),
        _full("staggered", _STAGGERED, outputs=Lengths(8, 64), arrival=Paced(interval_s=0.04)),
        _full("poisson", _POISSON, outputs=Lengths(8, 64), arrival=Poisson(rate_per_s=24.0, seed=5, concurrency=None)),
        _full(
            "equal-long",
            _EQUAL_LONG,
            prompts=Lengths(1024, 1024),
            outputs=Lengths(32, 32),
            batch_tokens=16384,
        ),
        _full(
            "shared-prefix",
            _SHARED,
            prompts=Lengths(32, 64),
            outputs=Lengths(32, 32),
            shared_prefix=2048,
            batch_tokens=4096,
            tags=frozenset({"shared-prefix"}),
            prefix_cache="reset",
        ),
        _full(
            "long-prompts",
            _LONG,
            requests=24,
            prompts=Lengths(64, 4096, 0.25),
            outputs=Lengths(16, 32),
            concurrency=12,
            batch_tokens=8192,
            tags=frozenset({"long-prompts"}),
        ),
        _full(
            "oversubscribed",
            _OVER,
            requests=16,
            prompts=Lengths(32, 64),
            outputs=Lengths(48, 64),
            concurrency=12,
            block_tokens=16,
            cache_share=0.5,
            tags=frozenset({"oversubscribed"}),
        ),
    ),
}


def load(name: str, scale: Scale) -> Load:
    """Return a scenario by name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    for one in _LOADS[scale]:
        if one.name == name:
            return one
    raise UnknownNameError("workload", name, [one.name for one in _LOADS[scale]])
