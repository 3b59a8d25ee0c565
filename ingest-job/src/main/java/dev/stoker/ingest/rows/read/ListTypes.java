package dev.stoker.ingest.rows.read;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.util.Optional;

/** Compares the lists of a source with the lists of a field, because the ingest copies their elements. Stateless. */
public final class ListTypes {
    private ListTypes() {}

    /** Returns the next step for a null item: the type of the field that can hold it; empty if there is none. */
    static String advice(RowMapping.Mapped mapped) {
        FieldType type = mapped.toField().type();
        return type instanceof ListType list && !list.nullItems() && !list.isOfLists()
                ? ", or keep it with " + ShellText.pair("--type", mapped.column(), list.item() + "?[]")
                : "";
    }

    /** Returns what to do with a column whose lists have null items; empty if its field takes them. */
    public static Optional<String> nullItems(RowColumn column, FieldType type) {
        if (type.hasNullItems()) {
            return Optional.empty();
        }
        boolean isKept = type.numbers() != null || type == column.type();
        String item = isKept && type instanceof ListType list && !list.isOfLists()
                ? list.item().canonical()
                : "";
        return Optional.of("the column " + column.name() + ": an item of a list is null; "
                + (item.isEmpty()
                        ? ""
                        : "keep such items with " + ShellText.pair("--type", column.name(), item + "?[]") + ", or ")
                + "leave the column out with --without " + ShellText.word(column.name())
                + ", or such rows with --on-error skip");
    }

    /**
     * Returns why a field cannot hold the lists of a column; empty if it can, or if one of them is no list.
     *
     * @param source type of the column
     * @param type type of the field
     */
    public static Optional<String> misfit(FieldType source, FieldType type) {
        FieldType plain = type instanceof ListType list ? list.withoutNulls() : type;
        FieldType given = source instanceof ListType list ? list.withoutNulls() : source;
        boolean isOther = type.hasNullItems() && !plain.equals(given);
        Optional<ScalarType> from = Conversion.element(source);
        Optional<ScalarType> to = Conversion.element(type);
        boolean isConverted = from.isPresent() && to.isPresent() && !from.equals(to);
        return isOther || isConverted
                ? Optional.of("its values are " + source + ", which " + type
                        + " does not hold; the elements of lists are not converted")
                : Optional.empty();
    }
}
