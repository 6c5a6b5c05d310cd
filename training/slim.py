"""Leaves what only evaluations read out of a head's file: the condition-only baseline of its training data.

    python3 training/slim.py HEAD.safetensors OUTPUT.safetensors
"""

import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack_from("<Q", data)
header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
kept = {name: tensor for name, tensor in header.items() if not name.startswith("condition_only.")}
packed = b""
for name, tensor in kept.items():
    if name == "__metadata__":
        continue
    start, end = tensor["data_offsets"]
    tensor["data_offsets"] = [len(packed), len(packed) + end - start]
    packed += body[start:end]
text = json.dumps(kept, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + packed)
