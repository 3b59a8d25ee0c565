package dev.stoker.formats.parquet.write;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.DateType;
import org.apache.parquet.format.DecimalType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.Float16Type;
import org.apache.parquet.format.IntType;
import org.apache.parquet.format.ListType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.MicroSeconds;
import org.apache.parquet.format.MilliSeconds;
import org.apache.parquet.format.NanoSeconds;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.StringType;
import org.apache.parquet.format.TimeType;
import org.apache.parquet.format.TimeUnit;
import org.apache.parquet.format.TimestampType;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;

/** Translates a schema into the elements of a footer. */
final class SchemaElements {
    private SchemaElements() {}

    static List<SchemaElement> of(MessageType schema) {
        List<SchemaElement> elements = new ArrayList<>();
        SchemaElement root = new SchemaElement(schema.getName());
        root.setNum_children(schema.getFieldCount());
        elements.add(root);
        schema.getFields().forEach(field -> add(field, elements));
        return elements;
    }

    static org.apache.parquet.format.Type type(PrimitiveTypeName name) {
        return switch (name) {
            case BINARY -> org.apache.parquet.format.Type.BYTE_ARRAY;
            default -> org.apache.parquet.format.Type.valueOf(name.name());
        };
    }

    private static void add(Type type, List<SchemaElement> elements) {
        SchemaElement element = new SchemaElement(type.getName());
        element.setRepetition_type(
                FieldRepetitionType.valueOf(type.getRepetition().name()));
        LogicalTypeAnnotation annotation = type.getLogicalTypeAnnotation();
        if (annotation != null) {
            annotate(element, annotation);
        }
        elements.add(element);
        if (!type.isPrimitive()) {
            GroupType group = type.asGroupType();
            element.setNum_children(group.getFieldCount());
            group.getFields().forEach(field -> add(field, elements));
            return;
        }
        element.setType(type(type.asPrimitiveType().getPrimitiveTypeName()));
        if (type.asPrimitiveType().getTypeLength() > 0) {
            element.setType_length(type.asPrimitiveType().getTypeLength());
        }
    }

    private static void annotate(SchemaElement element, LogicalTypeAnnotation annotation) {
        element.setLogicalType(logical(annotation));
        converted(annotation).ifPresent(element::setConverted_type);
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            element.setPrecision(decimal.getPrecision());
            element.setScale(decimal.getScale());
        }
    }

    /** Returns the annotation for readers from before the logical types, if there is one. */
    private static Optional<ConvertedType> converted(LogicalTypeAnnotation annotation) {
        if (annotation instanceof StringLogicalTypeAnnotation) {
            return Optional.of(ConvertedType.UTF8);
        }
        if (annotation instanceof ListLogicalTypeAnnotation) {
            return Optional.of(ConvertedType.LIST);
        }
        if (annotation instanceof DateLogicalTypeAnnotation) {
            return Optional.of(ConvertedType.DATE);
        }
        if (annotation instanceof DecimalLogicalTypeAnnotation) {
            return Optional.of(ConvertedType.DECIMAL);
        }
        if (annotation instanceof IntLogicalTypeAnnotation integer) {
            return Optional.of(ConvertedType.valueOf((integer.isSigned() ? "INT_" : "UINT_") + integer.getBitWidth()));
        }
        if (annotation instanceof TimestampLogicalTypeAnnotation timestamp && timestamp.isAdjustedToUTC()) {
            return switch (timestamp.getUnit()) {
                case MILLIS -> Optional.of(ConvertedType.TIMESTAMP_MILLIS);
                case MICROS -> Optional.of(ConvertedType.TIMESTAMP_MICROS);
                case NANOS -> Optional.empty();
            };
        }
        return Optional.empty();
    }

    private static LogicalType logical(LogicalTypeAnnotation annotation) {
        if (annotation instanceof StringLogicalTypeAnnotation) {
            return LogicalType.STRING(new StringType());
        }
        if (annotation instanceof ListLogicalTypeAnnotation) {
            return LogicalType.LIST(new ListType());
        }
        if (annotation instanceof DateLogicalTypeAnnotation) {
            return LogicalType.DATE(new DateType());
        }
        if (annotation instanceof Float16LogicalTypeAnnotation) {
            return LogicalType.FLOAT16(new Float16Type());
        }
        if (annotation instanceof IntLogicalTypeAnnotation integer) {
            return LogicalType.INTEGER(new IntType((byte) integer.getBitWidth(), integer.isSigned()));
        }
        if (annotation instanceof DecimalLogicalTypeAnnotation decimal) {
            return LogicalType.DECIMAL(new DecimalType(decimal.getScale(), decimal.getPrecision()));
        }
        if (annotation instanceof TimestampLogicalTypeAnnotation timestamp) {
            return LogicalType.TIMESTAMP(new TimestampType(timestamp.isAdjustedToUTC(), unit(timestamp.getUnit())));
        }
        TimeLogicalTypeAnnotation time = (TimeLogicalTypeAnnotation) annotation;
        return LogicalType.TIME(new TimeType(time.isAdjustedToUTC(), unit(time.getUnit())));
    }

    private static TimeUnit unit(LogicalTypeAnnotation.TimeUnit unit) {
        return switch (unit) {
            case MILLIS -> TimeUnit.MILLIS(new MilliSeconds());
            case MICROS -> TimeUnit.MICROS(new MicroSeconds());
            case NANOS -> TimeUnit.NANOS(new NanoSeconds());
        };
    }
}
