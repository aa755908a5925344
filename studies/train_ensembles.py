"""Train the forty networks behind the image studies and write what the studies need of them.

    pip install -e '.[torch]'
    python -m studies.train_ensembles --ood-dir ../shared/data

Five groups of four members for CIFAR-10 and for Fashion-MNIST, each from scratch with its own seed: about two CPU-hours
in all. One file per member is kept under ``studies/.cache``; a killed run goes on where it stopped. At the end the
logits of every group (float16) go into ``paper-data``, where ``vecuq reproduce images`` finds them
without torch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from studies.datasets import Images, cifar10, fashion_mnist, from_npz, mnist_test

HERE = Path(__file__).resolve().parent
RELEASE = HERE.parent / "paper-data/src/vecuq_paper_data/ensembles"
GROUPS, MEMBERS, CLASSES = 5, 4, 10
BATCH = 128
OOD_ROWS, TRAIN_ROWS = 5_000, 3_000
EPOCHS = {"cifar10": 5, "fashion_mnist": 2}
# Photographs are mirrored and shifted; pieces of clothing are centred, and two epochs are too few to learn otherwise.
AUGMENTED = ("cifar10",)


@dataclass(frozen=True)
class Job:
    """One network to train: the ``member``-th of a ``group`` on an in-distribution set ``name``."""

    name: str
    group: int
    member: int
    cache: Path
    ood_dir: Path

    @property
    def seed(self) -> int:
        """A seed of its own for every network."""
        return 1_000 * list(EPOCHS).index(self.name) + self.group * MEMBERS + self.member

    @property
    def path(self) -> Path:
        """Where this member's logits are kept."""
        return self.cache / self.name / f"group{self.group}_member{self.member}.npz"


class Residual(nn.Module):
    """relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)), the first convolution and the shortcut with stride 2."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, 2, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)
        self.shortcut = nn.Conv2d(channels, width, 1, 2, bias=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Half the side, ``width`` channels."""
        inner = functional.relu(self.first_norm(self.first(images)))
        return functional.relu(self.second_norm(self.second(inner)) + self.shortcut(images))


def network() -> nn.Module:
    """Return a small residual network: a stem of stride 2, two residual blocks, mean over pixels, one linear layer."""
    stem = (nn.Conv2d(3, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, CLASSES))
    return nn.Sequential(*stem, Residual(32, 64), Residual(64, 128), *head).to(memory_format=torch.channels_last)


def as_input(pixels: np.ndarray) -> torch.Tensor:
    """Bytes to numbers of about unit size, channels last in memory."""
    return ((torch.tensor(pixels, dtype=torch.float32) - 120.0) / 62.0).permute(0, 3, 1, 2)


def augmented(images: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    """Each image mirrored or not, the batch shifted by up to three pixels."""
    mirrored = torch.rand(len(images), 1, 1, 1, generator=draw) < 0.5
    down, right = torch.randint(0, 7, (2,), generator=draw).tolist()
    images = torch.where(mirrored, images.flip(3), images)
    padded = functional.pad(images, (3, 3, 3, 3))
    return padded[:, :, down : down + 32, right : right + 32].contiguous(memory_format=torch.channels_last)


def train(images: Images, epochs: int, seed: int, *, augment: bool) -> nn.Module:
    """Return a network trained by SGD with one cycle of the learning rate."""
    torch.manual_seed(seed)
    draw = torch.Generator().manual_seed(seed)
    model = network()
    labels = torch.from_numpy(images.labels)
    per_epoch = len(labels) // BATCH
    optimiser = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.1, total_steps=epochs * per_epoch, pct_start=0.25)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(labels), generator=draw)[: per_epoch * BATCH].split(BATCH):
            optimiser.zero_grad()
            batch = as_input(images.pixels[rows.numpy()])
            seen = augmented(batch, draw) if augment else batch
            functional.cross_entropy(model(seen), labels[rows]).backward()
            optimiser.step()
            cycle.step()
    return model.eval()


@torch.no_grad()
def logits(model: nn.Module, images: Images) -> np.ndarray:
    """Return (n, classes) in float16."""
    parts = [model(as_input(images.pixels[at : at + 500])) for at in range(0, len(images.pixels), 500)]
    return torch.cat(parts).numpy().astype(np.float16)


def sets(job: Job) -> tuple[Images, dict[str, Images]]:
    """Return the training images of a job, and every set whose logits are kept, by name."""
    own, other = (cifar10, fashion_mnist) if job.name == "cifar10" else (fashion_mnist, cifar10)
    training, test = own(job.cache)
    ood = {
        "svhn": from_npz(job.ood_dir / "svhn_test_5k.npz"),
        "tinyimagenet": from_npz(job.ood_dir / "tinyimagenet_val_5k_32px.npz"),
        "mnist": mnist_test(job.cache),
        next(name for name in EPOCHS if name != job.name): other(job.cache)[1],
    }
    kept = {"train": training.first(TRAIN_ROWS), "test": test}
    return training, kept | {name: images.first(OOD_ROWS) for name, images in ood.items()}


def run(job: Job) -> tuple[Job, float, float]:
    """Train one member and keep its logits; return the job, its test accuracy and the seconds it took."""
    torch.set_num_threads(1)
    started = time.perf_counter()
    training, kept = sets(job)
    model = train(training, EPOCHS[job.name], job.seed, augment=job.name in AUGMENTED)
    found = {name: logits(model, images) for name, images in kept.items()}
    labels = {f"{name}_labels": kept[name].labels for name in ("train", "test")}
    save(job.path, found | labels)
    return job, accuracy(found["test"], kept["test"].labels), time.perf_counter() - started


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows whose largest logit is the right one."""
    return float(np.mean(scores.argmax(-1) == labels))


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write an ``.npz`` under a temporary name, then rename it: a killed run leaves no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    part.rename(path)


def release(name: str, jobs: list[Job]) -> str:
    """Write one file per in-distribution set: logits (groups, members, rows, classes) of every set of rows."""
    members = [dict(np.load(job.path)) for job in sorted(jobs, key=lambda job: job.seed)]
    stacked = {}
    for key, array in members[0].items():
        if key.endswith("_labels"):
            stacked[key] = array.astype(np.uint8)
        else:
            stacked[key] = np.stack([member[key] for member in members]).reshape(GROUPS, MEMBERS, *array.shape)
    save(RELEASE / f"{name}.npz", stacked)
    each = [accuracy(member["test"], member["test_labels"]) for member in members]
    ensembles = stacked["test"].astype(np.float64).mean(1)
    together = [accuracy(group, stacked["test_labels"]) for group in ensembles]
    size = (RELEASE / f"{name}.npz").stat().st_size / 1e6
    return (
        f"{name}: members {min(each):.3f} to {max(each):.3f}, mean {np.mean(each):.3f}; "
        f"groups {min(together):.3f} to {max(together):.3f}; {size:.1f} MB"
    )


def trained(jobs: list[Job], workers: int) -> Iterator[tuple[Job, float, float]]:
    """Yield the members as they finish."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run, job) for job in jobs]):
            yield done.result()


def main() -> None:
    """Train what is missing, then write the release."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--ood-dir", type=Path, required=True, help="folder with svhn_test_5k.npz and tinyimagenet_val_5k_32px.npz"
    )
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="where packages and members are kept")
    parser.add_argument(
        "--n-jobs", type=int, default=os.cpu_count() or 1, help="networks trained at once, one thread each"
    )
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(name, group, member, options.cache.resolve(), options.ood_dir.resolve())
        for name in EPOCHS
        for group in range(GROUPS)
        for member in range(MEMBERS)
    ]
    missing = [job for job in jobs if not job.path.exists()]
    for name in {job.name for job in missing}:
        sets(
            next(job for job in missing if job.name == name)
        )  # the packages are fetched once, before the workers start
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=len(jobs), completed=len(jobs) - len(missing))
        for job, right, seconds in trained(missing, options.n_jobs) if missing else ():
            progress.console.print(
                f"{job.name} group {job.group} member {job.member}: accuracy {right:.3f}, {seconds:.0f} s"
            )
            progress.advance(bar)
    for name in EPOCHS:
        print(release(name, [job for job in jobs if job.name == name]))


if __name__ == "__main__":
    main()
