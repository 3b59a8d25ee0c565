import pyarrow as pa
import pytest

from stoker._format.fields import Field
from stoker._format.list_types import ListType, TensorType, list_type, tensor_type
from stoker._format.numbers import NUMBERS


def item(kind: pa.DataType, nullable: bool = False) -> pa.DataType:
    return pa.list_(pa.field("item", kind, nullable))


@pytest.mark.parametrize(
    ("kind", "expected", "arrow"),
    [
        ("int32[]", ListType("int32"), item(pa.int32())),
        ("bfloat16[]", ListType("bfloat16"), item(pa.uint16())),
        ("int32?[]", ListType("int32", null_items=True), item(pa.int32(), True)),
        ("utf8[]", ListType("utf8"), item(pa.utf8())),
        ("binary?[]", ListType("binary", null_items=True), item(pa.binary(), True)),
        ("float16[][]", ListType("float16[]"), item(item(pa.float16()))),
    ],
)
def test_a_list_has_one_type_of_items(kind, expected, arrow):
    assert list_type(kind) == expected
    assert list_type(kind).arrow() == arrow
    field = Field("f", kind)
    assert field.element == kind.split("[")[0].removesuffix("?")
    assert field.null_items == ("?" in kind)
    assert field.is_ragged == (kind.count("[") == 1 and field.element in NUMBERS)
    assert field.item == (None if field.is_list else expected.item)
    assert field.has_offsets


@pytest.mark.parametrize("kind", ["int32", "int32[3]", "utf8[][]", "int32[]?[]", "bool[]", "date[]", "int32[][][]", ""])
def test_other_texts_are_no_lists(kind):
    assert list_type(kind) is None


def test_a_tensor_has_a_shape():
    assert tensor_type("float32[3,4]") == TensorType("float32", (3, 4))
    assert [tensor_type(kind) for kind in ("float32[]", "float32[0]", "utf8[3]", "float32?[3]")] == [None] * 4


def test_numbers_have_the_types_of_arrow():
    assert {name: str(number.arrow()) for name, number in NUMBERS.items() if number.stored != name} == {
        "bfloat16": "uint16"
    }
    assert all(number.arrow().to_pandas_dtype() == number.dtype.type for number in NUMBERS.values())
