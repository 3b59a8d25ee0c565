package dev.stoker.formats.webdataset;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowColumn.Role;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.Set;

/** Says which type a column has by its extension, as WebDataset decodes it. The last part of an extension decides. */
final class Extensions {
    static final String KEY = "__key__";

    private static final Set<String> INTEGERS = Set.of("cls", "cls2", "class", "count", "index", "inx", "id");
    private static final Set<String> LABELS = Set.of("cls", "class");
    private static final Set<String> TEXTS = Set.of("txt", "text", "transcript", "json", "jsn");

    private Extensions() {}

    static RowColumn column(String extension) {
        String last = extension.substring(extension.lastIndexOf('.') + 1);
        if (INTEGERS.contains(last)) {
            return column(extension, ScalarType.INT64, LABELS.contains(last) ? Role.LABEL : Role.NONE);
        }
        if (TEXTS.contains(last)) {
            return column(extension, ScalarType.UTF8, Role.NONE);
        }
        return column(extension, ScalarType.BINARY, Role.PAYLOAD);
    }

    static RowColumn column(String extension, FieldType declared) {
        RowColumn usual = column(extension);
        return column(
                extension,
                declared,
                usual.role() == Role.PAYLOAD && !declared.mayBePayload() ? Role.NONE : usual.role());
    }

    private static RowColumn column(String extension, FieldType type, Role role) {
        return new RowColumn(extension, type, true, "." + extension, role);
    }

    static RowColumn key() {
        return new RowColumn(KEY, ScalarType.UTF8, false, "base name", Role.KEY);
    }
}
