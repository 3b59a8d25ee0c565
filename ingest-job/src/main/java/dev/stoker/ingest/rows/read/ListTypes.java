package dev.stoker.ingest.rows.read;

import dev.stoker.formats.RowColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.NestedListType;
import dev.stoker.schemas.arrow.types.NullableListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.text.ShellText;
import java.util.Optional;

/** Compares the lists of a source with the lists of a field, because the ingest copies their elements. Stateless. */
public final class ListTypes {
    private ListTypes() {}

    /** Returns the next step for a null item: the type of the field that can hold it; empty if there is none. */
    static String advice(RowMapping.Mapped mapped) {
        FieldType type = mapped.toField().type();
        FieldType item = type instanceof ListType list
                ? list.element()
                : type instanceof NestedListType nested ? nested.item() : type;
        return type == item || !(item instanceof ScalarType)
                ? ""
                : ", or keep it with " + ShellText.pair("--type", mapped.column(), item + "?[]");
    }

    /** Returns what to do with a column whose lists have null items; empty if its field takes them. */
    public static Optional<String> nullItems(RowColumn column, FieldType type) {
        String item =
                type instanceof ListType list ? list.element().canonical() : type == column.type() ? itemOf(type) : "";
        if (type instanceof NullableListType) {
            return Optional.empty();
        }
        return Optional.of("the column " + column.name() + ": an item of a list is null; "
                + (item.isEmpty()
                        ? ""
                        : "keep such items with " + ShellText.pair("--type", column.name(), item + "?[]") + ", or ")
                + "leave the column out with --without " + ShellText.word(column.name())
                + ", or such rows with --on-error skip");
    }

    private static String itemOf(FieldType type) {
        return type instanceof NestedListType nested && nested.item() instanceof ScalarType item
                ? item.canonical()
                : "";
    }

    /**
     * Returns why a field cannot hold the lists of a column; empty if it can, or if one of them is no list.
     *
     * @param source type of the column
     * @param type type of the field
     */
    public static Optional<String> misfit(FieldType source, FieldType type) {
        FieldType plain = type instanceof NullableListType nullable ? nullable.withoutNulls() : type;
        FieldType given = source instanceof NullableListType nullable ? nullable.withoutNulls() : source;
        boolean isOther = type instanceof NullableListType && !plain.equals(given);
        boolean isConverted = element(given).isPresent()
                && element(plain).isPresent()
                && !element(given).equals(element(plain));
        return isOther || isConverted
                ? Optional.of("its values are " + source + ", which " + type
                        + " does not hold; the elements of lists are not converted")
                : Optional.empty();
    }

    private static Optional<ScalarType> element(FieldType type) {
        if (type instanceof ListType list) {
            return Optional.of(list.element());
        }
        if (type instanceof NestedListType nested) {
            return element(nested.item());
        }
        return type instanceof TensorType tensor ? Optional.of(tensor.element()) : Optional.empty();
    }
}
