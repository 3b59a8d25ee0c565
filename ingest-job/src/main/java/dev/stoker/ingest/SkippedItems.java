package dev.stoker.ingest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The list of rows and files that an ingest has left out.
 *
 * @param location of the list: a path or a URI
 * @param first the first items as text: place and reason
 */
public record SkippedItems(String location, List<String> first) {
    private static final int SHOWN = 20;
    private static final int READ_BYTES = 256 << 10;

    public SkippedItems {
        first = List.copyOf(first);
    }

    /** Reads the beginning of the list of a version, if there is one. */
    static Optional<SkippedItems> of(LogEntry entry, ObjectStore store) throws IOException {
        String name = entry.properties().get(IngestRun.SKIP_LIST);
        if (name == null) {
            return Optional.empty();
        }
        ByteBuffer head = ByteBuffer.allocate((int) Math.min(READ_BYTES, store.length(name)));
        store.read(name, 0, head);
        String text = StandardCharsets.UTF_8.decode(head.flip()).toString();
        List<String> first = new ArrayList<>();
        for (int from = 0, end = text.indexOf('\n'); end >= 0 && first.size() < SHOWN; end = text.indexOf('\n', from)) {
            first.add(shown(text.substring(from, end)));
            from = end + 1;
        }
        return Optional.of(new SkippedItems(store.describe(name), first));
    }

    private static String shown(String line) {
        try {
            JsonNode item = Json.PLAIN.readTree(line);
            String file = item.path("file").asText(item.path("key").asText());
            String place = file;
            if (item.has("position")) {
                place += "#" + item.path("position").asLong();
            } else if (item.has("part")) {
                place += " part " + item.path("part").asLong();
            }
            String reason = item.path("reason").asText();
            // Most reasons name the file, too.
            return place + ": " + (reason.startsWith(file + ": ") ? reason.substring(file.length() + 2) : reason);
        } catch (JsonProcessingException e) {
            return line;
        }
    }

    /** Returns the items as lines of a report. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        first.forEach(item -> lines.add("  " + item));
        lines.add("the whole list: " + location);
        return lines;
    }
}
