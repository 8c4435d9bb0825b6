"""Owns telling a result from what only looks like one, by the words around it.

Each function takes a number with its unit and its sentence. The lists of words were drawn up from many public pages;
the labelled lines of the tests say what each is for.
"""

from __future__ import annotations

import re

from evidence.pages.context import Place

_COMPARED = re.compile(
    r"\b(?:fast(?:er|est)?|slow(?:er|est|down|s)?|better|worse|higher|lower|larger|smaller|cheaper|quicker"
    r"|shorter|longer"
    r"|more|less|fewer|greater|improv\w+|regress\w*|speed-?ups?|speeds?|outperform\w*|gain\w*|reduc\w+|increas\w+"
    r"|decreas\w+|sav(?:e[sd]?|ings?|ing)|drop\w*|boost\w*|overhead|cuts?|cutting|shr[iau]nk\w*|wins?|won"
    r"|loss|los(?:es|t)"
    r"|performan\w+|accura\w+"
    r"|utili[sz]ation|throughput|latenc\w+|agreement|geometric mean|geomean|peak|bandwidth|ttft|tpot|mfu"
    r"|hfu|hit[- ]rate|acceptance|beats?|trails?|ahead|behind|off the)\b"
)
_NORM = re.compile(
    r"\b(?:if|unless|must|should|shall|when(?:ever)?|threshold|tolerance|tolerated|guardrail|fail\w*"
    r"|flag\w*|reject\w*"
    r"|requires?|required|needs?|accept(?:s|ed|able)?|alert|warn\w*|gate|aim\w*|target\w*|goal|consider"
    r"|investigate|otherwise"
    r"|ensure|checks?|verify|trigger\w*|limit|stop\w*|regression|refuse\w*|defaults?|asserts?|discard\w*"
    r"|counts? as|rule of thumb)\b"
)
_BOUND = re.compile(
    r"(?:[<>≤≥]=?|(?:more|less|greater|fewer|higher|lower|better|worse) than|over|above|below|under|at least|at most"
    r"|within|exceed\w*|beyond|threshold(?: of)?|tolerance(?: of)?|\")\W*(?:an? )?$"
)

_SYMBOL = re.compile(r"(?<![-=])[<>≤≥]=?[ ]?[*_]*$")
_REACHED = re.compile(
    r"\b(?:achiev\w+|reach\w*|deliver\w*|gets?|got|giv\w+|is|are|was|were|runs?|with|provid\w+|saw|see|seen"
    r"|shows?|yield\w*|result\w*|at|in|by)\b"
)
_IMAGINED = re.compile(
    r"\bmeans\b[^,]{0,16}$"
    r"|\b(?:suppos\w+|imagin\w+|hypothetical\w*|you could say|could say|assum\w+|if there is|let's say"
    r"|pretend|y-axis|x-axis|axis)\b"
    r"|\bsay,|\be\.g\.[^.]*\b(?:by|is|are)\W*$"
)
_ADVISED = re.compile(
    r"\W*(?:\w+ )?(?:is|are|would be|will be) (?:not |more than |usually )?(?:enough|ok|okay|ideal|fine"
    r"|sufficient|plenty|considered|acceptable|recommended|a good)\b"
)
_MORE_OF = re.compile(
    r"[\s*_~+-]*(?:more|fewer|wider|deeper|larger|smaller|bigger|less)[ \n](?:\w+[ \n])?(?:sms?|cores?"
    r"|copies|layers?|param\w+|flops|weights?|heads|experts|gpus?|nodes"
    r"|data|samples|batch\w*|vocab\w*|contexts?|sequences?|rows|columns|elements|states?|blocks|threads"
    r"|channels|files|lines|code|models?|users|features|options)\b"
)
_RULED = re.compile(r"\b(?:is|are|be|gets?) (?:rejected|refused|accepted|flagged|discarded|ignored)\b")


_HARDWARE = re.compile(
    r"[ \u00a0*_-]*(?:(?:NVIDIA|Nvidia|AMD|Intel|Google|Ascend|Tesla|GeForce|RTX|GTX|TPU|MI|Xeon|EPYC|InfiniBand|RoCE"
    r"|NVLink|NVMe|PCIe|DDR|HBM|mlx)\b|[A-Z]{1,4}-?\d{1,4}\w*|mlx\d"
    r"|(?:[\w-]+[ ])?(?:GPUs?|CPUs?|vCPUs?|NICs?|HCAs?|gpus?|cpus?|accelerators?|devices?|nodes?|replicas?"
    r"|(?:\w+[ ])?cores?"
    r"|cards?|hosts?|ranks?|machines?|servers?|instances?|sockets?|chips?|dies?|drives?|disks?|SSDs?|links?|lanes?"
    r"|threads?|workers?|experts?|heads?|layers?|warps?|stages?|channels?|slots?|ports?)\b)"
)
_NAMED = re.compile(
    r"[ \u00a0]+(?!(?:Fast|Slow|Speed|High|Low|Bett|More|Less|Improv|Reduc|Throughput|Perf|Large|Small))[A-Z]"
)
_BIGGER = re.compile(
    r"[\s*_]*(?:larger|bigger|wider|deeper|that (?:count|size|number|amount|many))\b(?! (?:throughput|batch|speed))"
)
_SPACED = re.compile(r"[ \u00a0][xX×]$")
_MODEL = re.compile(r"\d{4}|\d50")
"""Processors and cards are named so: `7950X`, `MI-250x`."""
_SERIES = re.compile(
    r"(?:\b(?:rtx|gtx|cuda|python|torch|pytorch|triton|rocm|v|version|versions|http|node|java|gcc|clang"
    r"|llvm|releases?|rc)"
    r"|[x×])[ \u00a0]*$"
)
_SERIES_AFTER = re.compile(r"[ \n](?:branch|series|releases?|line|versions?|api)\b")
_MULTIPLE = re.compile(
    r"[ \n]*(?:(?:and|or)[ \n][\d.]+[x×][ \n])?(?:(?:the|its|their|a|your)[ \n])?(?:l[123]\b|base\b"
    r"|capacity|cache size|size of|number of|block|chunk|batch|zoom|up-?scal|up-?sampl"
    r"|down-?sampl|over-?sampl|super-?res|resolution|expansion|scale\b|redundan|retr(?:y|ies)|repeat"
    r"|runs?\b|pass(?:es)?\b"
    r"|iterations?|margin|timeout|limit|budget|gradient|accumulation|unroll|wider|deeper|larger (?:batch"
    r"|model|context))"
)
_REPEATED = re.compile(
    r"\b(?:repeat(?:ed|s)?|re-?run|retr(?:y|ied)|call(?:ed)?|loop(?:ed)?|multiply|multiplied by|scaled by|padd\w+)\b"
    r"(?:[ \n](?:it|them|this|each|that))?\W*$"
)
_ALONE = re.compile(
    r"[*_)\]\"',:\s]*(?:$|\b(?:on|in|at|for|with|when|vs|than|across|of|from|under|and|or|to|here|over)\b|[-–—(])"
)


def is_ratio(match: re.Match[str], around: Place) -> bool:
    """Whether a number and a × are how many times better: no shape, count, version or multiple of a size."""
    number = match[0][: match.start("ratio") - match.start()].rstrip(" \u00a0*_")
    is_whole = "." not in number
    if is_whole and (_HARDWARE.match(around.next) or number == "1"):
        return False
    if re.match(r"[ \u00a0]*\d", around.next) or _SERIES.search(around.before) or _SERIES_AFTER.match(around.after):
        return False
    if number == "1.0" or _MULTIPLE.match(around.after) or _REPEATED.search(around.before) or _is_bound(around):
        return False
    if not is_whole:
        return True
    if _MODEL.fullmatch(number) and not _COMPARED.match(around.after.lstrip(" *_")):
        return False
    if _MORE_OF.match(around.after) or _BIGGER.match(around.after):
        return False
    if _SPACED.search(match[0]) and not _COMPARED.search(around.after[:16]) and not _ALONE.match(around.after):
        return False
    if _NAMED.match(around.next) and not _COMPARED.search(around.after[:60]):
        return False
    return bool(_COMPARED.search(around.sentence) or _ALONE.match(around.after))


_SUPPOSED = re.compile(r"\bif\b[^,]{0,40}$")
_SHARE = re.compile(
    r"[ \n]of[ \n](?:(?:the|its|our|all)[ \n])?(?:[\w'-]+[ \n]){0,2}?(?:peak|theoretical|roofline|maximum"
    r"|max\b|baseline|speed|throughput|performance"
    r"|native|bandwidth|line[- ]rate|time|latency|runtime|speed-of-light|sol\b|optimal|ideal|dense|cublas"
    r"|flops|ttft|flagship)"
)
_OF = re.compile(
    r"[ \n](?:of|are|is|were|was|have|sparsity|sparse|confidence|interval|ci\b|percentile|quantile|accura"
    r"|pass|sure|python|cpu\b|gpu\b|off|discount)"
)
_TAKEN = re.compile(
    r"\b(?:by|saves?|saved|saving|reduc\w+|cuts?|cutting|only|just|improv\w+)[ \n](?:(?:up to|about|around"
    r"|over|more than|another|an? \w+)[ \n])?[*_~≈]*$"
)
_SETTING = re.compile(
    r"\b(?:set(?:ting|s)?|use[sd]?|using|cap(?:ped)?|reserv\w+|limit(?:ed)?|allocat\w+|default\w*"
    r"|confidence|sparsity|interval|random\w*|prune[sd]?"
    r"|dropout|sampl\w+|top|percentile|utili[sz]ation|target\w*|goal|warmup|ratio of|probability"
    r"|chance)\W+(?:\w+\W+){0,2}$"
)


def is_percentage(match: re.Match[str], around: Place, sign: str) -> bool:
    """Whether a percentage compares, or is a share of a peak: no share of a whole, setting or confidence."""
    if match["percentage"].endswith(("point", "points")):
        near = f"{around.before[-40:]}\0{around.after[:50]}"
        return bool(
            re.search(
                r"\b(?:within|percentage|higher|lower|better|worse|gains?|drops?|above|below|ahead|behind"
                r"|improv\w+|los[et]s?)\b",
                near,
            )
        ) and not _is_bound(around)
    if _is_bound(around) or _SETTING.search(around.before):
        return False
    number = match[0].rstrip("% \u00a0")
    if sign and sign in "+−-±":
        return True
    if _SHARE.match(around.after):
        return not _SUPPOSED.search(around.before)
    if _MORE_OF.match(around.after):
        return False
    if _OF.match(around.after) and not _TAKEN.search(around.before):
        return False
    if number in ("100", "0") and not re.match(
        r"[ \n*]*(?:faster|slower|higher|lower|more|less|overhead|improv|speed)", around.after
    ):
        return False
    return bool(_COMPARED.search(around.before[-70:]) or _COMPARED.search(around.after[:50]))


_OFFERED = re.compile(
    r"\b(?:request[- ]rates?|arrival[- ]rates?|rates?|rate[- ]limit\w*|load|qps|rps|capped|limit\w*"
    r"|throttl\w+|target\w*|poisson|send\w*"
    r"|sampled|concurrency|up to a|frame[- ]rate)\W*(?:(?:of|is|to|at|from|by)\W*)?$"
)
_LOADED = re.compile(r"\b(?:at|with|under|between)\W*$")
_FILMED = re.compile(r"\b(?:video|camera|clips?|frame[- ]rate|sampled|playback|movie|webcam|stream)\b")


def is_rate(match: re.Match[str], around: Place) -> bool:
    """Whether a rate was reached: not offered, limited or filmed."""
    unit = match["rate"].strip().lower()
    if _is_bound(around):
        return False
    if unit == "fps" and _FILMED.search(around.sentence):
        return False
    if re.match(r"(?:req|quer|[qr]ps)", unit) and (_OFFERED.search(around.before) or _LOADED.search(around.before)):
        return False
    return not re.search(r"\b(?:rate[- ]limit\w*|capped|throttled|limited)\b", around.before[-40:])


_WIRE = re.compile(
    r"[ \n-]*(?:(?:[\w/-]+[ \n]){0,2}?(?:links?|networks?|ethernet|infiniband|nics?|uplinks?|connections?"
    r"|nvlink|pcie|roce|ports?|interfaces?|sata|ssds?|disks?|e?rdma|interconnects?|cables?|cx-?\d"
    r"|connectx\w*|efa|eth\b|internet|fabric|switch\w*|lan\b|hca|wifi|modem))"
)


def is_bandwidth(match: re.Match[str], around: Place) -> bool:
    """Whether a bandwidth was reached or is claimed: it does not name a kind of link."""
    return not (
        _WIRE.match(around.after)
        or _is_bound(around)
        or re.search(
            r"\b(?:limit(?:ed)? (?:\w+ )?(?:of|to)|cap(?:ped)? (?:of|to|at)|throttled to|bitrate|bit rate|simulat\w+"
            r"|emulat\w+)\W*(?:\w+\W+){0,2}$",
            around.before,
        )
        or (re.search(r"\blatency, \W*$", around.before) and "simulat" in around.sentence)
    )


def is_flops(match: re.Match[str], around: Place) -> bool:
    """Whether a rate of operations was reached: no amount of work."""
    return not (re.match(r"[ \n](?:per|of compute|model\b|budget)", around.after) or _is_bound(around))


_CONFIGURED = re.compile(
    r"\b(?:timeouts?|time-?out|times out|intervals?|delays?|sleep\w*|wait\w*|every|each|poll\w*|ttl"
    r"|windows?|periods?|cool-?down|warm-?up|warmed|refresh\w*"
    r"|debounce|budgets?|deadlines?|slos?|sla|targets?|thresholds?|limit\w*|duration\w*|at least|at most"
    r"|no more than|max(?:imum)?|min(?:imum)?|default\w*|set"
    r"|capped|retr\w+|backoff|grace|heartbeat|last|next|first|expir\w+|keep-?alive|granularity|resolution"
    r"|simulat\w+|inject\w*|emulat\w*"
    r"|artificial\w*|rtt|ping|network|once per|chunks?|clips?|audio|overlaps?|padding|silence|offsets?|gaps?"
    r"|pauses?|tick|record\w*|sampl\w+)\b\W*(?:(?:of"
    r"|to|is|for|at|the|a|an|about|around|are|=|by|every|after|than|latency|lasts?|time)\W*){0,3}$"
)
_CONFIGURED_AFTER = re.compile(
    r"\W{0,3}(?:(?:\w+[ \n])?(?:time-?outs?|intervals?|delays?|sleeps?|windows?|ttl|budgets?|deadlines?|sla"
    r"|slos?|targets?|thresholds?|limits?|cool|warm-?up|periods?"
    r"|granularity|resolution|overlaps?|padding|silence|offsets?|gaps?|pauses?|strides?|horizon|half-life"
    r"|quantum|clips?|videos?|audio|speech|chunks?|segments?|recordings?|samples?|timers?|buckets?|bins?"
    r"|ticks?|polls?|ping|rtt)\b|later|ago|apart|each\b|or (?:more|less|longer)"
    r"|of (?:\w+ )?(?:audio|speech|video|silence|sleep|cool|warm|data|context|music|input))"
)
_LASTING = re.compile(
    r"\b(?:tak(?:es?|en|ing)|took|down to|reduc\w+|latenc\w+|run ?times?|elapsed|wall|finish\w*|complet\w*"
    r"|faster|slower|vs|versus|instead of|only|just|average|avg|mean"
    r"|median|p\d\d|ttft|tpot|loads?|loaded|loading|compil\w*|start-?up|boot\w*|spent|total|costs?|speed\w*"
    r"|overhead|builds?|cold|improv\w+|dropp?\w*|parses?|scan\w*|generat\w+|transcri\w+|second run|seconds)\b"
    r"|(?:\bin|→|->|about|around|~|≈|from|to|than)\W*$"
)


_SPENT = re.compile(
    r"\b(?:tak(?:es?|ing|en)|took|latenc\w+|ran|runs?|finish\w*|complet\w*|spen[dt]s?|costs?|needs?|lasts?)\b"
)
_LONGER = re.compile(r"\b(?:exceed\w*|(?:long|short|great|small)er than|(?:more|less) than|beyond|above)\W*$")
_DECADE = re.compile(r"(?:1[5-9]|20)\d0s")
_PLURAL = re.compile(r"\d0|\d{3,}")


def is_time(match: re.Match[str], around: Place) -> bool:
    """Whether a time was taken: no timeout, interval, budget or length of a recording."""
    unit = match["time"].lower().lstrip("-")
    if _LONGER.search(around.before) and not _SPENT.search(around.before):
        return False
    number = match[0][: match.start("time") - match.start()]
    if _CONFIGURED.search(around.before) or _CONFIGURED_AFTER.match(around.after) or _is_bound(around):
        return False
    if (unit in ("s", "sec", "second") and number.strip() == "1") or _DECADE.fullmatch(match[0]):
        return False
    if unit == "s" and around.after.startswith(" of ") and number.isdigit():
        return False
    if (
        unit == "s"
        and _PLURAL.fullmatch(number)
        and not re.search(r"(?:in|took|takes|from|to)\W*[~≈]?$|[~≈→]$", around.before)
    ):
        return False
    if unit in ("s", "sec", "secs", "second", "seconds"):
        if re.search(r"\b(?:for|after|if)\W*$", around.before):
            return False
        return bool(
            _LASTING.search(around.before)
            or re.search(
                r"\b(?:faster|slower|to|vs|versus|on average|per (?:step|iteration|epoch|run)|latency|run ?time)\b",
                around.after[:40],
            )
        )
    return True


def _is_bound(around: Place) -> bool:
    """Whether a number is a threshold: a bound stands before it, and the sentence says what must or may be."""
    if _RULED.search(around.sentence) or _IMAGINED.search(around.before) or _ADVISED.match(around.after):
        return True
    if _SYMBOL.search(around.before) and not _REACHED.search(around.before):
        return True
    return bool(_BOUND.search(around.before) and _NORM.search(around.sentence))


_PORTION = re.compile(r"\b(?:for|of|over|fills?|holds?)[ \n](?:(?:almost|nearly|about|roughly)[ \n])?$")


def is_in_words(match: re.Match[str], around: Place) -> bool:
    """Whether a number in words compares costs."""
    if match[0].startswith("×"):
        return bool(_COMPARED.search(around.after[:16])) or "." in match[0]
    if "factor" in match[0]:
        return bool(_COMPARED.search(around.before[-60:]) or _COMPARED.match(around.after.lstrip(" ")))
    if "fold" in match[0] and not _COMPARED.search(around.sentence):
        return False
    if match[0].startswith("half of") and not match[0].endswith(("time", "memory", "latency", "cost")):
        return False
    if match[0].startswith("half") and _PORTION.search(around.before):
        return False
    return not _MORE_OF.match(around.after)


def is_times(match: re.Match[str], around: Place) -> bool:
    """Whether "times" and "fold" compare costs."""
    return not _is_bound(around) and not _MORE_OF.match(around.after)
