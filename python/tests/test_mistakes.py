"""What users are likely to try is answered with what to do instead."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from small_datasets import small_dataset
from stoker import Feed, errors


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"drop_last": True}, "tail='drop'"),
        ({"transform": len}, "use decode="),
        ({"num_workers": 4}, "decode_threads"),
        ({"collate_fn": len}, "decode="),
        ({"batchsize": 4}, "did you mean 'batch_size'"),
        ({"decode": True}, r"decode=True: expected a decoder for each field, such as \{'image': 'rgb'\}"),
    ],
)
def test_arguments_of_other_loaders(tmp_path: Path, argument: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Feed(tmp_path, **argument)


def test_a_directory_that_was_taken_for_a_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    with pytest.raises(errors.FeedNotFoundError, match=r'\./photos is a directory: .* with Feed\("\./photos"\)'):
        next(iter(Feed("photos")))
    with pytest.raises(errors.FeedNotFoundError, match="does not exist"):
        next(iter(Feed("others")))
    (tmp_path / "rows.jsonl").touch()
    with pytest.raises(errors.FeedNotFoundError, match=r"rows\.jsonl is a file: .* `stoker ingest rows\.jsonl "):
        next(iter(Feed("rows.jsonl")))


def test_a_batch_that_was_taken_for_a_tuple(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    with Feed(dataset.root) as feed:
        batch = next(iter(feed))
    with pytest.raises(
        TypeError, match=r"not a tuple: take its columns by name, as batch\['label'\]; there are label, image"
    ):
        _, _ = batch
    with pytest.raises(KeyError, match="no field 'labels'"):
        batch["labels"]


def test_samples_by_slices_lists_and_negative_positions(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    samples = stoker.open(dataset.root)
    keys = [s["key"] for s in samples]
    assert [s["key"] for s in samples[2:9:3]] == keys[2:9:3]
    assert [s["key"] for s in samples[-3:]] == keys[-3:]
    assert [s["key"] for s in samples[[4, -1]]] == [keys[4], keys[-1]]
    assert [s["key"] for s in samples[np.array([4, 0])]] == [keys[4], keys[0]]
    assert samples[np.int64(5)]["key"] == keys[5]
    assert samples[-1]["key"] == keys[-1]
    for wrong in (1.5, None, True, b"key"):
        with pytest.raises(TypeError, match="expected a position"):
            samples[wrong]
    assert 1.5 not in samples


def test_keys_that_are_positions(tmp_path: Path) -> None:
    samples = stoker.open(small_dataset(tmp_path / "d").root)
    with pytest.raises(TypeError, match=r"^key 7: expected a str; a position goes into brackets, such as samples"):
        samples.get(["a", 7])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("string", "utf8"), ("str", "utf8"), ("int", "int64"), ("int[]", "int64[]"), ("float?", "float32?")],
)
def test_types_of_other_libraries(tmp_path: Path, given: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"unknown type.*did you mean '{re.escape(meant)}'"):
        stoker.Writer(tmp_path / "x", {"f": given})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the datasets `photos` and `docs`, which is the current one."""
    small_dataset(tmp_path / "photos")
    small_dataset(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("./photos:val", "write Feed('./photos', split='val') or stoker.open('./photos', split='val')"),
        ("./photos@1", "write Feed('./photos', version=1) or stoker.open('./photos', version=1)"),
        ("./photos@best:val", "write Feed('./photos', version='best', split='val')"),
        ("./photos/chunks", "it is in the directory of the dataset {folder}/photos; give that one"),
        ("./photos/_stoker/log", "it is in the directory of the dataset {folder}/photos; give that one"),
        (".", "it contains the datasets docs, photos"),
        ("./phots", "did you mean photos?"),
        ("./other", ". contains the datasets docs, photos"),
        ("./other/more", "create one with: stoker ingest SOURCE other/more"),
    ],
)
def test_a_path_beside_the_dataset_that_was_meant(folder: Path, given: str, says: str) -> None:
    for call in (Feed, stoker.open):
        with pytest.raises(errors.NotADatasetError) as caught:
            call(given)
        assert says.format(folder=folder) in str(caught.value)
        assert ("stoker ingest" in str(caught.value)) == ("stoker ingest" in says)


def test_paths_that_are_no_directories(folder: Path) -> None:
    (folder / "rows.jsonl").touch()
    for call in (Feed, stoker.open, lambda path: stoker.commit(path, [])):
        with pytest.raises(
            errors.NotADatasetError, match=r"it is a file; pack it with: stoker ingest rows\.jsonl DATASET"
        ):
            call("./rows.jsonl")
        with pytest.raises(errors.NotADatasetError, match=r"rows\.jsonl is a file; give another path"):
            call("./rows.jsonl/more")
    for path in ("./rows.jsonl", "./rows.jsonl/more"):
        with pytest.raises(errors.CommitRefusedError, match=r"rows\.jsonl is a file; give a directory"):
            stoker.Writer(path, {"a": "int8"})
    for path in ("./photos/more", "./photos/chunks/more"):
        with pytest.raises(
            errors.CommitRefusedError, match=r"is inside the dataset .*/photos; give a directory outside"
        ):
            stoker.Writer(path, {"a": "int8"})
    for path, kind, says in (
        ("./a\0b", ValueError, r"the path './a\\x00b' has a NUL character"),
        (b"photos", TypeError, "of type bytes"),
        (["photos"], TypeError, "of type list"),
        (7, TypeError, "of type int"),
    ):
        for call in (Feed, stoker.open, lambda path: stoker.Writer(path, {"a": "int8"})):
            with pytest.raises(kind, match=says):
                call(path)
    for call in (stoker.open, lambda path: stoker.Writer(path, {"a": "int8"})):
        with pytest.raises(ValueError, match="the path of a dataset is empty"):
            call("")


def test_a_split_in_place_of_a_version(folder: Path) -> None:
    with pytest.raises(errors.UnknownVersionError, match=r"has no tag train; .* A split is given as split='train'"):
        stoker.open("./photos", "train")


def test_a_dataset_that_lost_its_log(folder: Path) -> None:
    for path in (folder / "photos/_stoker/log").iterdir():
        path.unlink()
    with pytest.raises(errors.UnknownVersionError, match="if its log was lost: stoker recover photos"):
        Feed("./photos")


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("./photos", "train", 64), {}, r"takes target and stream by place, not 64; did you mean batch_size=64\?"),
        (("./photos", "train", "x"), {}, "takes target and stream by place, not 'x', and the other arguments by name"),
        (("./photos", 64), {}, r"stream must be a name, not 64; did you mean batch_size=64\?"),
        (("./photos",), {"split": 1}, "split must be a name, not 1"),
        (("./photos",), {"group": ""}, "group must be a name, not ''"),
        ((["./photos", "./docs"],), {}, "not of type list; a feed reads one dataset: use a feed for each"),
        ((5,), {}, "target must be a path or the name of a feed, not of type int"),
        (("./photos",), {"weights": [1]}, "each epoch has every sample once; a WeightedRandomSampler"),
        (("./photos",), {"filter": len}, "use where="),
        (("./photos",), {"remote": "s3://x"}, r"the first argument is the location"),
        (("./photos",), {"local": "/tmp/x"}, "copies of a remote dataset are kept in STOKER_CACHE_DIR"),
        (("./photos",), {"predownload": 3}, "a feed reads ahead automatically"),
        (("./photos",), {"persistent_workers": True}, r"of the loader: DataLoader\(.*, persistent_workers=…\)"),
        (("./photos",), {"max_samples": 3}, "end an iteration with epoch_batches=…"),
        (("./photos",), {"limit": 3}, "end an iteration with epoch_batches=…"),
        (("./photos",), {"classes": ["cat"]}, "feed.classes has their names"),
    ],
)
def test_arguments_that_mean_something_else(
    folder: Path, arguments: tuple[Any, ...], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(TypeError, match=says):
        Feed(*arguments, **options)


def test_samples_in_place_of_their_path(folder: Path) -> None:
    with pytest.raises(TypeError, match=r"not of type Samples; give its path: Feed\('photos'\)"):
        Feed(stoker.open("./photos"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epochs": 0}, "epochs must be an integer of at least 1, is 0"),
        ({"follow": "yes"}, "follow must be True or False, is 'yes'"),
        ({"shuffle_window": "much"}, "shuffle_window='much' is not a size, such as 256m or 8 MiB"),
        ({"shuffle_window": -1}, "shuffle_window must be an integer of bytes from 0"),
        ({"buffer_bytes": "x"}, "buffer_bytes='x' is not a size"),
    ],
)
def test_values_that_are_refused(folder: Path, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Feed("./photos", **options)


@pytest.mark.parametrize("text", ["1g", "1GB", "1 GiB", "1024m", "1073741824", "1073741824 bytes"])
def test_sizes_are_written_as_in_the_command(folder: Path, text: str) -> None:
    assert Feed("./photos", shuffle_window=text, buffer_bytes=text).info.order.shuffle_window == 1 << 30
    with stoker.Writer("./new", {"n": "int64"}, chunk_size=text, shuffle_buffer=text) as w:
        w.write({"n": 1})
        w.abort()


def test_an_epoch_of_which_nothing_is_left_is_explained(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Feed("./photos", batch_size=10_000, tail="drop") as feed:
        assert list(feed) == list(feed) == []
    said = [r.getMessage() for r in caplog.records if "leaves nothing of an epoch" in r.getMessage()]
    assert len(said) == 1
    assert "samples are less than a batch of 10000 for each of 1 ranks; use tail='pad' or 'keep'" in said[0]
    with Feed("./photos", batch_size=10_000, epochs=1) as feed:
        assert len(list(feed)) == 1
        assert list(feed) == []
    assert len(caplog.records) == 1


def test_a_feed_has_no_positions(folder: Path) -> None:
    with Feed("./photos") as feed, pytest.raises(TypeError, match=r"a feed has no positions: .* stoker\.open\(path\)"):
        feed[0]


def test_names_that_a_batch_does_not_have(folder: Path) -> None:
    with Feed("./photos") as feed:
        batch = next(iter(feed))
    with pytest.raises(AttributeError, match=r"no field 'labels'; did you mean 'label'\?"):
        _ = batch.labels
    with pytest.raises(AttributeError, match="no field 'mask'; there are label, image, key"):
        _ = batch.mask
    with pytest.raises(AttributeError, match=r"no 'items': \{name: batch\[name\] for name in batch\.fields\}"):
        batch.items()


def test_states_that_are_none(folder: Path) -> None:
    with Feed("./photos") as feed:
        state = next(iter(feed)).state
        for given, says in (
            ({"model": {"w": 1}, "feed": state}, r"it has model, feed; take its part 'feed': load_state_dict\(checkpo"),
            (json.dumps(state), r"the state is a text; parse it first: load_state_dict\(json\.loads\(state\)\)"),
            ({}, "not a state of a feed: it has nothing"),
            ([state], "not a state of a feed, but a list; give batch.state"),
            (None, "not a state of a feed, but a NoneType"),
        ):
            with pytest.raises(errors.StateMismatchError, match=says):
                feed.load_state_dict(given)
        with pytest.raises(TypeError, match="the epoch must be a whole number, not '1'"):
            feed.set_epoch("1")  # type: ignore[arg-type]


def test_samples_and_tables_of_other_kinds(tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "x", {"n": "int64", "a": "utf8"}) as w:
        with pytest.raises(TypeError, match=r"a sample is a dict, such as \{'a': …, 'n': …\}, not a list"):
            w.write([1])  # type: ignore[arg-type]
        for table in ({"n": [1]}, np.zeros(3)):
            with pytest.raises(TypeError, match=r"expected a pyarrow\.Table or RecordBatch, not a .*from_pandas"):
                w.write_batch(table)  # type: ignore[arg-type]
        w.write({"n": 1, "a": "x"})


def test_lists_without_a_shape_are_named(tmp_path: Path) -> None:
    for kind in ("float32(2,2)", "float32[]"):
        with stoker.Writer(tmp_path / kind, {"a": kind}) as w:
            with pytest.raises(errors.InvalidSampleError, match="'a': the lists in it have different lengths, so that"):
                w.write({"a": [[1], [2, 3]]})
            w.write({"a": [[1, 2], [3, 4]] if "(" in kind else [1]})


def test_a_recommended_command_has_quotes_around_a_path(tmp_path: Path) -> None:
    missing = tmp_path / "ada's photos"
    for call in (Feed, stoker.open):
        with pytest.raises(errors.NotADatasetError) as caught:
            call(missing)
        command = str(caught.value).split("create one with: ")[1]
        assert shlex.split(command) == ["stoker", "ingest", "SOURCE", str(missing)]
