package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Describes the content of a field of a sample as JSON. Its {@code kind} says how the page shows it: {@code image},
 * {@code audio}, {@code video}, {@code text}, {@code numbers}, {@code bytes}, {@code null}, {@code large} (only if
 * somebody asks for it), {@code later} (not read yet) or {@code damaged}. A picture
 * that ends too early is {@code cut}, and a PNG with one value for each pixel is {@code gray}.
 */
final class ContentJson {

    /** Bytes in which text is told from other content. */
    private static final int TEXT_BYTES = 4096;

    /** The place of the color type in a PNG. */
    private static final int PNG_COLOR = 25;

    /** How much is done for a description. */
    enum Effort {
        /** Uses what the page has read together. */
        KNOWN,
        /** Reads the value unless it is large. */
        READ,
        /** Reads large values, too. */
        READ_LARGE
    }

    private final Values values;
    private final ValuePreview preview;

    ContentJson(Values values, ValuePreview preview) {
        this.values = values;
        this.preview = preview;
    }

    ObjectNode of(BrowsedVersion version, ChunkHead head, RowAddress place, int number, Effort effort) {
        Field field = head.fields().get(number);
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("field", number);
        if (head.column(number).isNull(place.row())) {
            return node.put("kind", "null");
        }
        if (!ContentField.hasBytes(field)) {
            node.put("kind", "numbers").set("value", preview.of(head, number, place.row()));
            return node;
        }
        int length = Values.length(head, number, place.row());
        node.put("bytes", length);
        if (length > Values.MOST_BYTES) {
            return node.put("kind", "bytes").put("text", "too long to be shown; use stoker get");
        }
        if (length > Values.LARGE_BYTES && effort != Effort.READ_LARGE) {
            return node.put("kind", "large");
        }
        Optional<byte[]> value;
        try {
            value = effort == Effort.KNOWN && field.payload()
                    ? values.known(version, place, number)
                    : Optional.of(values.read(version, place, number));
        } catch (IOException e) {
            return node.put("kind", "damaged").put("text", BrowseProblems.text(e));
        }
        return value.isEmpty() ? node.put("kind", "later") : describe(node, field, value.get(), effort);
    }

    private ObjectNode describe(ObjectNode node, Field field, byte[] value, Effort effort) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        FieldType type = field.type();
        if (type == ScalarType.UTF8) {
            node.put("kind", "text").set("text", preview.value(type, bytes));
            return node;
        }
        if (type != ScalarType.BINARY && !(type instanceof FixedBinaryType)) {
            node.put("kind", "numbers").set("value", preview.value(type, bytes));
            return node;
        }
        Optional<MediaType> media = MediaType.of(bytes);
        if (media.isPresent()) {
            return media(node, media.get(), bytes, effort);
        }
        boolean isText = isText(bytes);
        node.put("kind", isText ? "text" : "bytes")
                .set("text", preview.value(isText ? ScalarType.UTF8 : ScalarType.BINARY, bytes));
        return node;
    }

    private static ObjectNode media(ObjectNode node, MediaType media, ByteBuffer bytes, Effort effort) {
        node.put("kind", media.kind()).put("type", media.contentType());
        PictureSize.of(media, bytes).ifPresent(size -> {
            node.put("width", size.width()).put("height", size.height());
            if (size.isLarge() && effort != Effort.READ_LARGE) {
                node.put("kind", "large");
            }
        });
        if (PictureEnd.isMissing(media, bytes)) {
            node.put("cut", true);
        }
        if (isGray(media, bytes)) {
            node.put("gray", true);
        }
        return node;
    }

    /** Whether a picture has one value for each pixel, as masks of class numbers have. */
    private static boolean isGray(MediaType media, ByteBuffer bytes) {
        return media == MediaType.PNG && bytes.remaining() > PNG_COLOR && bytes.get(PNG_COLOR) == 0;
    }

    /** Whether the content begins with UTF-8 text without control characters. */
    private static boolean isText(ByteBuffer bytes) {
        int length = Math.min(TEXT_BYTES, bytes.remaining());
        // A character may be cut in the middle.
        int end = length;
        while (length < bytes.remaining() && end > Math.max(0, length - 4) && (bytes.get(end) & 0xC0) == 0x80) {
            end--;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(bytes.slice(bytes.position(), end))
                    .chars()
                    .noneMatch(c -> Character.isISOControl(c) && "\t\n\r\f".indexOf(c) < 0);
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
