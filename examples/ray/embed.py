"""Embed a data set of any size with Ray Data: a pool of actors, each with one `caselens embed` for its whole life.

    pip install "ray[data]" pyarrow aiohttp
    python examples/ray/embed.py pairs/*.parquet --output embedded --actors 4 --cpus 2 -- --model my-encoder

What follows `--` goes to `caselens embed`. Rows pass as Arrow IPC, by standard input and output; they come out
with the columns they had and one more, `embedding`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading

import pyarrow as pa
import ray


class Embed:
    """Takes tables and gives them back with their embeddings. Call it from one thread at a time."""

    def __init__(self, command):
        self.command = command
        self.child = None

    def __call__(self, table: pa.Table) -> pa.Table:
        if table.num_rows == 0:
            return table  # no rows, no answer to wait for
        try:
            return self.running(table.schema).embed(table)
        except Killed:  # as the system does where memory runs out; another child gets the same rows
            return self.running(table.schema).embed(table)

    def running(self, schema):
        """A child that takes such tables: a stream has one schema from its beginning to its end."""
        if self.child and not self.child.takes(schema):
            self.child.close()
            self.child = None
        self.child = self.child or Child(self.command, schema)
        return self.child


class Killed(RuntimeError):
    """The child died of a signal."""


class Child:
    """A running `caselens embed`."""

    def __init__(self, command, schema):
        self.schema = schema
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*command, "--input-format", "arrow"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=os.environ | {"RAYON_NUM_THREADS": str(cpus())},
        )
        self.writer = pa.ipc.new_stream(self.process.stdin, schema)
        self.reader = None

    def takes(self, schema):
        return self.process.poll() is None and self.schema.equals(schema)

    def embed(self, table):
        # The first rows come back while the last are still on their way: whoever only wrote, and read later,
        # would wait for a child that waits for its reader.
        writing = threading.Thread(target=self.write, args=(table,))
        writing.start()
        try:
            self.reader = self.reader or pa.ipc.open_stream(self.process.stdout)
            batches, missing = [], table.num_rows
            while missing > 0:
                batch = self.reader.read_next_batch()
                batches.append(batch)
                missing -= batch.num_rows
            return pa.Table.from_batches(batches, self.reader.schema)
        except (pa.ArrowInvalid, OSError, StopIteration) as error:
            raise self.failure() from error
        finally:
            writing.join()

    def write(self, table):
        try:
            self.writer.write_table(table)
            self.process.stdin.flush()
        except OSError:
            pass  # the child is gone, and whoever reads from it finds out why

    def failure(self):
        self.process.stdout.close()
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()
        return (Killed if code < 0 else RuntimeError)(f"caselens embed gave up: {said or f'exit code {code}'}")

    def close(self):
        """Lets the child end; every row that it had was read."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        self.process.wait()


def cpus():
    """What Ray gave to this actor: the child takes no more threads."""
    return max(1, int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1)))


def embed(dataset, command, actors, cpus=1, batch_rows=1024, actor=Embed, more=()):
    """The data set with a column of embeddings, made by so many actors of so many CPUs each. Ray starts an actor
    that died again and repeats the batch that it had: no row is lost, and none comes twice."""
    there = ray.cluster_resources().get("CPU", 0)
    if actors * cpus >= there:
        # Ray would wait for ever: https://github.com/ray-project/ray/issues/44687
        raise ValueError(
            f"{actors} actors of {cpus} CPUs take all of Ray's {there:g}, and none is left to read and write files: "
            "take fewer, or start Ray with more (ray start --head --num-cpus N)."
        )
    return dataset.map_batches(
        actor,
        fn_constructor_args=(command, *more),
        batch_format="pyarrow",
        batch_size=batch_rows,
        num_cpus=cpus,
        compute=ray.data.ActorPoolStrategy(size=actors),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], epilog="Options of caselens embed follow a --, such as: -- --model my-encoder"
    )
    parser.add_argument("input", nargs="+", help="Parquet files with a column text, or sentence and condition")
    parser.add_argument("--output", required=True, help="folder for Parquet files")
    parser.add_argument("--actors", type=int, default=1)
    parser.add_argument("--cpus", type=int, default=1, help="CPUs of each actor")
    parser.add_argument("--batch-rows", type=int, default=1024)
    parser.add_argument("--caselens", default="target/release/caselens", help="the program")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    ray.init()
    command = [os.path.abspath(args.caselens), "embed", *options]
    dataset = ray.data.read_parquet(args.input)
    try:
        embed(dataset, command, args.actors, args.cpus, args.batch_rows).write_parquet(os.path.abspath(args.output))
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
