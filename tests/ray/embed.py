"""The Ray example on a cluster of this machine's processes, in which a worker is killed, and later another's
`caselens embed`: every row comes out, none twice, each with the embedding that it gets without Ray.

    python tests/ray/embed.py [target/release/caselens]
"""

import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# Ray reads these as it is imported. Its workers give way to all else (nice 15) unless told otherwise, and take minutes
# to start where anything else runs.
os.environ |= {"RAY_worker_niceness": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_USAGE_STATS_ENABLED": "0"}

import pyarrow as pa  # noqa: E402
import ray  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ROWS, BATCH, LIMIT_S = 40, 4, 180

# Not this folder, which holds a file of the same name.
sys.path[0] = str(ROOT / "examples/ray")
import embed as example  # noqa: E402

# The workers do not know that folder.
ray.cloudpickle.register_pickle_by_value(example)


class Unlucky(example.Embed):
    """Dies once when it has embedded the rows about the 16th, and loses its child once before those about the 28th."""

    def __init__(self, command, folder):
        super().__init__(command)
        self.folder = Path(folder)

    def __call__(self, table):
        ids = table["id"].to_pylist()
        if 28 in ids and self.first("child"):
            os.kill(self.running(table.schema).process.pid, signal.SIGKILL)
        embedded = super().__call__(table)
        (self.folder / f"pid-{os.getpid()}").touch()
        if 16 in ids and self.first("worker"):
            os.kill(os.getpid(), signal.SIGKILL)
        return embedded

    def first(self, what):
        """Whether nothing of that kind was killed yet, by whatever process."""
        try:
            (self.folder / what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def main():
    # A cluster ends with the process that started it.
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    caselens = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/caselens").resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        killed = folder / "killed"
        killed.mkdir()
        model = folder / "tiny.gguf"
        quantize = ["quantize", "--model", ROOT / "tests/fixtures/bert-tiny", "--dtype", "q8_0", "--output", model]
        subprocess.run([caselens, *quantize], capture_output=True, check=True)
        command = [str(caselens), "embed", "--model", str(model), "--head", "none", "--order", "cs"]
        table = pa.table(
            {
                "id": range(ROWS),
                "sentence": [f"a {('dog', 'cat', 'horse')[i % 3]} near the river, number {i}" for i in range(ROWS)],
                "condition": [("the animal", "the place")[i % 2] for i in range(ROWS)],
            }
        )

        # Logical CPUs, for two actors and what reads: the machine may have fewer.
        ray.init(
            address="local",
            num_cpus=3,
            include_dashboard=False,
            object_store_memory=100_000_000,
            log_to_driver=False,
            logging_level="error",
        )
        # What Ray sets aside for blocks of the usual size is more than all the memory that it has here.
        ray.data.DataContext.get_current().target_max_block_size = 1_000_000
        dataset = ray.data.from_arrow([table.slice(first, BATCH) for first in range(0, ROWS, BATCH)])
        embedded = example.embed(dataset, command, 2, batch_rows=BATCH, actor=Unlucky, more=(str(killed),))
        found = sorted(embedded.take_all(), key=lambda row: row["id"])
        ray.shutdown()
        faulthandler.cancel_dump_traceback_later()

        ids = [row["id"] for row in found]
        assert ids == list(range(ROWS)), f"rows were lost or doubled: {ids}"
        vectors = [row.pop("embedding") for row in found]
        assert found == table.to_pylist(), "other columns have changed"
        assert {"worker", "child"} <= {path.name for path in killed.iterdir()}, "nothing was killed"
        workers = len(list(killed.glob("pid-*")))
        assert workers >= 2, "one worker did it all"

        source = "\n".join(json.dumps(row) for row in table.to_pylist())
        alone = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout.splitlines()
        for vector, line in zip(vectors, alone, strict=True):
            expected = json.loads(line)["embedding"]
            assert max(abs(a - b) for a, b in zip(vector, expected, strict=True)) < 1e-5
        print(f"{ROWS} rows by {workers} workers, one of which was killed, and one's program: none lost, none doubled")


if __name__ == "__main__":
    main()
