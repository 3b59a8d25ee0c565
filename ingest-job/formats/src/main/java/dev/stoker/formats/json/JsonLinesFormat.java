package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonEOFException;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** JSON lines: each line is a JSON object in UTF-8. */
public final class JsonLinesFormat implements HintedFormat {
    private static final List<String> ENDINGS = List.of(".jsonl", ".ndjson");

    @Override
    public String name() {
        return "jsonl";
    }

    /**
     * The first line is an object, and so is the start of the second: a file with one object may be a sample. If the
     * name says so, one line suffices. If the first line is longer than the head, or there is none, the name decides.
     */
    @Override
    public boolean recognises(FileHead file) {
        byte[] bytes = new byte[file.first().remaining()];
        file.first().duplicate().get(bytes);
        // Bytes behind a character that the head cuts do no harm here.
        String text = new String(bytes, StandardCharsets.UTF_8);
        text = (text.startsWith("\ufeff") ? text.substring(1) : text).stripLeading();
        String name = file.name().toLowerCase(Locale.ROOT);
        boolean named = ENDINGS.stream().anyMatch(name::endsWith);
        if (!text.startsWith("{")) {
            return text.isEmpty() && named;
        }
        int end = text.indexOf('\n');
        try (JsonParser parser =
                JsonObjects.factory(ReadLimits.DEFAULT).createParser(end < 0 ? text : text.substring(0, end))) {
            parser.nextToken();
            parser.skipChildren();
            boolean isObject = parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null;
            return isObject && (named || hasSecondLine(file, text));
        } catch (JsonEOFException e) {
            return end < 0 && named;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean hasSecondLine(FileHead file, String text) {
        int end = text.indexOf('\n');
        String next = end < 0 ? "" : text.substring(end).stripLeading();
        boolean isCut = file.length() > file.first().remaining();
        return next.startsWith("{") || (end >= 0 && next.isEmpty() && isCut);
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits, ColumnHints hints) throws IOException {
        Compression compression = ByteInput.compressionOf(file);
        return new JsonLinesFile(file, limits, compression, schema(file, limits, hints, compression), hints);
    }

    private static RowSchema schema(RangeReader file, ReadLimits limits, ColumnHints hints, Compression compression)
            throws IOException {
        if (!hints.others().areInferred()) {
            return new RowSchema(
                    hints.types().entrySet().stream()
                            .map(column -> new RowColumn(
                                    column.getKey(), column.getValue(), true, "json", RowColumn.Role.NONE))
                            .toList(),
                    List.of());
        }
        try (ByteInput in = ByteInput.open(file, compression, limits)) {
            return JsonInference.infer(new JsonLine(in, limits), InferenceLimits.TEXT, hints.types());
        }
    }
}
