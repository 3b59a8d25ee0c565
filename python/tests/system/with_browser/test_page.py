"""The live page of a feeder, looked at in a real browser. Pictures are left in python/target/pages."""

from __future__ import annotations

import json
import struct
import threading
from itertools import islice
from pathlib import Path

import pytest
from browser import browser
from page_simulator import SimulatedFeeder
from stoker_processes import until

from stoker import Feed

pytestmark = pytest.mark.full("programs")

PICTURES = Path(__file__).parents[3] / "target" / "pages"


@pytest.fixture(scope="module")
def watched(photos, start_feeder):
    """A feeder of two streams."""
    streams = [f"train={photos.path}@2", f"val={photos.path}@2:val"]
    return start_feeder("watched", *streams, "--batch-size", 4, "--lanes", 3, "--ui", "0").ready()


@pytest.fixture(scope="module")
def url(cli, watched):
    file = cli.home / "feeds" / "watched.json"
    (found,) = json.loads(file.read_text())["status"]
    assert found.startswith("http://127.0.0.1:")
    return found


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def page(chromium):
    page = chromium()
    yield page
    page.close()


class Trainers:
    """Two ranks of one group that train without end, and a validation that has stopped half-way."""

    def __init__(self, target):
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._train, args=(target, rank)) for rank in range(2)]
        self.validation = Feed(target, "val", group="eval", batch_size=2)
        self._taken = list(islice(self.validation, 4))

    def _train(self, target, rank):
        with Feed(target, "train", rank=rank, world_size=2, run=7) as feed:
            while not self._end.is_set():
                for _ in feed:
                    self._end.wait(0.02)
                    if self._end.is_set():
                        break

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        for thread in self._threads:
            thread.join(60)
        self.validation.close()


def sizes(png):
    return struct.unpack(">II", png[16:24])


SIZES = ((1280, "light"), (1280, "dark"), (768, "light"), (400, "light"), (400, "dark"))
CUT = (
    "[...document.querySelectorAll('.row > span, .rate b, #verdict b, #verdict p, h1, h2')]"
    ".filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')"
    ".map(e => e.textContent)"
)


def look_at_all_sizes(page, name):
    """Nothing hangs over an edge or is cut off, in light and dark."""
    for width, scheme in SIZES:
        page.look(width, 900, scheme)
        page.until(f"document.documentElement.clientWidth === {width}")
        page.until(f"document.querySelector('#chart svg').getBoundingClientRect().width <= {width}")
        assert page.value("document.documentElement.scrollWidth") == width, "nothing hangs over the edge"
        assert page.value(CUT) == []
        png = page.picture(PICTURES / f"{name}-{width}-{scheme}.png")
        assert sizes(png)[0] == width
        background = page.value("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(c) for c in background[4:-1].split(","))
        assert (brightness < 200) == (scheme == "dark")
    page.look(1280, 900, "light")


def verdict(page):
    return page.value("document.querySelector('#verdict b').textContent")


def test_before_a_trainer_comes_the_page_says_how_to_begin(page, url):
    page.open(url)
    page.until("document.querySelector('#state').textContent === 'live'")
    assert verdict(page) == "No trainer yet"
    assert 'for batch in stoker.Feed("watched")' in page.text()
    assert page.value("document.title") == "watched – Stoker"
    page.picture(PICTURES / "empty.png")
    assert page.errors == []


def test_throughput_waits_progress_and_tiers_are_drawn(page, url, watched):
    with Trainers(watched.address):
        page.open(url)
        # A line needs several moments, and positions move.
        page.until("(document.querySelector('#chart path.line')?.getAttribute('d') || '').split('L').length > 6")
        page.until("document.querySelectorAll('#waits .row .bar').length === 3")
        page.until("document.querySelectorAll('#waits .bar i').length > 0")
        page.until("/Data|Decoding/.test(document.querySelector('#verdict b').textContent)")
        height = page.value("document.querySelector('#chart path.line').getBBox().height")
        assert height > 20, "the first moments had no trainer, so the line rises"
        assert page.value("document.querySelector('#chart path.area').getBBox().width") > 20
        assert float(page.value("document.querySelector('#rate-samples').textContent").rstrip("k")) > 0
        page.until("document.querySelector('#connected').textContent === '3 ranks'")
        assert "version 2" in page.value("document.querySelector('#about').textContent")

        rows = page.value("[...document.querySelectorAll('#progress .row')].map(r => r.innerText)")
        assert len(rows) == 2
        assert rows[0].startswith("train")
        page.until("document.querySelector('#progress .row').innerText.includes(' left')")
        (evaluation,) = [row for row in rows if row.startswith("val/eval")]
        assert "batch 3 of" in evaluation  # the fourth was handed out, and is consumed when the fifth is asked for
        shares = page.value(
            "[...document.querySelectorAll('#progress .bar i')].map(i => i.getBoundingClientRect().width)"
        )
        assert len(shares) == 2
        assert min(shares) > 5

        tiers = page.value("[...document.querySelectorAll('#tiers .row')].map(r => r.innerText)")
        assert [t.splitlines()[0] for t in tiers] == ["open windows", "mapped chunks"]
        assert page.value("document.querySelectorAll('#trainers tr').length") == 0, "folded until it is opened"
        page.value("document.querySelector('#connections summary').click()")
        page.until("document.querySelectorAll('#trainers tr').length === 3")
        trainers = page.value("[...document.querySelectorAll('#trainers tr')].map(r => r.innerText)")
        assert all("connected" in row for row in trainers)
        assert any(row.startswith("train rank 1") for row in trainers)
        legend = page.value("[...document.querySelectorAll('#legend span')].map(s => s.innerText)")
        assert legend, "every colour that is drawn is explained"
        colours = page.value(
            "new Set([...document.querySelectorAll('#waits .bar i')].map(i => i.style.background)).size"
        )
        assert colours <= len(legend)
        look_at_all_sizes(page, "live")
    assert page.errors == []
    assert all(address.startswith((url, "data:", "about:")) for address in page.requested), page.requested


@pytest.mark.parametrize(
    ("ranks", "waits", "title", "words"),
    [
        (1, {"disk": 0.004}, "Data is not the limit", "The trainer waited 0.4 %"),
        (24, {"network": 0.05}, "Data slows training a little",
         "Rank 23 waited 5.0 % of the last minute, mostly for: network"),
        (1000, {"start": 0.02, "disk": 0.4}, "Data is the limit",
         "Rank 999 waited 42 % of the last minute, mostly for: disk"),
        (24, {"start": 0.4}, "Data slows training", "mostly for: start of an epoch"),
        (24, {"disk": 0.0001}, "Data is not the limit", "No trainer has waited in the last minute."),
        (24, {"decoding": 0.6}, "Decoding is the limit", "More decode_threads or DataLoader workers help"),
    ],
)  # fmt: skip
def test_the_page_says_whether_data_is_the_limit(page, ranks, waits, title, words):
    with SimulatedFeeder(ranks, waits) as feeder:
        page.open(feeder.url)
        page.until(f"document.querySelector('#verdict b').textContent === {json.dumps(title)}")
        assert words in page.value("document.querySelector('#verdict p').textContent")
        rows = page.value("[...document.querySelectorAll('#waits .row')].map(r => Number(r.dataset.rank))")
        assert rows == list(range(ranks))[:-11:-1], "the longest waits come first, and the rest is folded"
        assert page.value("document.querySelectorAll('#heat i').length") == (ranks if ranks > 10 else 0)
        look_at_all_sizes(page, f"{ranks}-ranks-{'-'.join(waits)}")
        if ranks > 10:
            page.value("document.querySelector('#fold').click()")
            assert page.value("document.querySelectorAll('#waits .row').length") == ranks
            assert "Show the 10 that wait longest" in page.text()
        assert page.errors == []


def test_a_page_of_one_of_two_feeders_says_so_and_has_the_rate_of_both(page):
    with SimulatedFeeder(2, {"disk": 0.05}) as feeder:
        page.open(feeder.url)
        page.until("!document.querySelector('#rate-feed').hidden")
        assert "feeder 1 of 2 at 10.0.0.1:7420" in page.value("document.querySelector('#about').textContent")
        page.until(
            "Math.abs(parseFloat(document.querySelector('#rate-feed').textContent.replace(/^[^0-9]*/, ''))"
            " / parseFloat(document.querySelector('#rate-samples').textContent) - 2) < 0.5"
        )
        assert page.value("document.querySelector('#connected').textContent") == "2 ranks"
        look_at_all_sizes(page, "one-of-two")
        assert page.errors == []


def test_a_service_that_the_feed_waits_for_comes_first(page):
    with SimulatedFeeder(3, {"origin": 0.5}) as feeder:
        feeder.problems = ["the store <s3a://photos> does not answer: connection refused"]
        page.open(feeder.url)
        page.until("document.querySelector('#verdict b').textContent === 'The feed waits for a service'")
        assert feeder.problems[0] in page.value("document.querySelector('#verdict p').textContent")
        look_at_all_sizes(page, "waiting")
        feeder.problems = []
        page.until("document.querySelector('#verdict b').textContent === 'Data is the limit'")
        assert page.errors == []


def test_a_name_from_a_trainer_is_text_and_nothing_else(page, url, watched):
    evil = "<img src=x onerror=alert(1)>"
    with Feed(watched.address, "val", group=evil) as feed:
        next(iter(feed))
        page.open(url)
        page.until(f"document.body.innerText.includes({json.dumps(evil)})")
        assert page.value("document.querySelectorAll('main img').length") == 0
    assert page.errors == []


def test_a_feeder_that_has_gone_is_told_from_one_that_is_slow(page, photos, start_feeder, cli):
    feeder = start_feeder("short", f"train={photos.path}@2", "--ui", "0").ready()
    (url,) = json.loads((cli.home / "feeds" / "short.json").read_text())["status"]
    with Feed(feeder.address) as feed:
        list(islice(feed, 3))
    page.open(url)
    page.until("document.querySelector('#state').textContent === 'live'")
    page.until("document.querySelector('#verdict b').textContent === 'No trainer is connected'")
    feeder.kill()
    until(lambda: page.value("document.querySelector('#state').textContent") == "does not answer", "the page notices")
    assert "has not answered since" in page.text()
    assert page.value("document.querySelector('#waits .row').innerText").startswith("rank 0")  # the last it knew stays
    page.picture(PICTURES / "gone.png")
