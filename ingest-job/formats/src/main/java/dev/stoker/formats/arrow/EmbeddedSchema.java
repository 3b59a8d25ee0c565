package dev.stoker.formats.arrow;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.huggingface.Feature;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;

/** The Arrow schema that writers embed in Parquet files, in Base64. It names what Parquet has no types for. */
public final class EmbeddedSchema {
    /** The key of the metadata. */
    public static final String METADATA_KEY = "ARROW:schema";

    private static final int CONTINUATION = -1;

    private EmbeddedSchema() {}

    /**
     * Returns the columns as an Arrow file with this schema has them.
     *
     * @param base64 the value of the metadata, or null if there is none
     * @param depth levels that the schema may have
     * @return no columns if there is no schema
     * @throws IOException if the text is no schema: time zones, classes and shapes would be lost
     */
    public static RowSchema columns(@Nullable String base64, int depth) throws IOException {
        RowSchema none = new RowSchema(List.of(), List.of());
        if (base64 == null) {
            return none;
        }
        try {
            byte[] bytes = Base64.getDecoder().decode(base64);
            ByteBuffer message = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            // Before Arrow 0.15, the length came first.
            message.position(message.getInt(0) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES);
            Schema schema = (Schema) Message.getRootAsMessage(message.slice().order(ByteOrder.LITTLE_ENDIAN))
                    .header(new Schema());
            return schema == null
                    ? none
                    : new ArrowColumns(new ArrowSchemaReader(depth, bytes.length).fields(schema), Feature.NONE).rows();
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    "its metadata " + METADATA_KEY + " is no Arrow schema" + DamagedFileException.reason(e)
                            + "; write the file again, or without this metadata",
                    e);
        }
    }
}
