package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column of a loaded chunk.
 *
 * @param type type of the column
 * @param values the column; of payload, only validity
 * @param classes class names of a categorical field by id, otherwise empty
 * @param payload the bytes of each wanted row of a payload field; null for other fields
 */
record LoadedColumn(FieldType type, ArrowColumn values, List<String> classes, ByteBuffer @Nullable [] payload) {}
