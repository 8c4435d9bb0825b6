"""Owns mutations of class S: a check that is switched off, overlooks something by order, or has nothing to look at."""

from __future__ import annotations

import json
import re

from benchmarks.evidence.mutants.faults import KERNELS, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import LEDGER, Mutant
from benchmarks.evidence.projects import LOGS
from evidence.store import RECORD_NAME


def _contradict(mutant: Mutant) -> None:
    mutant.swap(SERVING, "candidate: cached\n    expect: better", "candidate: cached\n    expect: worse")


@mutation("S", "EV904")
def macros_off_on_a_page(mutant: Mutant) -> None:
    """A page tells the build not to run its macros."""
    mutant.edit("docs/kernels.md", lambda text: f"---\nrender_macros: false\n---\n\n{text}")


@mutation("S", "EV904")
def undefined_names_render_nothing(mutant: Mutant) -> None:
    """The build lets undefined names render nothing."""
    mutant.swap("mkdocs.yml", "on_undefined: strict", f"on_undefined: {mutant.rng.choice(('keep', 'silent', 'lax'))}")


@mutation("S", "EV904", "EV905")
def plugin_left_out(mutant: Mutant) -> None:
    """The plugin that fails the build is left out of it."""
    mutant.swap("mkdocs.yml", "  - evidence\n", "")


@mutation("S", "EV904", "EV905")
def macros_left_out(mutant: Mutant) -> None:
    """The plugin that runs macros is left out of the build."""
    mutant.edit("mkdocs.yml", lambda text: re.sub(r"  - macros.*\n", "", text))


@mutation("S", "EV904", "EV905")
def macros_after_the_plugin(mutant: Mutant) -> None:
    """The plugin runs before there is anything to see."""
    mutant.edit("mkdocs.yml", lambda text: re.sub(r"(  - macros.*\n)(  - evidence\n)", r"\2\1", text))


@mutation("S", "EV904", "EV905", "EV702")
def pages_not_rendered_by_default(mutant: Mutant) -> None:
    """The build runs macros on no page unless it asks for them."""
    mutant.swap("mkdocs.yml", "on_undefined: strict}", "on_undefined: strict, render_by_default: false}")


@mutation("S", "EV904")
def name_of_the_macros_taken(mutant: Mutant) -> None:
    """The configuration gives the name of the macros to something else."""
    mutant.append("mkdocs.yml", "extra: {ev: {}}")


@mutation("S", "EV905", "EV615")
def calls_taken_away(mutant: Mutant) -> None:
    """No page calls anything any more, and the check would have nothing to check."""
    for page in ("index", "kernels", "serving", "scaling", "archive"):
        mutant.edit(f"docs/{page}.md", lambda text: re.sub(r"\{\{.*?\}\}", "", text))


@mutation("S", "EV905", "EV601")
def store_taken_away(mutant: Mutant) -> None:
    """All logs are taken away."""
    mutant.remove(LOGS)


@mutation("S", "EV704", "EV904")
def call_inside_a_raw_block(mutant: Mutant) -> None:
    """A call is published as text."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}', '{% raw %}{{ ev.table("norm") }}{% endraw %}')


@mutation("S", "EV704")
def call_inside_code(mutant: Mutant) -> None:
    """A call stands in a block of code."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}', '```\n{{ ev.table("norm") }}\n```')


@mutation("S", "EV704")
def call_inside_a_comment(mutant: Mutant) -> None:
    """A call stands in a comment, where no reader sees it."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}', '<!-- {{ ev.table("norm") }} -->')


@mutation("S", "EV906")
def call_under_a_condition(mutant: Mutant) -> None:
    """A call stands under a condition that is never true."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}', '{% if false %}{{ ev.table("norm") }}{% endif %}')


@mutation("S", "EV906")
def call_whose_result_is_changed(mutant: Mutant) -> None:
    """What a call renders is changed before it is shown."""
    mutant.append("docs/index.md", '{{ ev.says("fuse-gains") | replace("1.", "2.") }}')


@mutation("S", "EV703", "EV906", "EV702")
def computed_id(mutant: Mutant) -> None:
    """A call's id is computed."""
    mutant.swap("docs/scaling.md", 'ev.table("norm")', 'ev.table("no" ~ "rm")')


@mutation("S", "EV703", "EV702", "EV906")
def macros_under_another_name(mutant: Mutant) -> None:
    """A page gives the macros another name first."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}', '{% set e = ev %}{{ e.table("norm") }}')


@mutation("S", "EV702")
def misspelt_macro(mutant: Mutant) -> None:
    """A call names a macro that there is not."""
    mutant.swap("docs/scaling.md", "ev.table(", "ev.tabel(")


@mutation("S", "EV702")
def misspelt_id(mutant: Mutant) -> None:
    """A call names a claim that there is not."""
    mutant.swap("docs/scaling.md", 'ev.claim("norm-joint")', 'ev.claim("norm-joined")')


@mutation("S", "EV902", "EV602")
def waiver_of_what_is_never_waived(mutant: Mutant) -> None:
    """A claim waives the rule that holds it to its log."""
    _contradict(mutant)
    waiver = "    waive: [{rule: EV602, why: known, owner: someone, until: 2099-01-01}]\n"
    mutant.swap(SERVING, "candidate: cached\n    expect: worse\n", f"candidate: cached\n    expect: worse\n{waiver}")


@mutation("S", "EV903", "EV701")
def waiver_past_its_date(mutant: Mutant) -> None:
    """A page waives a typed number until a day that is over."""
    until = f"2025-0{mutant.rng.randint(1, 9)}-01"
    mutant.append(
        "docs/kernels.md",
        f'<!-- evidence: allow EV701 because="vendor" owner="@docs" until={until} -->\n'
        f"It is {mutant.drawn(1.1, 9)}x faster.",
    )


@mutation("S", "EV903", "EV701")
def waiver_without_a_reason(mutant: Mutant) -> None:
    """A page waives a typed number and does not say why."""
    mutant.append(
        "docs/kernels.md",
        f'<!-- evidence: allow EV701 owner="@docs" until=2099-01-01 -->\nIt is {mutant.drawn(1.1, 9)}x faster.',
    )


@mutation("S", "EV902")
def waiver_of_nothing(mutant: Mutant) -> None:
    """A waiver covers nothing that is found."""
    mutant.append(
        "docs/kernels.md",
        '<!-- evidence: allow EV701 because="vendor" owner="@docs" until=2099-01-01 -->\nIt is quick.',
    )


@mutation("S", "EV602")
def settings_that_overlook_everything(mutant: Mutant) -> None:
    """The settings of the check ask to overlook a contradicted claim."""
    _contradict(mutant)
    mutant.write(
        "evidence.toml", '[[ignore]]\nrule = "EV602"\nreason = "known"\nowner = "someone"\nuntil = 2099-01-01\n'
    )
    mutant.touched.add(SERVING)


@mutation("S", "EV902")
def settings_that_name_no_rule(mutant: Mutant) -> None:
    """The settings of the check overlook a rule that there is not."""
    mutant.write("evidence.toml", '[[ignore]]\nrule = "EV777"\nreason = "x"\nowner = "x"\nuntil = 2099-01-01\n')


@mutation("S", "EV009")
def logged_and_never_registered(mutant: Mutant) -> None:
    """A log lies in the store that no claim or page speaks of: only what is registered was counted."""
    old = mutant.log("kernels/tile")
    new = f"kernels/retile_{mutant.first}_202603{mutant.rng.randint(10, 28)}"
    record = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}"))
    day = f"{new[-8:-4]}-{new[-4:-2]}-{new[-2:]}"
    record |= {"log": new, "started_at": f"{day}T10:00:00Z", "ended_at": f"{day}T11:00:00Z"}
    for cell in record["cells"]:
        for process in cell.get("processes", ()):
            for samples in process["samples"]:
                samples["values"] = [float(f"{v * mutant.rng.uniform(1.2, 1.201):.9g}") for v in samples["values"]]
    mutant.write(f"{LOGS}/{new}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(new)


@mutation("S", "EV006", "EV905")
def base_that_is_not_there(mutant: Mutant) -> None:
    """The settings name a base branch that there is not, so that the ledger is compared with nothing."""
    mutant.write("evidence.toml", f'base = "release-{mutant.rng.randint(1, 99)}"\n')
    mutant.touched.add(LEDGER)


@mutation("S", "EV620")
def claims_that_are_no_claims(mutant: Mutant) -> None:
    """A claims file cannot be parsed, so that none of its claims is held to anything."""
    mutant.swap(KERNELS, "claims:\n", "claims: [\n")


@mutation("S", "EV702", "EV009", "EV615", "EV905", "EV601")
def claims_under_another_ending(mutant: Mutant) -> None:
    """A claims file is given a name that the check does not read."""
    text = mutant.text(KERNELS)
    mutant.remove(KERNELS)
    mutant.write("docs/claims/kernels.yaml.bak", text)
    mutant.touched.add("docs/kernels.md")


@mutation("S", "EV701", "EV702", "EV904", "EV711", "EV715")
def page_that_is_no_markdown(mutant: Mutant) -> None:
    """Results are published as an HTML page, which no macro ever sees."""
    mutant.write(
        "docs/results.html", f"<table><tr><th>latency (ms)</th></tr><tr><td>{mutant.drawn(1, 90)}</td></tr></table>\n"
    )


@mutation("S", "EV906", "EV701", "EV704")
def text_from_a_snippet(mutant: Mutant) -> None:
    """A page takes text with a result from a file that the check does not read."""
    mutant.write("snippets/result.txt", f"Fusing is {mutant.drawn(1.1, 9)}x faster.\n")
    mutant.append("docs/kernels.md", '--8<-- "snippets/result.txt"')
