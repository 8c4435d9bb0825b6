"""Owns the words of the clean site that mutants are made of: claims files, pages, and what stands outside the docs."""

from __future__ import annotations

MKDOCS = """\
site_name: Synthetic
plugins:
  - macros: {modules: [evidence.macros], on_undefined: strict}
  - evidence
"""
_KERNELS = """\
claims:
  fuse-gains:
    statement: >-
      On {device}, fusing runs {ratio.range} faster over {N} elements (geometric mean {ratio.geomean});
      against plain library calls it is {library.ratio.geomean}.
    series: kernels/fuse_@A
    metric: time
    baseline: plain
    candidate: fused
    expect: better
    also:
      library: {baseline: library, expect: better}
      other: {series: kernels/fuse_@B, expect: worse}
    mechanism: {unknown: nothing was profiled}
    limitations: [one op on synthetic inputs]
  fuse-loses:
    statement: >-
      On {device} the fused form is slower, at {ratio.range}; the largest
      input, of {large.N} elements, takes {large.value:us}.
    series: kernels/fuse_@B
    metric: time
    baseline: plain
    candidate: fused
    expect: worse
    also:
      large: {arm: fused, where: {N: 16777216}}
    mechanism: {unknown: nothing was profiled}
  tile-gains:
    statement: >-
      Tuned tiles run up to {ratio.max} faster on {device} at {shape} ({tally}; geometric mean {ratio.geomean}).
    series: kernels/tile_@A
    metric: time
    baseline: default
    candidate: tuned
    where: {M: [16, 64]}
    expect: better
    mechanism: {unknown: nothing was profiled}
tables:
  fuse-first:
    title: Fusing on the first device
    series: kernels/fuse_@A
    rows: [N]
    across: arm
    columns: [time, {ratio: time}, {peak: bandwidth}]
    baseline: plain
  fuse-second:
    title: Fusing on the second device
    series: kernels/fuse_@B
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: plain
  fuse-devices:
    title: Fusing by device
    series: [kernels/fuse_@A, kernels/fuse_@B]
    rows: [N, device]
    across: arm
    columns: [{ratio: time}]
    baseline: plain
  tile-small:
    title: Tilings of small inputs
    series: kernels/tile_@A
    rows: [M, K]
    across: arm
    columns: [time, {ratio: time}]
    baseline: default
    where: {M: [16, 64]}
    notes:
      - {where: {M: 16, K: 64}, why: both arms choose one block here}
  tile-large:
    title: Tilings of large inputs
    series: kernels/tile_@A
    rows: [M, K]
    across: arm
    columns: [time, {ratio: time}]
    baseline: default
    where: {M: 256}
    omit:
      - {where: {M: 256, K: 256}, why: the tuned form runs out of memory}
    not_covered:
      - {where: {M: 1024, K: 64}, why: the device is too small for it}
"""
_SERVING = """\
claims:
  batching-skewed:
    statement: >-
      On {device}, a {scenario} batch of {requests} requests finishes {ratio} sooner with continuous batching;
      mean latency is {latency.ratio} better, peak memory changes by {memory.change}, and the static arm
      decodes {waste} tokens that nobody asked for.
    series: engine/batching_@A
    metric: wall_time
    baseline: static
    candidate: continuous
    where: {scenario: skewed}
    expect: better
    also:
      latency: {metric: latency.mean, expect: better}
      memory: {metric: peak_memory, expect: worse}
      even: {where: {scenario: even}, expect: better}
      waste: {metric: wasted_tokens, arm: static}
    mechanism: {text: Freed slots take waiting requests instead of padding., evidence: timeline}
    limitations: [arrival times are synthetic]
  quantised-trade:
    statement: >-
      Weights in fp8 answer {ratio} sooner on {device} and take {memory.ratio} less memory;
      {agreement.candidate} of the tokens agree, and exact match changes by {match.change}.
    series: engine/quantised_@A
    metric: latency
    baseline: fp16
    candidate: fp8
    expect: better
    also:
      memory: {metric: peak_memory, expect: better}
      agreement: {metric: token_agreement, expect: worse}
      match: {metric: exact_match, expect: worse}
    mechanism: {unknown: nothing was profiled}
  prefix-first:
    statement: With the cache, the first token comes {ratio} sooner on {device}.
    series: engine/prefix_@A
    metric: ttft
    baseline: uncached
    candidate: cached
    expect: better
    mechanism: {unknown: nothing was profiled}
sentences:
  - page: README.md
    pattern: the first token comes {ratio} sooner on these prompts
    claim: prefix-first
tables:
  batching:
    title: Batching
    series: engine/batching_@A
    rows: [scenario, arm]
    columns: [wall_time, {ratio: wall_time}, latency, ttft, tpot, peak_memory, {change: peak_memory}, wasted_tokens]
    baseline: static
  quantised:
    title: Weights of two widths
    series: engine/quantised_@A
    rows: [arm]
    columns: [latency, {ratio: latency}, tpot, peak_memory, token_agreement, exact_match]
    baseline: fp16
  prefix:
    title: Prefix cache
    series: engine/prefix_@A
    rows: [arm]
    columns: [ttft, {ratio: ttft}, wall_time]
    baseline: uncached
"""
_SCALING = """\
claims:
  replicas-scale:
    statement: >-
      Two replicas answer {ratio} as much on {device}; for each accelerator that is a change of {each.change}.
    series: engine/replicas_@A
    metric: throughput
    baseline: one
    candidate: two
    expect: better
    also:
      each: {metric: throughput/accelerators, expect: worse}
      tokens: {metric: tpot, expect: worse}
    mechanism: {unknown: nothing was profiled}
  norm-joint:
    statement: >-
      Joining the norm gives {ratio.geomean} in TPOT on {device} (geometric mean over {model}, {tally});
      the control model stays within {control.ratio.range}.
    series: engine/norm_@A
    metric: tpot
    baseline: separate
    candidate: joint
    where: {model: [toy-3b, toy-9b]}
    expect: better
    also: {control: {where: {model: control-1b}, expect: same}}
    mechanism: {unknown: nothing was profiled}
  drafts-per-token:
    statement: Drafting takes {candidate:ms} for each token on {device} where decoding alone takes {baseline:ms}.
    series: engine/speculation_@A
    metric: wall_time/output_tokens
    baseline: "off"
    candidate: ngram
    expect: better
    mechanism: {unknown: nothing was profiled}
tables:
  replicas:
    title: Replicas
    series: engine/replicas_@A
    rows: [arm]
    columns: [throughput, {ratio: throughput}, {ratio: throughput/accelerators}, tpot, latency]
    baseline: one
  norm:
    title: Joining the norm
    series: engine/norm_@A
    rows: [model]
    across: arm
    columns: [tpot, {ratio: tpot}]
    baseline: separate
  drafts:
    title: Drafting
    series: engine/speculation_@A
    rows: [arm]
    columns: [{ratio: wall_time/output_tokens}, wall_time/output_tokens, tpot]
    baseline: "off"
"""
_ARCHIVE = """\
logs:
  foreign/sweep_20260204: {do_not_cite: the file names no environment and no gate}
claims:
  fuse-once:
    statement: The form before ran {ratio.range} faster on {device} than plain calls.
    series: kernels/fuse_@A_20260201
    metric: time
    baseline: plain
    candidate: fused
    expect: better
    also:
      library: {baseline: library, expect: better}
    mechanism: {unknown: nothing was profiled}
    status: {historical: it measured the tree of the first release}
tables:
  foreign:
    title: A foreign sweep
    series: foreign/sweep
    rows: [batch]
    columns: [ttft, tpot, latency]
"""
TEXTS = {
    "docs/claims/kernels.yml": _KERNELS,
    "docs/claims/serving.yml": _SERVING,
    "docs/claims/scaling.yml": _SCALING,
    "docs/claims/archive.yml": _ARCHIVE,
    "docs/index.md": """\
# Synthetic

What was measured, and on what. {{ ev.says("fuse-gains") }}

- Kernels: see [kernels](kernels.md).
- Serving: {{ ev.says("quantised-trade") }}
""",
    "docs/kernels.md": """\
# Kernels

## Fusing

{{ ev.claim("fuse-gains") }}

{{ ev.table("fuse-first") }}

Plain library calls lose to both forms.

{{ ev.reproduce("fuse-gains") }}

## Where it loses

{{ ev.claim("fuse-loses") }}

{{ ev.table("fuse-second") }}

{{ ev.table("fuse-devices") }}

## Tiles

{{ ev.claim("tile-gains") }}

{{ ev.table("tile-small") }}

{{ ev.table("tile-large") }}

The geometric mean is {{ ev.value("tile-gains", "ratio.geomean") }}.
""",
    "docs/serving.md": """\
# Serving

## Batching

{{ ev.claim("batching-skewed") }}

{{ ev.table("batching") }}

!!! note

    Arrivals are drawn from a seed.

The trade-off is memory.

## Weights

{{ ev.claim("quantised-trade") }}

{{ ev.table("quantised") }}

## Prefix cache

{{ ev.claim("prefix-first") }}

{{ ev.table("prefix") }}
""",
    "docs/scaling.md": """\
# Scaling

{{ ev.claim("replicas-scale") }}

{{ ev.table("replicas") }}

{{ ev.claim("norm-joint") }}

{{ ev.table("norm") }}

{{ ev.claim("drafts-per-token") }}

{{ ev.table("drafts") }}

## Where it loses

The overhead of replicas: each answers a little less than one alone.
""",
    "docs/archive.md": """\
# Archive

{{ ev.claim("fuse-once") }}

{{ ev.table("foreign") }}
""",
    "docs/guide.md": """\
# Guide

Measure in turn, compare with the arm that people run, and keep what fails.

```python
for arm in arms:
    measure(arm)
```
""",
    "README.md": """\
# Synthetic

Kernels and engines, measured. Every number stands on a log below `docs/benchmark_logs`.

- Fusing: <!-- evidence: says fuse-gains --><!-- /evidence -->
- Weights: <!-- evidence: value quantised-trade ratio --><!-- /evidence --> sooner

<!-- evidence: table prefix --><!-- /evidence -->

With the cache the first token comes 1.0× sooner on these prompts.
""",
    "CHANGELOG.md": """\
# Changelog

## Unreleased

- Batching: <!-- evidence: claim batching-skewed --><!-- /evidence -->

## 1.0.0 - 2026-03-01

- Norms: <!-- evidence: says norm-joint --><!-- /evidence -->
""",
}
