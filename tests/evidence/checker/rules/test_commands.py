"""Tests of the rules on commands: on a synthetic project whose runner is a script, and on this one with its parsers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import runners
from evidence.checker.catalogue import find
from evidence.checker.commands import Judge, judged
from evidence.checker.corpus import Corpus
from evidence.diagnostics import Finding
from evidence.project import Project
from evidence.schema import Provenance, Setting
from tests.evidence.checker import sites
from tests.factories import loaded, record
from tests.projects import CLAIMS, MKDOCS

ROOT = Path(__file__).parents[4]
SHOWN = '{{ ev.claim("toy-fused") }}\n\n'
RAN = "python bench/run.py serve --model small-1b --dtype bf16 --processes 6 --log"
SCRIPT = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["serve", "batch"])
parser.add_argument("--model", required=True)
parser.add_argument("--dtype", choices=["bf16", "fp8"], default="fp8")
parser.add_argument("--processes", type=int, default=3)
parser.add_argument("--log", action="store_true")
parser.parse_args()
raise SystemExit("the check must never run this")
"""
MAKEFILE = """\
MODEL = small-1b
.PHONY: bench quick gone
bench:
\tpython bench/run.py serve --model $(MODEL) --dtype bf16 --processes 6 --log
quick:
\tpython bench/run.py serve --model $(MODEL) --dtype bf16 --processes 6
gone: bench
\tpython bench/old.py
nothing:
"""


def fence(*lines: str) -> str:
    return "```bash\n" + "\n".join(lines) + "\n```\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for path, text in {
        "mkdocs.yml": MKDOCS,
        "docs/claims/page.yml": CLAIMS,
        "bench/run.py": SCRIPT,
        "bench/deep/tool.py": "",
        "requirements.txt": "",
        "scripts/other.sh": f"{RUN}\n",
        "scripts/sound.sh": f"{RAN}\n",
        "Makefile": MAKEFILE,
        "pyproject.toml": '[project]\ndependencies = ["engine-toy>=1"]\n[project.scripts]\nbenchit = "a:b"\n',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    sites.git(folder, "init", "--quiet")
    provenance = Provenance(
        argv=tuple(RAN.split()),
        directory=".",
        variables=(Setting(name="OMP_NUM_THREADS", value="1"),),
        runner="bench.run",
        runner_version="1",
        seed=0,
        source="repository",
    )
    loaded(record(provenance=provenance), folder / "docs/benchmark_logs")
    return folder


RUN = RAN.removesuffix(" --log")


def findings(root: Path, page: str, readme: str = "") -> list[tuple[str, Finding]]:
    (root / "docs/page.md").write_text(page)
    (root / "README.md").write_text(readme)
    return list(judged(Corpus(Project.find(root))))


FAILING = [
    # What is printed below the claim, the rule, and what its message and fix say.
    ("quote", 'echo "open', "EV706", 'a quote " is not closed'),
    ("operator", "make bench &&", "EV706", "nothing follows '&&'"),
    ("module gone", "python -m bench.gone", "EV706", "the module bench.gone is not in the repository"),
    ("module renamed", "python -m benches.run serve --model x", "EV706", "did you mean bench.run?"),
    ("package", "python -m bench", "EV706", "is a package without __main__"),
    ("script moved", "python bench/tool.py", "EV706", "it is bench/deep/tool.py now"),
    (
        "script moved, from a folder",
        "cd bench && python bench/run.py serve --model x",
        "EV706",
        "there is no bench/run.py",
    ),
    ("shell script gone", "bash scripts/run.sh", "EV706", "there is no scripts/run.sh"),
    (
        "behind a wrapper",
        "CUDA_VISIBLE_DEVICES=0 nohup python bench/old.py > out.txt &",
        "EV706",
        "there is no bench/old.py",
    ),
    ("after a pipe", "true | python bench/old.py", "EV706", "there is no bench/old.py"),
    ("launched", "torchrun --nproc-per-node 2 bench/old.py", "EV706", "there is no bench/old.py"),
    ("target", "make bnech", "EV706", "did you mean bench?"),
    ("target runs what is gone", "make gone", "EV706", "there is no bench/old.py"),
    ("target without a recipe", "make nothing", "EV706", "the target nothing of make runs nothing"),
    ("makefile gone", "make -C docs html", "EV706", "there is no Makefile"),
    ("requirements", "pip install -r requirement.txt", "EV706", "did you mean requirements.txt?"),
    ("test file", "pytest tests/test_toy.py::test_x", "EV706", "there is no tests/test_toy.py"),
    ("console script", "benchitt run", "EV706", "did you mean benchit?"),
    ("required missing", "python bench/run.py serve --dtype bf16 --processes 6 --log", "EV706", "it needs --model"),
    ("argument missing", "python bench/run.py --model small-1b", "EV706", "it needs mode, which is not given"),
    ("option unknown", f"{RAN} --proceses 6", "EV706", "did you mean --processes?"),
    ("no such choice", RAN.replace("bf16", "bf8"), "EV706", "--dtype is never 'bf8'"),
    ("another model", RAN.replace("small-1b", "large-7b"), "EV707", "--model is large-7b here, small-1b in the record"),
    (
        "default left to itself",
        RAN.replace(" --dtype bf16", ""),
        "EV707",
        "--dtype is not given here, bf16 in the record",
    ),
    ("another mode", RAN.replace("serve", "batch"), "EV707", "is batch here, serve in the record"),
    ("nothing kept", RUN, "EV707", "--log is not given here"),
    ("one more", f"{RAN} --processes 7", "EV707", "--processes is 6 7 here"),
    ("several", RAN.replace("bf16", "fp8").replace(" 6", " 7"), "EV707", "--processes is 7 here, 6 in the record"),
    ("variable", f"OMP_NUM_THREADS=8 {RAN}", "EV707", "OMP_NUM_THREADS is 8 here, 1 in the record"),
    ("exported", f"export OMP_NUM_THREADS=8\n{RAN}", "EV707", "OMP_NUM_THREADS is 8 here, 1 in the record"),
    ("target that keeps nothing", "make quick", "EV707", "--log is not given here"),
    ("target with another model", "make bench MODEL=large-7b", "EV707", "--model is large-7b here"),
    ("script that keeps another model", "bash scripts/other.sh", "EV707", "(scripts/other.sh:1)"),
    ("placeholder", RAN.replace("small-1b", "<ckpt>"), "EV708", "'<ckpt>' has to be replaced"),
    ("path to", "vllm serve /path/to/model", "EV708", "/path/to"),
    ("variable unset", RAN.replace("small-1b", "$MODEL"), "EV708", "'$MODEL' is set nowhere above"),
    ("home", RAN.replace("small-1b", "/home/me/small-1b"), "EV708", "/home/me/small-1b"),
    ("home of a script", "~/work/run.sh", "EV708", "~/work/run.sh"),
    ("variable at home", f"HF_HOME=/Users/me/hf {RAN}", "EV708", "/Users/me/hf"),
]


@pytest.mark.parametrize(("text", "code", "said"), [case[1:] for case in FAILING], ids=[case[0] for case in FAILING])
def test_a_fault_is_found_once_at_its_line(root: Path, text: str, code: str, said: str) -> None:
    found = findings(root, SHOWN + fence(text))
    assert [one for one, _ in found] == [code], found
    finding = found[0][1]
    assert (finding.at.path, finding.at.line) == ("docs/page.md", 4 + text.count("\n"))
    assert said in f"{finding.message} {finding.fix}"


PASSING = [
    ("verbatim", RAN),
    ("another interpreter", RAN.replace("python", ".venv/bin/python3")),
    ("another order", "python bench/run.py serve --processes 6 --log --dtype=bf16 --model small-1b"),
    ("over lines", RAN.replace(" --dtype", " \\\n  --dtype")),
    ("with its variable", f"OMP_NUM_THREADS=1 {RAN}"),
    ("with a variable that is not held", f"CUDA_VISIBLE_DEVICES=1 {RAN}"),
    ("to a file", f"{RAN} 2>&1 | tee out.txt"),
    ("below a prompt", f"$ {RAN}\nwarming up ...\nit's done"),
    ("variables of the block", f"MODEL=small-1b\n{RAN.replace('small-1b', '$MODEL')}"),
    ("a clone first", f"git clone https://example.org/me/ROOT.git && cd ROOT && {RAN}"),
    ("another project", "git clone https://example.org/you/engine.git\ncd engine\npython benchmarks/any.py --x"),
    ("a script that was fetched", "curl -LO https://example.org/tool.py\npython tool.py"),
    ("a script that is written", "cat > tool.py <<'E'\nx = 1\nE\npython tool.py"),
    ("script", "bash scripts/sound.sh"),
    ("make", "make bench"),
    ("make and its variable", "make bench MODEL=small-1b"),
    ("foreign", "vllm serve Qwen/Qwen3-0.6B --port 8000 &\npip install 'engine[toy]'\ndocker build -t x .\ngit status"),
    (
        "foreign modules",
        "python -m venv .venv\npython -m pytest\npython -m engine_toy.serve --x\npython -m vllm.entrypoints.api",
    ),
    ("help", "python bench/run.py --help"),
    ("files", "pip install -r requirements.txt -e '.[x]'\nls docs/*.md"),
    ("a loop", f"for m in small-1b; do\n  {RAN.replace('small-1b', '$m')}\ndone"),
]


@pytest.mark.parametrize("text", [case[1] for case in PASSING], ids=[case[0] for case in PASSING])
def test_a_command_that_can_be_run_as_written_has_no_finding(root: Path, text: str) -> None:
    assert findings(root, SHOWN + fence(text.replace("ROOT", root.name))) == []


def test_beside_no_claim_only_what_cannot_run_is_found(root: Path) -> None:
    page = fence(RAN.replace("small-1b", "any"), "vllm serve <model>", "python bench/old.py")
    assert [(code, one.at.line) for code, one in findings(root, page)] == [("EV706", 4)]
    assert [(code, one.at.path) for code, one in findings(root, "text", fence("make bnech"))] == [
        ("EV706", "README.md")
    ]


def test_commands_in_running_text_are_judged_beside_claims(root: Path) -> None:
    def found(text: str) -> list[str]:
        return [code for code, _ in findings(root, f"{SHOWN}Run `{text}` to see.\n")]

    assert found("python -m bench.gone --x") == ["EV706"]
    assert found("make bnech") == ["EV706"]
    assert found(RAN.replace("small-1b", "large-7b")) == ["EV707"]
    assert found(RAN.replace("small-1b", "<model>")) == ["EV708"]
    for sound in (RAN, "python -m bench.run", "make bench", "--model x", "python", "bench/run.py"):
        assert found(sound) == [], sound
    assert findings(root, "Run `make bnech`.\n") == []


def test_a_newcomer_has_nothing_to_fill_in(root: Path) -> None:
    assert [code for code, _ in findings(root, "x", fence(RAN.replace("small-1b", "<model>")))] == ["EV708"]
    assert findings(root, "x", fence("engine serve <model>")) == []


def test_all_faults_of_a_page_are_told_at_once(root: Path) -> None:
    page = SHOWN + fence("python bench/old.py", RUN, "x <ckpt> /home/me/y", 'echo "')
    assert [code for code, _ in findings(root, page)] == ["EV706", "EV707", "EV708", "EV708", "EV706"]


def test_a_printed_command_whose_program_is_gone_is_found(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    sites.git(copy, "add", "bench")
    sites.git(copy, "commit", "--quiet", "--message", "bench")
    head = sites.git(copy, "rev-parse", "HEAD")
    (log,) = (copy / "docs/benchmark_logs").glob("*/*/record.json")
    log.write_text(log.read_text().replace(record().sources[0].commit or "", head))
    page = '{{ ev.reproduce("toy") }}\n'
    assert findings(copy, page) == []
    (copy / "bench/run.py").rename(copy / "bench/deep/run.py")
    ((code, finding),) = findings(copy, page)
    assert (code, finding.at.line) == ("EV706", 1)
    assert "bench/deep/run.py" in finding.fix


@pytest.mark.parametrize("code", ["EV706", "EV707", "EV708"])
def test_each_rule_has_a_failing_and_a_passing_case(root: Path, code: str) -> None:
    text = next(case[1] for case in FAILING if case[2] == code)
    findings(root, SHOWN + fence(text))
    corpus = Corpus(Project.find(root))
    assert list(find(code).check(corpus))
    findings(root, SHOWN + fence(RAN))
    assert not list(find(code).check(Corpus(Project.find(root))))


# This project, whose runners are declared and parse for themselves.

OWN = "kernels/gated_delta_rule_x86_64-2c_20261130"
OWN_CLAIMS = """\
tables:
  own:
    title: The delta rule
    series: kernels/gated_delta_rule_x86_64-2c
    rows: [op]
    across: arm
    columns: [time]
"""
OWN_SHOWN = '{{ ev.table("own") }}\n\n'
OWN_RAN = (
    "python -m benchmarks.ops.run --op gated_delta_rule --directions forward --processes 9 --budget 1.5 --warm-up 0.5 "
    "--maximum-samples 60 --log"
)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(ROOT / "docs/benchmark_logs" / OWN, folder / "docs/benchmark_logs" / OWN)
    (folder / "docs/claims").mkdir()
    (folder / "docs/claims/page.yml").write_text(OWN_CLAIMS)
    (folder / "mkdocs.yml").write_text(MKDOCS)
    return folder


def own_judged(own: Path, page: str) -> list[tuple[str, Finding]]:
    (own / "docs/page.md").write_text(page)
    return list(Judge(Corpus(Project.find(own)), runners.known(ROOT)).everything())


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (OWN_RAN.replace("--op gated", "--opp gated"), "EV706", "did you mean --op?"),
        (OWN_RAN.replace("--op gated_delta_rule ", ""), "EV706", "no op is named"),
        (OWN_RAN.replace("gated_delta_rule", "gated_delta_rul"), "EV706", "did you mean 'gated_delta_rule'?"),
        (OWN_RAN.replace("--budget 1.5", "--budget"), "EV706", "argument --budget: expected one argument"),
        (OWN_RAN.replace("--budget 1.5", "--budget fast"), "EV706", "invalid float value"),
        (OWN_RAN + " --sharing cel", "EV706", "invalid choice: 'cel'"),
        ("python -m benchmarks.evidence.run chek --log", "EV706", "invalid choice: 'chek'"),
        (OWN_RAN.replace("gated_delta_rule", "hgrn"), "EV707", "--op is hgrn here, gated_delta_rule in the record"),
        (OWN_RAN.replace(" --budget 1.5", ""), "EV707", "--budget is 10 here, 1.5 in the record"),
        (OWN_RAN + " --shapes b1-t64-h4-d64", "EV707", "--shapes is b1-t64-h4-d64 here, b1-t512-h4-d64 in the record"),
        (OWN_RAN + " --dtype bf16", "EV706", ""),
        (OWN_RAN + " --no-control", "EV707", "--no-control is given here, not given in the record"),
        (OWN_RAN.removesuffix(" --log"), "EV707", "--log is not given here, given in the record"),
        ("python -m benchmarks.ops.run --op gated_delta_rule --log", "EV707", "--maximum-samples is 50 here, 60"),
        (f"TRITON_INTERPRET=1 {OWN_RAN}", "EV707", "TRITON_INTERPRET is 1 here, not given in the record"),
        (OWN_RAN.replace("gated_delta_rule", "<op>"), "EV708", "<op>"),
    ],
)
def test_a_command_is_read_by_the_parser_of_its_runner(own: Path, text: str, code: str, said: str) -> None:
    found = own_judged(own, OWN_SHOWN + fence(text))
    if code == "EV706" and not said:
        assert found
        return
    ((one, finding),) = found
    assert one == code, finding
    assert said in f"{finding.message} {finding.fix}"


@pytest.mark.parametrize(
    "text",
    [
        OWN_RAN,
        OWN_RAN.replace(" --processes 9", ""),  # its default
        OWN_RAN.replace("--maximum-samples 60", "--maximum-s=60") + " --sharing cell --device cpu",
        OWN_RAN + " --baseline recurrent --implementations chunk recurrent --logs elsewhere --timeout 60",
        OWN_RAN.removesuffix(" --log") + " --dry-run",
        f"OMP_NUM_THREADS=8 {OWN_RAN}",  # the runner pins it
        "python -m benchmarks.ops.run --list",
        "python -m benchmarks.ops.run --help",
        "python -m benchmarks.evidence.run check --processes 6 --log",
    ],
)
def test_a_command_that_means_the_same_has_no_finding(own: Path, text: str) -> None:
    assert own_judged(own, OWN_SHOWN + fence(text)) == []


def test_of_several_logs_the_one_of_the_section_is_meant(own: Path) -> None:
    page = f"# A\n\n## B\n\n{fence(OWN_RAN.replace('9', '8'))}\n{OWN_SHOWN}\n## C\n"
    ((code, finding),) = own_judged(own, page)
    assert (code, finding.at.line) == ("EV707", 6)


def test_a_printed_command_that_no_longer_means_the_same_is_found(own: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(own, copy)
    path = copy / "docs/benchmark_logs" / OWN / "record.json"
    sound = path.read_text()

    def found(old: str, new: str) -> list[tuple[str, Finding]]:
        assert old in sound
        path.write_text(sound.replace(old, new, 1))
        return own_judged(copy, OWN_SHOWN)

    assert found("9", "9") == []
    ((code, finding),) = found('"--budget"', '"--budgett"')
    assert (code, finding.at.pointer) == ("EV706", "/provenance/argv")
    assert "did you mean --budget?" in finding.fix
    assert [place.path for place in finding.cited] == ["docs/page.md"]
    ((code, finding),) = found('"gated_delta_rule"', '"hgrn"')
    assert code == "EV707"
    assert "--op is hgrn here, gated_delta_rule in the record" in finding.message


# Any project can declare a runner of its own: here one with click, in a package that lies in the project.

TOY_RUNNER = """\
import click

@click.command()
@click.option("--model", required=True)
@click.option("--steps", type=int, default=10)
@click.option("--log", is_flag=True)
def toy(model, steps, log):
    raise SystemExit("the check must never run this")

class Runner:
    def parser(self): return toy
    def configuration(self, options): return {f"--{name}": str(value) for name, value in options.items()}
    def recorded(self, record): return {"--model": "small"}
    def variables(self, options, given): return {}
    def rerun(self, words, logs, *, brief): return tuple(words)

RUNNER = Runner()
"""


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("declared")
    provenance = Provenance(
        argv=("python", "-m", "toybench", "--model", "small", "--log"),
        directory=".",
        variables=(),
        runner="toybench",
        runner_version="1",
        seed=0,
        source="repository",
    )
    for path, text in {
        "mkdocs.yml": MKDOCS,
        "docs/claims/page.yml": CLAIMS,
        "toybench/__init__.py": "",
        "toybench/__main__.py": "",
        "toybench/runner.py": TOY_RUNNER,
        "toybench-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: toybench\nVersion: 1\n",
        "toybench-1.dist-info/entry_points.txt": f"[{runners.GROUP}]\ntoybench = toybench.runner:RUNNER\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    loaded(record(provenance=provenance), folder / "docs/benchmark_logs")
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("python -m toybench --model small --log", ""),
        ("python -m toybench --log --steps 10 --model=small", ""),
        ("python -m toybench --modle small --log", "did you mean --model?"),
        ("python -m toybench --log", "Missing option '--model'"),
        ("python -m toybench --model small --steps few", "'few' is not a valid integer"),
        ("python -m toybench --model small --steps 20 --log", "--steps is 20 here, 10 in the record"),
        ("python -m toybench --model large --log", "--model is large here, small in the record"),
    ],
)
def test_a_project_declares_a_runner_of_its_own(declared: Path, text: str, said: str) -> None:
    (declared / "docs/page.md").write_text(SHOWN + fence(text))
    environment = {**os.environ, "PYTHONPATH": str(declared), "COLUMNS": "300"}
    command = [sys.executable, "-m", "evidence.check", "--select", "EV706,EV707,EV708"]
    done = subprocess.run(command, cwd=declared, env=environment, capture_output=True, text=True, check=False)
    assert said in done.stdout, done.stdout + done.stderr
    assert bool(said) is ("EV70" in done.stdout), done.stdout + done.stderr


def test_the_published_commands_are_sound() -> None:
    assert judged(Corpus(Project.find(ROOT))) == ()
