"""Owns synthetic files in the layouts that profilers write. Every number here is invented; none of it was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

COLUMNS = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC"
HEAD = ",".join(f'"{column}"' for column in COLUMNS.split(","))
SECTION = '"Section Name","Metric Name","Metric Unit","Metric Value"'
SHARES = ("dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__throughput.avg.pct_of_peak_sustained_elapsed")


def launch(index: int, kernel: str) -> str:
    return f'"{index}","77","secret-program","secret-host","{kernel}","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0"'


def ncu_rows(kernels: Sequence[tuple[str, dict[str, tuple[str, str]]]]) -> bytes:
    """The layout of a row a metric, with what a program prints around it."""
    lines = ["==PROF== Connected to process 77 (/home/secret/bin/program)", f"{HEAD},{SECTION}"]
    for index, (kernel, metrics) in enumerate(kernels):
        lines += [f'{launch(index, kernel)},"Command line","{name}","{u}","{v}"' for name, (u, v) in metrics.items()]
        lines.append("the program says something")
    return "\n".join([*lines, "==PROF== Disconnected from process 77"]).encode()


def ncu_wide(kernels: Sequence[tuple[str, dict[str, tuple[str, str]]]]) -> bytes:
    """The layout of a row a kernel, with a row of units below its head."""
    names = list(kernels[0][1])
    units = [kernels[0][1][name][0] for name in names]
    lines = [HEAD + "".join(f',"{name}"' for name in names)]
    lines.append(",".join(['""'] * 11) + "".join(f',"{unit}"' for unit in units))
    for index, (kernel, metrics) in enumerate(kernels):
        lines.append(launch(index, kernel) + "".join(f',"{metrics[name][1]}"' for name in names))
    return "\n".join(lines).encode()


NCU_SECTIONS = b"""\
==PROF== Connected to process 77 (/home/secret/bin/python3)
==PROF== Profiling "copy_kernel" - 0: 0%....50%....100% - 9 passes
[77] python3@127.0.0.1
  copy_kernel (64, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    DRAM Frequency          cycle/nsecond         1.01
    Memory Throughput                   %        91.50
    DRAM Throughput                     %        90.25
    Duration                      usecond        40.00
    Compute (SM) Throughput             %        12.50
    ----------------------- ------------- ------------

    OPT   Some advice about a kernel.

    Section: Launch Statistics
    -------------------------------- --------------- ---------------
    Metric Name                          Metric Unit    Metric Value
    -------------------------------- --------------- ---------------
    Function Cache Configuration                     CachePreferNone
    Registers Per Thread             register/thread              24
    Threads                                   thread           8,192
    Waves Per SM                                                4.50
    -------------------------------- --------------- ---------------
"""


def counters(**changes: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """What ncu says of one launch: its metrics with unit and value."""
    found = {
        "gpu__time_duration.sum": ("nsecond", "40,000"),
        "dram__bytes_read.sum": ("byte", "100,000,000"),
        "dram__bytes_write.sum": ("byte", "50,000,000"),
        SHARES[0]: ("%", "80.5"),
        SHARES[1]: ("%", "20.25"),
        "sm__warps_active.avg.pct_of_peak_sustained_active": ("%", "70"),
        "launch__registers_per_thread": ("register/thread", "32"),
        "launch__waves_per_multiprocessor": ("", "8"),
        "launch__occupancy_limit_registers": ("block", "16"),
        "launch__occupancy_limit_shared_mem": ("block", "20"),
        "launch__occupancy_limit_warps": ("block", "12"),
        "launch__occupancy_limit_blocks": ("block", "24"),
    }
    return {**found, **changes}


def event(name: str, kind: str, begins: float, lasts: float, **changes: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": 1, "ts": begins, "dur": lasts, **changes}


def trace(*events: dict[str, Any]) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": list(events)}).encode()


STATISTICS = """\
Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,ToyNorm,AI_VECTOR_CORE,4,80.0,19,20.0,21,40
0,ToyProduct,AI_CORE,2,120.0,59,60.0,61,60
"""
DETAIL = (
    "Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,"
    "Output Formats,Context ID"
)
PIPES = (
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),"
    "aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,"
    "aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)"
)
UB = "aiv_time(us),aiv_total_cycles,aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_vector(GB/s)"


def detail(
    name: str = "toy_norm", core: str = "AI_VECTOR_CORE", lasts: float = 20.0, blocks: int = 40, **ratios: float
) -> str:
    """A task as torch_npu's kernel_details has it, with the ratios of its pipes."""
    known = PIPES.split(",")
    values = [str(ratios.get(column, 0)) for column in known]
    task = f"0,4294967295,1,7,{name},ToyNorm,dynamic,{core},10.5\t,{lasts},0,{blocks},0"
    return ",".join([task, 'NO,"2;64",BF16,ND,"2;64",BF16,ND,N/A', *values])


def details(*tasks: str) -> bytes:
    return "\n".join([f"{DETAIL},{PIPES}", *tasks, ""]).encode()


def op_summary(*tasks: str) -> bytes:
    """The same as msprof exports it, whose columns have other names."""
    head = f"{DETAIL},{PIPES}".replace(",Name,Type,", ",Op Name,OP Type,").replace("Accelerator Core", "Task Type")
    head = head.replace(",Duration(us)", ",Task Duration(us)").replace("Start Time", "Task Start Time")
    return "\n".join([head, *tasks, ""]).encode()


def ub_details(read: float, written: float) -> bytes:
    task = '0,1,1,7,toy_norm,ToyNorm,dynamic,AI_VECTOR_CORE,10,20.0,0,40,0,NO,"2;64",BF16,ND,"2;64",BF16,ND,N/A'
    return "\n".join([f"{DETAIL},{UB}", f"{task},20,1000,{read},{written}", ""]).encode()
