"""Replays requests behind one prefix from the log of a claim: writes docs/figures/prefix-cache.gif."""

from benchmarks.engine.filming import Recording, main

RECORDING = Recording(
    name="prefix-cache",
    claim="prefix-later-waves",
    title="One prefix, read by each request and found in the cache",
    caption="The first token of later waves after {candidate} instead of {baseline}: {ratio} sooner",
    script="scripts/gen_prefix_cache_gif.py",
)

if __name__ == "__main__":
    raise SystemExit(main(RECORDING))
