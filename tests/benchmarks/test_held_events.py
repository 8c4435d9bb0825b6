"""Calls behind a held device are timed without their launches: a queue and a host on one simulated clock."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from benchmarks.timing import HeldEvents, TimingError

CYCLE_S = 1 / 2e9
FLUSH_S = 5e-5
RECORD_S = 1e-6


@dataclass
class Simulated:
    """A device that runs what is queued in order, and a host whose own time passes as it queues."""

    queue_length: int = 1024
    host_s: float = 0.0
    device_s: float = 0.0
    ends: list[float] = field(default_factory=list)
    flush_bytes: int = 1 << 28

    def queue(self, host_s: float, device_s: float) -> float:
        """Queue work that takes the host and then the device so long; return when the device is done with it."""
        waiting = [end for end in self.ends if end > self.host_s]
        if len(waiting) >= self.queue_length:
            self.host_s = waiting[-self.queue_length]
        self.host_s += host_s
        self.device_s = max(self.device_s, self.host_s) + device_s
        self.ends.append(self.device_s)
        return self.device_s

    def event(self) -> Event:
        return Event(self)

    def hold(self, cycles: int) -> None:
        self.queue(RECORD_S, cycles * CYCLE_S)

    def flush(self) -> None:
        self.queue(RECORD_S, FLUSH_S)

    def synchronize(self) -> None:
        self.host_s = max(self.host_s, self.device_s)
        self.ends.clear()


@dataclass
class Event:
    device: Simulated
    at_s: float = 0.0

    def record(self) -> None:
        self.at_s = self.device.queue(RECORD_S, 0.0)

    def query(self) -> bool:
        return self.at_s <= self.device.host_s

    def elapsed_time(self, later: Event) -> float:
        return (later.at_s - self.at_s) * 1e3


@pytest.mark.parametrize("launch_s", [1e-6, 2e-4, 5e-3])
def test_what_the_host_takes_to_launch_is_in_no_sample(launch_s):
    device = Simulated()
    timer = HeldEvents(device)
    batch = timer.samples(lambda: device.queue(launch_s, 1e-4), 25, max(launch_s, 1e-4))
    assert batch.calls == 1
    assert batch.samples_s == pytest.approx([1e-4] * 25, rel=1e-6)


def test_a_launch_longer_than_it_was_warm_is_waited_for():
    device = Simulated()
    batch = HeldEvents(device).samples(lambda: device.queue(8e-4, 1e-4), 10, 1e-4)
    assert batch.samples_s == pytest.approx([1e-4] * len(batch.samples_s), rel=1e-6)


def test_a_full_queue_makes_for_fewer_calls_at_once():
    device = Simulated(queue_length=64)

    def many_launches() -> None:
        for _ in range(12):
            device.queue(1e-5, 1e-5)

    batch = HeldEvents(device).samples(many_launches, 6, 1.2e-4)
    assert batch.samples_s == pytest.approx([1.2e-4] * len(batch.samples_s), rel=1e-6)


def test_a_call_that_waits_for_the_device_is_refused_with_the_timer_that_measures_it():
    device = Simulated()

    def waits() -> None:
        device.queue(1e-5, 1e-4)
        device.synchronize()

    with pytest.raises(TimingError, match="waits for the device") as refusal:
        HeldEvents(device).samples(waits, 5, 1e-4)
    assert "do-bench" in refusal.value.fix


def test_nothing_takes_nothing():
    assert HeldEvents(Simulated()).overhead_s(1e-3) == pytest.approx(RECORD_S, abs=2 * RECORD_S)
