"""The page of `stoker browse`, looked at in a real browser. Pictures are left in python/target/browse."""

from __future__ import annotations

import json
import re
import signal
import struct
from pathlib import Path

import pytest
from browse_data import DELETED, HOSTILE, LONG_KEY, TAG, TEXTS, hostile, masks, picture, texts, zoo
from browser import browser
from stoker_processes import until

pytestmark = pytest.mark.full("programs")

PICTURES = Path(__file__).parents[3] / "target" / "browse"
DAMAGED = picture(5)
SIZES = ((1280, "light"), (1280, "dark"), (768, "light"), (390, "light"), (390, "dark"))
KEYS = "[...document.querySelectorAll('#grid .key')].map(e => e.textContent)"
READY = "!document.querySelector('#grid').classList.contains('waiting') && !!document.querySelector('#grid .card')"
SHOWN = (
    "[...document.querySelectorAll('#grid img')].filter(i => i.getBoundingClientRect().top < innerHeight)"
    ".every(i => i.complete && i.naturalWidth > 0)"
)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def page(chromium):
    page = chromium()
    yield page
    page.close()


@pytest.fixture(scope="module")
def browse(cli):
    """Starts `stoker browse`; gives its address."""
    processes = []

    def start(*args):
        process = cli.start("browse", *args, "--port", 0)
        processes.append(process)
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/", line)
        assert found, line + (process.stderr.read() if process.poll() is not None else "")
        return found[0]

    yield start
    for process in processes:
        process.send_signal(signal.SIGINT)
    for process in processes:
        assert process.wait(60) == 0, process.stderr.read()
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="module")
def zoo_url(cli, browse, tmp_path_factory):
    """The picture in position 2 is damaged."""
    root = tmp_path_factory.mktemp("zoo") / "data"
    zoo(root)
    cli.run("delete", root, *DELETED, "--yes")
    (chunk,) = [file for file in root.glob("chunks/*/*.arrow") if DAMAGED["image"] in file.read_bytes()]
    content = bytearray(chunk.read_bytes())
    content[content.index(DAMAGED["image"]) + 60] ^= 1
    chunk.write_bytes(content)
    return browse(root)


@pytest.fixture(scope="module")
def hostile_url(browse, tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile") / "data"
    hostile(root)
    return browse(root)


def sizes(png):
    return struct.unpack(">II", png[16:24])


def look_at_all_sizes(page, name):
    """Nothing hangs over an edge, in light and dark."""
    for width, scheme in SIZES:
        page.look(width, 900, scheme)
        page.until(f"document.documentElement.clientWidth === {width}")
        wide = (
            "[...document.querySelectorAll('body *')].filter(e => e.offsetParent && !e.closest('.scroll') &&"
            f" e.getBoundingClientRect().right > {width} + 1).map(e => e.tagName + '.' + e.className + '#' + e.id)"
        )
        assert page.value(wide) == [], "nothing hangs over the edge"
        assert page.value("document.documentElement.scrollWidth") <= width
        png = page.picture(PICTURES / f"{name}-{width}-{scheme}.png")
        assert sizes(png)[0] == width
        background = page.value("getComputedStyle(document.body).backgroundColor")
        assert (sum(int(c) for c in background[4:-1].split(",")) < 200) == (scheme == "dark")
    page.look(1280, 900, "light")


KEY_CODES = {"Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}


def elsewhere(page, url):
    """What the page has asked others for. The browser's own players have pictures in their addresses."""
    return [address for address in page.requested if not address.startswith((url, "about:", "data:"))]


def press(page, key):
    for kind in ("rawKeyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEY_CODES[key])


def choose(page, select, value):
    page.value(
        f"(() => {{ const s = document.querySelector({json.dumps(select)}); s.value = {json.dumps(value)};"
        " s.dispatchEvent(new Event('change')); })()"
    )


def write(page, field, text):
    page.value(
        f"(() => {{ const i = document.querySelector({json.dumps(field)}); i.value = {json.dumps(text)};"
        " i.dispatchEvent(new Event('input')); })()"
    )


def status(page):
    return page.value("document.querySelector('#status').textContent")


def test_samples_are_shown_as_pictures_page_by_page(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    assert page.value("document.title") == "zoo – Stoker"
    first = page.value(KEYS)
    assert len(first) == 48
    assert first[0] == "cross/00001.png", "the first sample was deleted"
    assert status(page) == "1–48 of 141 samples"
    page.until(SHOWN)
    page.value("document.querySelector('#next').click()")
    page.until(f"{READY} && document.querySelector('#status').textContent.startsWith('49–96 ')")
    second = page.value(KEYS)
    assert not set(first) & set(second)
    address = page.value("location.href")
    page.open(address)
    page.until(f"{READY} && document.querySelector('#status').textContent.startsWith('49–96 ')")
    assert page.value(KEYS) == second, "a reload shows the same page"
    page.value("document.querySelector('#first').click()")
    page.until(f"{READY} && document.querySelector('#status').textContent.startsWith('1–48 ')")
    assert page.value(KEYS) == first
    page.until(SHOWN)
    look_at_all_sizes(page, "grid")
    assert page.errors == []
    assert elsewhere(page, zoo_url) == []


def test_sound_text_and_bytes_have_their_own_cards(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    choose(page, "#split", "val")
    page.until("document.querySelector('#status').textContent === '1–13 of 13 samples'")
    page.until(READY)
    assert page.value("document.querySelectorAll('#grid audio').length") == 1
    assert "Zweite Zeile." in page.value("document.querySelector('#grid pre').textContent")
    page.call("Runtime.evaluate", expression="document.querySelector('#grid audio').play()", userGesture=True)
    page.until("document.querySelector('#grid audio').currentTime > 0")
    assert page.value("document.querySelector('#grid audio').error") is None
    page.until(SHOWN)
    page.picture(PICTURES / "kinds.png")
    assert page.errors == []


def test_samples_are_found_by_class_and_key(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    choose(page, "#class", json.dumps(["label", "square"], separators=(",", ":")))
    page.until("document.querySelector('#status').textContent.endsWith('found, and no more')")
    assert all(key.startswith("square/") for key in page.value(KEYS))
    choose(page, "#class", "")
    write(page, "#prefix", "circle/0001")
    page.until(f"{READY} && document.querySelector('#status').textContent === '3 samples found, and no more'")
    assert page.value(KEYS) == ["circle/00012.png", "circle/00015.png", "circle/00018.png"]
    write(page, "#prefix", "no such key")
    page.until("document.querySelector('#status').textContent.startsWith('No sample found')")
    assert page.errors == []


def test_classes_have_counts_and_keys_can_be_copied(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    label = "document.querySelector('#class option[data-name=square]').textContent"
    page.until(f"{label} === 'square (46)'")
    page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.value("document.querySelectorAll('#grid .mark')[1].click()")
    page.value("document.querySelectorAll('#grid .mark')[4].click()")
    chosen = page.value(KEYS)
    page.value("document.querySelector('#next').click()")
    page.until(f"{READY} && document.querySelector('#status').textContent.startsWith('49–96 ')")
    assert page.value("document.querySelector('#copy').textContent") == "Copy 2 keys"
    page.value("document.querySelector('#copy').click()")
    page.until("document.querySelector('#copy').textContent === 'Copied 2 keys'")
    assert page.value("navigator.clipboard.readText()") == f"{chosen[1]}\n{chosen[4]}\n"
    assert page.errors == []


def test_texts_are_large_and_found_by_a_condition(page, browse, tmp_path):
    texts(tmp_path / "texts")
    page.open(browse(tmp_path / "texts"))
    page.until(READY)
    card = page.value("document.querySelector('#grid .card').innerText")
    assert card.count(TEXTS[0][:20]) == 1, "the text is not repeated below itself"
    assert "note" not in card, "a field without value takes no room"
    first = "document.querySelector('#grid .key')"
    assert page.value(f"{first}.textContent") == LONG_KEY + "00000"
    assert page.value(f"{first}.lastChild.getBoundingClientRect().right < {first}.getBoundingClientRect().right + 1")
    write(page, "#where", "score > 8.3")
    page.value("document.querySelector('#where').dispatchEvent(new Event('change'))")
    page.until("document.querySelector('#status').textContent === '1 sample found, and no more'")
    assert page.value(KEYS) == [LONG_KEY + "00017"]
    write(page, "#where", "score >")
    page.value("document.querySelector('#where').dispatchEvent(new Event('change'))")
    page.until("!document.querySelector('#problem').hidden")
    write(page, "#where", "")
    choose(page, "#order", "-field:score")
    page.until(f"{READY} && document.querySelector('#status').textContent === '1–48 of 60 samples'")
    assert page.value(KEYS)[0] == LONG_KEY + "00017"
    look_at_all_sizes(page, "texts")
    page.value("document.querySelector('#grid .open').click()")
    page.until("!!document.querySelector('#sample-body dl')")
    assert page.value("document.querySelector('#sample-body pre.text').textContent") == TEXTS[17]
    assert "CRC-32C" not in page.value("document.querySelector('#sample').innerText")
    look_at_all_sizes(page, "text")
    assert len(page.errors) == 1, page.errors
    assert "status of 400" in page.errors[0], "the condition that is not complete"


def test_masks_have_colors_and_a_picture_without_its_end_is_marked(page, browse, tmp_path):
    masks(tmp_path / "data")
    page.open(browse(tmp_path / "data"))
    page.until("document.querySelectorAll('#grid canvas').length === 1")
    page.until(SHOWN)
    colors = page.value(
        "(c => [...new Set(Array.from({length: c.height}, (_, y) => c.getContext('2d').getImageData(3, y, 1, 1).data"
        ".slice(0, 3).join()))])(document.querySelector('#grid canvas'))"
    )
    assert len(colors) == 3, "0, 1 and 20"
    assert colors[0] == "0,0,0"
    remarks = "[...document.querySelectorAll('#grid .remark')].map(e => e.textContent)"
    assert page.value(remarks) == ["values 0 to 20 as colors", "Cut off: the file ends before the picture"]
    page.picture(PICTURES / "masks.png")
    page.value("document.querySelector('#grid button.remark').click()")
    assert page.value(remarks)[0] == "values 0 to 20 as they are"
    assert page.value("document.querySelectorAll('#grid img').length") == 3


def test_one_sample_is_shown_with_all_its_metadata(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    page.until("document.activeElement.getAttribute('aria-label') === 'Open square/00002.png'")
    page.value("document.activeElement.click()")
    page.until("document.querySelector('#sample').open && document.querySelector('#sample-body img')?.naturalWidth > 0")
    text = page.value("document.querySelector('#sample').innerText")
    for part in ("square/00002.png", "label (categorical)", "train", "CRC-32C", "row", "chunk", "added in", "96 × 96"):
        assert part in text
    look_at_all_sizes(page, "sample")
    press(page, "ArrowRight")
    page.until("document.querySelector('#sample-key').textContent === 'cross/00004.png'")
    press(page, "ArrowLeft")
    page.until("document.querySelector('#sample-key').textContent === 'square/00002.png'")
    press(page, "Escape")
    page.until("!document.querySelector('#sample').open")
    assert page.errors == []


def test_a_damaged_sample_says_so_and_the_others_are_shown(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    page.until("document.querySelectorAll('#grid .note.bad').length === 1")
    assert "CRC32C of image of sample" in page.value("document.querySelector('#grid .note.bad').textContent")
    page.value("window.scrollTo(0, document.body.scrollHeight)")
    page.until("document.querySelectorAll('#grid img').length === 47")
    page.until("[...document.querySelectorAll('#grid img')].every(i => i.complete && i.naturalWidth > 0)")
    page.picture(PICTURES / "damaged.png")
    assert page.errors == []


def test_versions_are_listed_and_compared(page, zoo_url):
    page.open(zoo_url)
    page.until(READY)
    page.value("document.querySelector('#to-versions').click()")
    page.until("document.querySelectorAll('#log tbody tr').length === 4")
    counts = page.value("[...document.querySelector('#log tbody tr').cells].slice(5, 8).map(cell => cell.textContent)")
    assert counts == ["0", "12", "0"]
    page.value("document.querySelector('input[name=from][value=\"2\"]').click()")
    page.value("document.querySelector('#compare').click()")
    page.until("!document.querySelector('#diff').hidden")
    assert page.value("document.querySelector('#diff-status').textContent") == "Version 4 compared with version 2"
    changes = page.value("[...document.querySelectorAll('#keys button')].map(b => b.className)")
    assert (changes.count("added"), changes.count("removed")) == (10, 12)
    look_at_all_sizes(page, "versions")
    page.value("document.querySelector('#keys .removed').click()")
    page.until("!!document.querySelector('#sample-body dl')")
    assert "version" in page.value("document.querySelector('#sample-body').innerText")
    press(page, "Escape")
    page.until("!document.querySelector('#sample').open")
    page.value("document.querySelector('#to-samples').click()")
    choose(page, "#version", "1")
    page.until("document.querySelector('#status').textContent === '1–48 of 130 samples'")
    assert page.errors == []


def test_hostile_samples_never_run(page, hostile_url):
    page.open(hostile_url)
    page.until(READY)
    assert page.value(KEYS) == list(HOSTILE)
    assert TAG in page.value("document.querySelector('#name').textContent")
    assert page.value("document.querySelectorAll('#grid .media button').length") == 3, "too large to be decoded"
    page.value("document.querySelectorAll('#grid .media button').forEach(b => b.click())")
    page.value("window.scrollTo(0, document.body.scrollHeight)")
    page.until("document.querySelectorAll('#grid .note.bad').length >= 2")
    assert "cannot show this picture (image/png" in page.text()
    assert page.value("document.querySelectorAll('#grid script, #grid svg, #grid iframe, #grid object').length") == 0
    for i in range(len(HOSTILE)):
        page.value(f"document.querySelectorAll('#grid .open')[{i}].click()")
        page.until(f"document.querySelector('#sample-key').textContent === {json.dumps(list(HOSTILE)[i])}")
        page.until("!!document.querySelector('#sample-body dl')")
        assert page.value("document.querySelectorAll('script').length") == 1, "the page's own"
        page.value("document.querySelector('#sample').close()")
    choose(page, "#class", json.dumps(["label", TAG], separators=(",", ":")))
    page.until("document.querySelector('#status').textContent.endsWith('found, and no more')")
    look_at_all_sizes(page, "hostile")
    assert page.value("globalThis.hacked") is None
    # A picture that cannot be decoded is an answer of the decoder, and no error of the page.
    assert [error for error in page.errors if "Content Security Policy" in error or "exception" in error] == []
    assert elsewhere(page, hostile_url) == []


def test_the_address_of_a_hostile_payload_runs_nothing(page, hostile_url):
    """As if somebody were led to open it, or embedded it."""
    for i, key in enumerate(HOSTILE):
        address = f"payload?version=1&chunk=0&row={i}&field=1"
        page.open(hostile_url)
        page.until(READY)
        page.value(
            "new Promise(done => { const s = document.createElement('script');"
            f" s.onload = s.onerror = done; s.src = {json.dumps(address)}; document.head.append(s); }})"
        )
        assert page.value("globalThis.hacked") is None, key
        page.call("Page.navigate", url=hostile_url + address)
        until(lambda: page.value("document.readyState") == "complete", "the payload is shown or saved")
        assert page.value("globalThis.hacked") is None, key
