"""DataLoader workers read from a real feeder and stop at every position; others resume with exactly the rest."""

from itertools import islice

import pytest
from stoker_processes import view, views
from torch.utils.data import DataLoader

from stoker import Feed

pytestmark = pytest.mark.full("programs")

ORDER = {"batch_size": 40, "lanes": 6, "shuffle_window": 96 << 10, "seed": 9}


@pytest.fixture(scope="module")
def expected(photos):
    with Feed(photos.path, **ORDER, tail="keep") as feed:
        return [views(feed), views(feed)]


def loader(feed, workers):
    return DataLoader(feed, batch_size=None, num_workers=workers)


@pytest.mark.cells
@pytest.mark.parametrize(("before", "after"), [(0, 2), (1, 0), (2, 1)])
def test_every_position_is_resumed_with_another_number_of_workers(feeders, expected, before, after):
    epoch, following = expected
    n = len(epoch)
    options = ORDER | {"tail": "keep", "stream": "train", "group": f"workers-{before}-{after}"}
    for taken in range(1, n + 1):
        with Feed("quadruple", **options) as feed:
            batches = list(islice(loader(feed, before), taken))
            assert views(batches) == epoch[:taken]
            state = batches[-1].state
        for world_size in (1, 2):
            rest = []
            for rank in range(world_size):
                with Feed("quadruple", **options, rank=rank, world_size=world_size) as feed:
                    feed.load_state_dict(state)
                    rest += [view(batch) for batch in loader(feed, after)]
            assert sorted(rest) == (epoch[taken:] if taken < n else following)
