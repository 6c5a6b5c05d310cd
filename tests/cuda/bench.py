"""Speed of an LLM encoder on an NVIDIA GPU: caselens beside transformers with PyTorch's SDPA, on the same batches of tokens.

    ./build.sh cuda
    pip install numpy torch transformers
    python tests/cuda/bench.py

makes a Mistral-7B that sees in both directions, as NV-Embed does, of random weights in bf16 (14 GB of disk, some minutes,
once), runs `caselens bench` on it and then PyTorch, and prints a Markdown table. The GPU needs 24 GB.

PyTorch's batches are padded to their longest input, as transformers pads them; where all inputs are of one length there is
no mask, and PyTorch takes its fastest kernel. Both sides begin with token ids and end with the means over each input's tokens on
the host, and count those tokens alone. The program fails where an embedding of ours has a cosine below 0.99 to PyTorch's.

    python tests/cuda/bench.py --tiny --device cpu

tries all of that in a minute on any machine. Without PyTorch caselens is measured alone.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = ROOT / "tests/fixtures/decoders/mistral/tokenizer.json"
LEAST_COSINE = 0.99
# Of intfloat/e5-mistral-7b-instruct and of NV-Embed's decoder.
SIZES = {"layers": 32, "hidden": 4096, "heads": 32, "key_value_heads": 8, "intermediate": 14336, "vocabulary": 32000}
TINY = {"layers": 2, "hidden": 64, "heads": 4, "key_value_heads": 2, "intermediate": 128, "vocabulary": 512}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--caselens", type=Path, help="the program [default: what build.sh builds for the device]")
    parser.add_argument("--shape", action="append", help="as of caselens bench [default: 32x64, 32x512 and 32x8-512]")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each batch")
    parser.add_argument("--tiny", action="store_true", help="a model of two small layers")
    for size in SIZES:
        parser.add_argument(f"--{size.replace('_', '-')}", type=int)
    parser.add_argument("--models", type=Path, default=ROOT / "target/bench", help="where the random model is kept")
    args = parser.parse_args()
    usual = TINY if args.tiny else SIZES
    args.sizes = {size: getattr(args, size) or usual[size] for size in SIZES}
    built = "target/cuda/release" if args.device == "cuda" else "target/release"
    args.caselens = args.caselens or ROOT / built / "caselens"
    args.shape = args.shape or ["32x64", "32x512", "32x8-512"]
    return args


def tensors(sizes):
    """Names and shapes, a list a shard: the token table and the last norm, then each layer."""
    hidden, wide = sizes["hidden"], sizes["intermediate"]
    keys = hidden // sizes["heads"] * sizes["key_value_heads"]
    yield {"embed_tokens.weight": (sizes["vocabulary"], hidden), "norm.weight": (hidden,)}
    for i in range(sizes["layers"]):
        layer = {
            "input_layernorm": (hidden,),
            "self_attn.q_proj": (hidden, hidden),
            "self_attn.k_proj": (keys, hidden),
            "self_attn.v_proj": (keys, hidden),
            "self_attn.o_proj": (hidden, hidden),
            "post_attention_layernorm": (hidden,),
            "mlp.gate_proj": (wide, hidden),
            "mlp.up_proj": (wide, hidden),
            "mlp.down_proj": (hidden, wide),
        }
        yield {f"layers.{i}.{name}.weight": shape for name, shape in layer.items()}


def bf16(numbers):
    """The upper half of each f32's bits: numpy has no bf16."""
    return (numbers.view(np.uint32) >> 16).astype(np.uint16)


def write_shard(path, shapes, rng):
    """A safetensors file, a tensor at a time."""
    header, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for shape in shapes.values():
            if len(shape) == 1:
                numbers = np.ones(shape, np.float32)
            else:
                numbers = rng.standard_normal(shape, np.float32)
                numbers /= np.float32(shape[1] ** 0.5)
            file.write(bf16(numbers))


def random_model(folder, sizes):
    """A Hugging Face folder of a Mistral with random weights; it is there whole or not at all."""
    name = "mistral-" + "-".join(str(size) for size in sizes.values())
    path, part = folder / name, folder / f"{name}.part"
    if path.is_dir():
        return path
    print(f"making {path}", file=sys.stderr)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    rng, files, total = np.random.default_rng(0), {}, sizes["layers"] + 1
    for i, shapes in enumerate(tensors(sizes), 1):
        file = f"model-{i:05}-of-{total:05}.safetensors"
        write_shard(part / file, shapes, rng)
        files |= dict.fromkeys(shapes, file)
    config = {
        "architectures": ["MistralModel"],
        "model_type": "mistral",
        "is_causal": False,
        "vocab_size": sizes["vocabulary"],
        "hidden_size": sizes["hidden"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "num_key_value_heads": sizes["key_value_heads"],
        "intermediate_size": sizes["intermediate"],
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "sliding_window": None,
        "hidden_act": "silu",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "bfloat16",
    }
    (part / "config.json").write_text(json.dumps(config, indent=2))
    (part / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))
    shutil.copy(TOKENIZER, part)
    part.rename(path)
    return path


def run_caselens(args, model):
    """The lines of `caselens bench`, one a batch."""
    command = [args.caselens, "bench", "--json", "--inputs", "--model", model, "--device", args.device]
    command += ["--seconds", str(args.seconds), *(f"--shape={shape}" for shape in args.shape)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_pytorch(args, model, batches):
    """For each batch tokens per second, the most memory in use where that is known, and the smallest cosine to caselens;
    `None` without PyTorch."""
    try:
        import torch
        import transformers
    except ImportError as error:
        print(f"PyTorch is left out ({error}): pip install torch transformers", file=sys.stderr)
        return None
    print(f"torch {torch.__version__}, transformers {transformers.__version__}", file=sys.stderr)
    # caselens computes in f32 on the CPU.
    dtype = torch.bfloat16 if args.device == "cuda" else torch.float32
    net = transformers.AutoModel.from_pretrained(model, dtype=dtype, attn_implementation="sdpa").to(args.device).eval()
    # Versions that do not read it from config.json read it here.
    for layer in net.layers:
        layer.self_attn.is_causal = False

    @torch.inference_mode()
    def embed(ids, lengths):
        ids, lengths = ids.to(args.device), lengths.to(args.device)
        keep = torch.arange(ids.shape[1], device=args.device) < lengths[:, None]
        # A mask of four dimensions is taken as it is, without causality.
        padded = int(lengths.min()) < ids.shape[1]
        mask = keep[:, None, None, :].expand(-1, 1, ids.shape[1], -1) if padded else None
        states = net(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        return ((states * keep[..., None]).sum(1, dtype=torch.float32) / lengths[:, None]).cpu()

    results = []
    for batch in batches:
        rows = [torch.tensor(row["ids"]) for row in batch["inputs"]]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        if args.device == "cuda":
            torch.cuda.empty_cache()
        embeddings = embed(ids, lengths)
        memory = None
        if args.device == "cuda":
            # PyTorch keeps what it has once had.
            free, total = torch.cuda.mem_get_info()
            memory = total - free
        ours = torch.tensor([row["embedding"] for row in batch["inputs"]])
        cosine = torch.nn.functional.cosine_similarity(ours, embeddings).min().item()
        times, start = [], time.perf_counter()
        while len(times) < 3 or time.perf_counter() - start < args.seconds:
            before = time.perf_counter()
            embed(ids, lengths)
            times.append(time.perf_counter() - before)
        results.append((batch["tokens"] / statistics.median(times), memory, cosine))
    return results


def table(batches, others):
    columns = ["batch"]
    for program in ["caselens", "PyTorch"]:
        columns += [f"{program}, tokens/s", "of the bf16 peak", "memory"]
    columns += ["caselens / PyTorch", "least cosine"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    share = lambda x: "not measured" if x is None else f"{100 * x:.1f} %"
    gigabytes = lambda x: "not measured" if x is None else f"{x / 1e9:.1f} GB"
    for i, batch in enumerate(batches):
        speed, peak = batch["tokens_per_second"], batch.get("share")
        cells = [batch["shape"], f"{speed:,.0f}", share(peak), gigabytes(batch.get("memory"))]
        if others is None:
            cells += ["not measured"] * 5
        else:
            other, memory, cosine = others[i]
            # The same operations: what padding adds is no work that was asked for.
            cells += [f"{other:,.0f}", share(peak and peak * other / speed), gigabytes(memory)]
            cells += [f"{speed / other:.2f}", f"{cosine:.5f}"]
        print("| " + " | ".join(cells) + " |")


def main():
    args = arguments()
    if not args.caselens.is_file():
        verb = "cuda" if args.device == "cuda" else "companion"
        sys.exit(f"{args.caselens} is not there: ./build.sh {verb} builds it")
    model = random_model(args.models, args.sizes)
    batches = run_caselens(args, model)
    print(batches[0]["device"], file=sys.stderr)
    others = run_pytorch(args, model, batches)
    table(batches, others)
    wrong = [batch["shape"] for batch, (_, _, cosine) in zip(batches, others or []) if not cosine >= LEAST_COSINE]
    if wrong:
        sys.exit(f"embeddings differ from PyTorch's: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
