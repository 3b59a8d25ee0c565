package dev.stoker.feeder.registry;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;

/**
 * A request to end a feed that runs on a Flink cluster: {@code feeds/<name>.stop} beside the feed's own file.
 * {@code stoker stop} writes it, the feed's coordinator looks for it each second and deletes it when it begins to end
 * the feed. A request names one start of one feed, so that it can never end a later one of the same name.
 */
public final class StopRequest {

    private static final int MAX_BYTES = 4096;

    private StopRequest() {}

    /**
     * Asks a feed to end.
     *
     * @param feed its name
     * @param id its id
     * @param startedMs {@code started_ms} of its file
     */
    public static void write(String feed, UUID id, long startedMs) throws IOException {
        PrivateFiles.replace(
                file(feed),
                Json.PLAIN.writeValueAsBytes(
                        Json.object().put("id", id.toString()).put("started_ms", startedMs)));
    }

    /** Takes back a request, if there is one. */
    public static void withdraw(String feed) throws IOException {
        Files.deleteIfExists(file(feed));
    }

    /** Whether somebody has asked this start of the feed to end. */
    public static boolean isThere(String feed, UUID id, long startedMs) throws IOException {
        try {
            JsonNode request = Json.PLAIN.readTree(RegularFile.read(file(feed), MAX_BYTES));
            return request.path("id").asText().equals(id.toString())
                    && request.path("started_ms").asLong() == startedMs;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static Path file(String feed) {
        return FeedRegister.beside(feed, ".stop");
    }
}
