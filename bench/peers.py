#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Our convolutions beside PyTorch's (NCHW; channels_last given and returned) and ONNX Runtime's on the CPU, each called
as a user calls it, in f32, without bias. Ours run in a process of their own (conv_ours), which is asked for a short
block of calls whenever it is its turn, so that a machine that slows down slows all of them.

Needs numpy, torch, onnx and onnxruntime: tools/get_peers.sh makes an environment that has them.
A ratio is the peer's time over ours: above 1 we are faster. Exit status: 0 all well, 1 the peers disagree about a
result, 2 it could not run.
"""

import argparse
import csv
import fnmatch
import json
import math
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("torch", "channels_last", "onnxruntime")
TITLES = {"torch": "NCHW", "channels_last": "CL", "onnxruntime": "ORT"}
# Between two turns: until the threads of the one before have stopped looking for work.
PAUSE_S = 0.02
OPTIONAL = {"sh": 1, "sw": 1, "ph": 0, "pw": 0, "dh": 1, "dw": 1, "groups": 1, "oph": 0, "opw": 0}


class CannotRun(Exception):
    """What the user has to know before anything can be measured."""


def parse(arguments: list[str]) -> argparse.Namespace:
    description, rest = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(prog="peers.py", description=description, epilog=rest,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", metavar="FILE", default=str(ROOT / "suites" / "layers.csv"), help="layer list (CSV)")
    parser.add_argument("--threads", metavar="N[,N]", default="1,2", help="numbers of threads; 1,2 unless given")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only layers whose name matches")
    parser.add_argument("--rounds", metavar="N", type=int, default=5, help="turns of each; 5 unless given")
    parser.add_argument("--block", metavar="MS", type=float, default=60, help="of one turn; 60 unless given")
    parser.add_argument("--ours", metavar="PROGRAM", default=str(ROOT / "build" / "release" / "bin" / "conv_ours"),
                        help="conv_ours, as it was built")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    try:
        options.threads = [int(word) for word in options.threads.split(",")]
    except ValueError:
        parser.error(f"--threads {options.threads}: give numbers separated by commas")
    if min(options.threads) < 1 or options.rounds < 1 or not options.block > 0:
        parser.error("--threads, --rounds and --block must be positive")
    return options


def libraries():
    """The peers' modules; imported late, so that --help works without them."""
    try:
        import numpy
        import onnx
        import onnxruntime
        import torch
    except ImportError as missing:
        raise CannotRun(f"{missing}; run tools/get_peers.sh, then this with the Python that it names") from None
    return numpy, onnx, onnxruntime, torch


def read_layers(path: str, only: str) -> list[dict]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        layers = []
        for row in rows:
            sizes = {key: int(row.get(key) or default) for key, default in OPTIONAL.items()}
            sizes |= {key: int(row[key]) for key in ("n", "cin", "h", "w", "cout", "kh", "kw")}
            layers.append(sizes | {"op": row["op"], "name": row["name"]})
    except (OSError, KeyError, ValueError, TypeError) as wrong:
        raise CannotRun(f"{path}: {wrong!r}") from None
    layers = [layer for layer in layers if fnmatch.fnmatchcase(layer["name"], only)]
    if not layers:
        raise CannotRun(f"no layer of {path} matches {only!r}")
    return layers


class Ours:
    """conv_ours behind a pipe."""

    def __init__(self, program: str, suite: str):
        try:
            self.process = subprocess.Popen([program, suite], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except OSError as wrong:
            raise CannotRun(f"{wrong}; build the target conv_ours, or name it by --ours") from None

    def turn(self, name: str, threads: int, block_ms: float) -> dict:
        try:
            self.process.stdin.write(f"{name} f32 {threads} {block_ms}\n")
            self.process.stdin.flush()
            reply = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            raise CannotRun(f"conv_ours ended while it worked on {name}") from None
        if "error" in reply:
            raise CannotRun(f"conv_ours on {name}: {reply['error']}")
        return reply

    def close(self) -> None:
        self.process.communicate()


def onnx_model(onnx, layer: dict, weight) -> bytes:
    transposed = layer["op"] == "conv_transpose2d"
    attributes = {"kernel_shape": [layer["kh"], layer["kw"]], "strides": [layer["sh"], layer["sw"]],
                  "pads": [layer["ph"], layer["pw"]] * 2, "dilations": [layer["dh"], layer["dw"]],
                  "group": layer["groups"]}
    if transposed:
        attributes["output_padding"] = [layer["oph"], layer["opw"]]
    helper, f32 = onnx.helper, onnx.TensorProto.FLOAT
    node = helper.make_node("ConvTranspose" if transposed else "Conv", ["x", "weight"], ["out"], **attributes)
    shape = [layer["n"], layer["cin"], layer["h"], layer["w"]]
    graph = helper.make_graph([node], "layer", [helper.make_tensor_value_info("x", f32, shape)],
                              [helper.make_tensor_value_info("out", f32, None)],
                              [onnx.numpy_helper.from_array(weight, "weight")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8  # older than what the runtime at hand may know
    return model.SerializeToString()


def subjects(layer: dict, threads: int) -> dict:
    """One function a peer: calls it once and returns its output."""
    numpy, onnx, onnxruntime, torch = libraries()
    transposed = layer["op"] == "conv_transpose2d"
    draw = numpy.random.default_rng(1)
    split = (layer["cin"], layer["cout"] // layer["groups"]) if transposed else (
        layer["cout"], layer["cin"] // layer["groups"])
    x = draw.standard_normal((layer["n"], layer["cin"], layer["h"], layer["w"]), dtype=numpy.float32)
    weight = draw.standard_normal((*split, layer["kh"], layer["kw"]), dtype=numpy.float32)

    stride, padding = (layer["sh"], layer["sw"]), (layer["ph"], layer["pw"])
    dilation, extra = (layer["dh"], layer["dw"]), (layer["oph"], layer["opw"])
    torch.set_num_threads(threads)

    def convolution(image, taps):
        if transposed:
            return torch.nn.functional.conv_transpose2d(image, taps, None, stride, padding, extra, layer["groups"],
                                                        dilation)
        return torch.nn.functional.conv2d(image, taps, None, stride, padding, dilation, layer["groups"])

    dense = torch.from_numpy(x), torch.from_numpy(weight)
    last = tuple(tensor.contiguous(memory_format=torch.channels_last) for tensor in dense)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(onnx_model(onnx, layer, weight), settings,
                                           providers=["CPUExecutionProvider"])
    return {"torch": lambda: convolution(*dense), "channels_last": lambda: convolution(*last),
            "onnxruntime": lambda: session.run(None, {"x": x})[0]}


def turn(call, block_ms: float) -> list[float]:
    """Microseconds of each call; the first one, which fetches what the others drove out of the caches, is not one."""
    samples = []
    begin = time.perf_counter()
    call()
    while True:
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        samples.append((end - start) * 1e6)
        if (end - begin) * 1e3 >= block_ms:
            return samples


def disagreement(calls: dict) -> float:
    """Largest difference between the peers' outputs, over the largest output."""
    numpy = libraries()[0]
    outs = [numpy.asarray(call()) for call in calls.values()]
    largest = float(numpy.abs(outs[0]).max())
    return max(float(numpy.abs(out - outs[0]).max()) for out in outs) / (largest or 1)


def measure(layer: dict, threads: int, ours: Ours, options: argparse.Namespace) -> dict:
    torch = libraries()[3]
    with torch.inference_mode():
        calls = subjects(layer, threads)
        apart = disagreement(calls)
        samples = {name: [] for name in ("ours", *calls)}
        for _ in range(options.rounds):
            time.sleep(PAUSE_S)
            reply = ours.turn(layer["name"], threads, options.block)
            samples["ours"] += reply["samples_us"]
            for name, call in calls.items():
                time.sleep(PAUSE_S)
                samples[name] += turn(call, options.block)
    row = {"name": layer["name"], "dtype": "f32", "threads": threads, "kernel": reply["kernel"],
           "dense": layer["groups"] == 1, "disagreement": apart}
    row |= {f"{name}_us": statistics.median(times) for name, times in samples.items()}
    row |= {f"ratio_{name}": row[f"{name}_us"] / row["ours_us"] for name in PEERS}
    row["ratio_fastest"] = min(row[f"ratio_{name}"] for name in PEERS)
    return row


def geometric_mean(values: list[float]) -> float | None:
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def summary(rows: list[dict], threads: int) -> dict:
    rows = [row for row in rows if row["threads"] == threads]
    result = {"threads": threads, "layers": len(rows), "dense_layers": sum(row["dense"] for row in rows)}
    for name in (*PEERS, "fastest"):
        ratio = f"ratio_{name}"
        worst = min(rows, key=lambda row: row[ratio])
        result[name] = {"mean": geometric_mean([row[ratio] for row in rows]),
                        "dense_mean": geometric_mean([row[ratio] for row in rows if row["dense"]]),
                        "worst": worst[ratio], "worst_name": worst["name"]}
    return result


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def table(document: dict) -> str:
    lines = [f"PyTorch {document['peers']['torch']}, ONNX Runtime {document['peers']['onnxruntime']} on "
             f"{document['cpu']}; f32, microseconds", ""]
    lines.append(f"{'LAYER':26s}  T {'OURS':>11s}" + "".join(f"{TITLES[name]:>11s}" for name in PEERS)
                 + "".join(f"{'/' + TITLES[name]:>8s}" for name in PEERS))
    for row in document["rows"]:
        lines.append(f"{row['name']:26s} {row['threads']:2d} {row['ours_us']:11.1f}"
                     + "".join(f"{row[name + '_us']:11.1f}" for name in PEERS)
                     + "".join(f"{row['ratio_' + name]:8.2f}" for name in PEERS))
    for each in document["summary"]:
        lines += ["", f"{each['threads']} thread{'s' if each['threads'] > 1 else ''}, {each['layers']} layers, "
                      f"{each['dense_layers']} dense: geometric means (above 1: we are faster)"]
        for name, title in (("torch", "PyTorch, NCHW"), ("channels_last", "PyTorch, channels_last"),
                            ("onnxruntime", "ONNX Runtime"), ("fastest", "the fastest of them")):
            ratio = each[name]
            dense = "    -" if ratio["dense_mean"] is None else f"{ratio['dense_mean']:5.2f}"
            lines.append(f"  against {title:24s} {ratio['mean']:5.2f}   dense {dense}   worst {ratio['worst']:.2f} "
                         f"{ratio['worst_name']}")
    return "\n".join(lines)


def compare(options: argparse.Namespace) -> int:
    layers = read_layers(options.suite, options.only)
    _, _, onnxruntime, torch = libraries()
    ours = Ours(options.ours, options.suite)
    jobs = [(layer, threads) for threads in options.threads for layer in layers]
    rows = []
    for number, (layer, threads) in enumerate(jobs):
        if sys.stderr.isatty():
            print(f"\r\033[K{number}/{len(jobs)}  {layer['name']} {threads}", end="", file=sys.stderr, flush=True)
        rows.append(measure(layer, threads, ours, options))
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    ours.close()
    document = {"peers": {"torch": torch.__version__, "onnxruntime": onnxruntime.__version__}, "cpu": cpu_name(),
                "rows": rows, "summary": [summary(rows, threads) for threads in dict.fromkeys(options.threads)]}
    print(json.dumps(document, indent=2) if options.json else table(document))
    # Sums in f32 in any order, and Winograd's, which ONNX Runtime may take.
    wrong = [row["name"] for row in rows if not row["disagreement"] < 1e-3]
    if wrong:
        print(f"peers.py: error: the peers disagree about {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    try:
        return compare(options)
    except CannotRun as why:
        print(f"peers.py: error: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
