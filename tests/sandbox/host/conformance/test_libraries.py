"""Honest coursework must work in a locked box: training, data loaders, figures, subprocesses, event loops, tables."""

from collections.abc import Iterator

import pytest

from tests.sandbox.host.conftest import offered
from tests.support.boxed_program import Program
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def torch_fork_server() -> Iterator[ForkServer]:
    """In the strongest tier of this host."""
    with ForkServer.start(max(offered()), preload=["torch", "matplotlib.pyplot"]) as started:
        yield started


@pytest.fixture
def program(torch_fork_server: ForkServer) -> Iterator[Program]:
    """A box with enough memory for torch."""
    with torch_fork_server.spawn(Limits(memory_mib=1024)) as box:
        yield Program(box, torch_fork_server.tier)


@pytest.mark.long
def test_data_loader_has_workers(program: Program) -> None:
    program.load(
        """
        import torch
        class Squares(torch.utils.data.Dataset):
            def __len__(self): return 64
            def __getitem__(self, index): return torch.tensor(index ** 2)
        def total():
            loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2)
            return int(sum(batch.sum() for batch in loader))
        """
    )
    assert program.call("total", timeout_s=60) == sum(index**2 for index in range(64))


def test_process_pool(program: Program) -> None:
    program.load(
        """
        import multiprocessing
        def square(x): return x * x
        def pool():
            with multiprocessing.get_context("fork").Pool(2) as workers:
                return workers.map(square, range(5))
        """
    )
    assert program.call("pool", timeout_s=60) == [0, 1, 4, 9, 16]


def test_programs_and_shells_run(program: Program) -> None:
    program.load(
        """
        import subprocess, sys, tempfile
        def run(): return subprocess.run([sys.executable, "-c", "import numpy; print(numpy.arange(3).sum())"],
                                         capture_output=True, text=True).stdout
        def shell(): return subprocess.check_output("echo $((6 * 7)) | cat", shell=True, text=True)
        def temporary():
            with tempfile.NamedTemporaryFile("w+") as file:
                file.write("x")
                file.flush()
                return open(file.name).read()
        """
    )
    assert program.call("run", timeout_s=60) == "3\n"
    assert program.call("shell") == "42\n"
    assert program.call("temporary") == "x"


COURSEWORK = """
import io, matplotlib.pyplot as plt, torch
def train():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = torch.randn(64, 8), torch.randn(64, 1)
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return float(loss)
def threads():
    torch.set_num_threads(2)
    return float((torch.ones(600, 600) @ torch.ones(600, 600)).sum())
def draw():
    plt.plot([1, 2, 3])
    plt.title("Loss")
    file = io.BytesIO()
    plt.savefig(file, format="png")
    return file.getvalue()[:4]
def roundtrip():
    torch.save({"w": torch.arange(3)}, "model.pt")
    return torch.load("model.pt")["w"].tolist()
"""


@pytest.mark.long
def test_training_figures_and_weights_are_alike_in_boxes(torch_fork_server: ForkServer) -> None:
    losses = []
    for _ in range(2):
        with torch_fork_server.spawn(Limits(memory_mib=1024)) as box:
            program = Program(box, torch_fork_server.tier)
            program.load(COURSEWORK)
            losses.append(program.call("train", timeout_s=60))
            assert program.call("threads", timeout_s=60) == 600.0**3
            assert program.call("draw", timeout_s=60) == b"\x89PNG"
            assert program.call("roundtrip", timeout_s=60) == [0, 1, 2]
    assert losses[0] == losses[1]


def test_event_loop_runs(fork_server: ForkServer, limits: Limits) -> None:
    with fork_server.spawn(limits) as box:
        program = Program(box, fork_server.tier)
        program.load("import asyncio\nasync def answer(): return 42\ndef run(): return asyncio.run(answer())")
        assert program.call("run") == 42


@pytest.mark.long
def test_pandas_starts_no_thread(torch_fork_server: ForkServer) -> None:
    """Arrow holds the texts of pandas; its own allocators take 1 GiB of the limit, and threads prevent a fork."""
    source = """
    import os
    import pandas as pd
    def used():
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmData:"))
    def table():
        before = used()
        table = pd.DataFrame({"shop": ["a", "a", "b"], "amount": [1, 2, 5]})
        table = table.groupby("shop").amount.sum().sort_values()
        with open("/proc/self/cmdline") as file:
            is_forked = "serve" in file.read().split("\\0")
        return table.to_dict(), used() - before, len(os.listdir("/proc/self/task")), is_forked
    """
    with ForkServer.start(torch_fork_server.tier, preload=["pandas"]) as ahead:
        for server in (ahead, torch_fork_server):  # imported before the fork, and by the program
            with server.spawn(Limits(memory_mib=1024)) as box:
                program = Program(box, server.tier)
                program.load(source)
                totals, grown_mib, threads, is_forked = program.call("table", timeout_s=60)
                assert totals == {"a": 3, "b": 5} and grown_mib < 256 and threads == 1 and is_forked
