package dev.stoker.schemas.order;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.UUID;

/** Reads the test vectors that Java and Python share. */
public final class Vectors {
    private static final JsonMapper JSON = new JsonMapper();

    private Vectors() {}

    public static JsonNode read(String name) throws IOException {
        try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + name)) {
            return JSON.readTree(in);
        }
    }

    static StreamChunks chunks(JsonNode list) {
        StreamChunksBuilder builder = StreamChunks.builder(0);
        for (JsonNode chunk : list) {
            long ordinal = chunk.get("ordinal").longValue();
            int rows = chunk.get("rows").intValue();
            if (!chunk.get("live").booleanValue()) {
                builder.addGhost(ordinal, rows);
                continue;
            }
            UUID id = chunk.has("id") ? UUID.fromString(chunk.get("id").textValue()) : new UUID(0, ordinal);
            long length = chunk.has("length") ? chunk.get("length").longValue() : 0;
            builder.addLive(ordinal, id, rows, ints(chunk.get("removed")), new ExpectedChunk(length, 0, 0, 0, 0));
        }
        return builder.build();
    }

    static int[] ints(JsonNode list) {
        int[] values = new int[list.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = list.get(i).intValue();
        }
        return values;
    }

    public static long[] longs(JsonNode list) {
        long[] values = new long[list.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = list.get(i).longValue();
        }
        return values;
    }
}
