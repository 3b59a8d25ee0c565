package dev.stoker.formats.tfrecord;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.tfrecord.ExampleFeature.Kind;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Infers the columns of a file from its first records. Not thread-safe. */
final class FeatureInference {
    /** What the first records have. */
    private static final class Observed {
        private final Kind kind;
        private @Nullable Kind otherKind;
        private long otherOffset;
        private boolean isList;

        private Observed(Kind kind) {
            this.kind = kind;
        }
    }

    private final Map<String, FieldType> declared;
    private final Map<String, Observed> features = new LinkedHashMap<>();

    FeatureInference(Map<String, FieldType> declared) {
        this.declared = declared;
    }

    /** Reads the sample. A damaged record is left to the reader, unless there are no others. */
    RowSchema infer(RecordFrames frames, InferenceLimits sample) throws IOException {
        DamagedFileException first = null;
        int good = 0;
        for (int rows = 0; rows < sample.rows() && frames.offset() < sample.bytes(); rows++) {
            try {
                ByteBuffer record = frames.next();
                if (record == null) {
                    break;
                }
                Example.parse(record, frames).forEach((name, feature) -> see(name, feature, frames.offset()));
                good++;
            } catch (DamagedFileException e) {
                first = first == null ? e : first;
                if (!frames.isWhole()) {
                    break;
                }
            }
        }
        if (good == 0 && first != null) {
            throw first;
        }
        return schema();
    }

    private void see(String name, ExampleFeature feature, long offset) {
        Observed observed = features.computeIfAbsent(name, key -> new Observed(feature.kind()));
        if (observed.kind != feature.kind() && observed.otherKind == null) {
            observed.otherKind = feature.kind();
            observed.otherOffset = offset;
        }
        observed.isList |= feature.count() != 1;
    }

    private RowSchema schema() {
        List<RowColumn> columns = new ArrayList<>();
        List<RefusedColumn> refused = new ArrayList<>();
        Map<String, FieldType> missing = new LinkedHashMap<>(declared);
        features.forEach((name, observed) -> {
            FieldType type = missing.remove(name);
            String sourceType = observed.kind + (observed.isList ? " list" : "");
            if (type == null && observed.otherKind != null) {
                refused.add(new RefusedColumn(
                        name,
                        observed.kind + " or " + observed.otherKind,
                        "its first values are " + observed.kind + ", but the record at offset " + observed.otherOffset
                                + " has " + observed.otherKind));
            } else {
                columns.add(column(name, type == null ? type(observed) : type, sourceType));
            }
        });
        missing.forEach((name, type) -> columns.add(RowColumn.absent(name, type)));
        return new RowSchema(columns, refused);
    }

    private static FieldType type(Observed observed) {
        String element = switch (observed.kind) {
            case BYTES -> "binary";
            case FLOAT -> "float32";
            case INT64 -> "int64";
        };
        return FieldType.parse(observed.isList ? element + "[]" : element);
    }

    static RowColumn column(String name, FieldType type, String sourceType) {
        return new RowColumn(name, type, true, sourceType, RowColumn.Role.NONE);
    }
}
