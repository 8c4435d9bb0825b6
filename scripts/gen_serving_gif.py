"""Replays one engine in this process and behind its server from the log of a claim: writes docs/figures/serving.gif."""

from benchmarks.engine.filming import Recording, main

RECORDING = Recording(
    name="serving",
    claim="serving-over-http",
    title="The same requests, to an engine in this process and to its server",
    caption="Half of all first tokens within {baseline} in this process and {candidate} over HTTP",
    script="scripts/gen_serving_gif.py",
)

if __name__ == "__main__":
    raise SystemExit(main(RECORDING))
