"""Replays static and continuous batching from the log of a claim: writes docs/figures/continuous-batching.gif."""

from benchmarks.engine.filming import Recording, main

RECORDING = Recording(
    name="continuous-batching",
    claim="continuous-skewed",
    title="The same requests, in padded batches and joining as places free",
    caption="The last answer after {candidate} instead of {baseline}: {ratio} sooner",
    script="scripts/gen_continuous_batching_gif.py",
)

if __name__ == "__main__":
    raise SystemExit(main(RECORDING))
