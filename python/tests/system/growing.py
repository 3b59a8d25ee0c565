"""A dataset to which versions are appended while feeds read it."""

import sys
from types import SimpleNamespace

from stoker_processes import make_tree, views

import stoker
from stoker import Feed

ORDER = {"batch_size": 7, "lanes": 4, "shuffle_window": 32 << 10}
FOLLOWING = ["--follow", "--batch-size", 7, "--lanes", 4, "--shuffle-window", "32kb"]


class Growing:
    """A dataset to which versions are appended while feeds read it."""

    def __init__(self, root):
        self.root, self.path, self.versions = root, root / "data", 0

    def append(self, **classes):
        self.versions += 1
        tree = self.root / f"tree{self.versions}"
        make_tree(tree, classes, lambda n: 90 + 41 * n % 300, salt=f"v{self.versions}-")
        with stoker.Writer(
            self.path, {"data": "binary", "label": "categorical"}, append=self.versions > 1, chunk_size=4096
        ) as writer:
            for file in sorted(tree.rglob("*.bin")):
                key = str(file.relative_to(tree))
                writer.write({"key": key, "label": file.parent.name, "data": file.read_bytes()})
        return self.versions

    def views(self, version, epoch, **options):
        """Returns the batches of an epoch of a version, read from the files."""
        with Feed(self.path, version=version, **ORDER, **options) as feed:
            feed.set_epoch(epoch)
            return views(feed)


class WorkerLoop:
    """Imitates what a DataLoader worker process runs in one pass, to the extent that a feed can observe it."""

    def __init__(self):
        self.__name__, self.__module__ = "_worker_loop", "torch.utils.data._utils.worker"

    def __call__(self, feed, worker, workers, the_pass, pipe):
        info = SimpleNamespace(id=worker, num_workers=workers, seed=1000 * the_pass + worker)
        sys.modules["torch.utils.data"] = SimpleNamespace(get_worker_info=lambda: info)
        with feed:
            batches = list(feed)
            pipe.send((views(batches), sorted({batch.state["version"] for batch in batches})))
