package dev.stoker.feeder.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads and writes the files of the register. Any thread. */
public final class FeedRegister {

    private static final int MAX_BYTES = 1 << 24;
    private static final String ENTRY = ".json";

    private FeedRegister() {}

    /** Returns the names of all feeds that have an entry, sorted. */
    public static List<String> names() throws IOException {
        StokerHome.requireDirectory();
        if (!Files.isDirectory(StokerHome.feeds())) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(StokerHome.feeds())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(ENTRY))
                    .map(file -> file.substring(0, file.length() - ENTRY.length()))
                    .sorted()
                    .toList();
        }
    }

    /** Reads the entry of a feed. */
    public static Optional<JsonNode> find(String name) throws IOException {
        return read(StokerHome.feedFile(name));
    }

    /** Returns the text of the entry of a feed; an empty text if there is none. */
    public static String text(String name) throws IOException {
        try {
            return new String(RegularFile.read(StokerHome.feedFile(name), MAX_BYTES), StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    /** Returns an entry as text without spaces or line breaks. */
    public static String text(ObjectNode entry) throws IOException {
        return Json.PLAIN.writeValueAsString(entry);
    }

    /** Returns the text of an entry with one more field, which it does not have. */
    public static String textWith(String entry, String field, long value) {
        return entry.substring(0, entry.length() - 1) + ",\"" + field + "\":" + value + "}";
    }

    /** Writes the entry of a feed. */
    public static void put(String name, String entry) throws IOException {
        StokerHome.requireDirectory();
        // It names the file with the token, and what runs here.
        PrivateFiles.replace(StokerHome.feedFile(name), entry.getBytes(StandardCharsets.UTF_8));
    }

    /** Reads the last progress of a feed to a topic. */
    public static Optional<JsonNode> findProgress(String name) throws IOException {
        return read(beside(name, ".progress"));
    }

    /** Writes the progress of a feed to a topic. */
    public static void putProgress(String name, JsonNode progress) throws IOException {
        PrivateFiles.replace(beside(name, ".progress"), Json.PLAIN.writeValueAsBytes(progress));
    }

    /** Returns a file of a feed beside its entry. */
    static Path beside(String name, String ending) {
        return StokerHome.feedFile(name).resolveSibling(name + ending);
    }

    private static Optional<JsonNode> read(Path file) throws IOException {
        StokerHome.requireDirectory();
        try {
            return Optional.of(Json.PLAIN.readTree(RegularFile.read(file, MAX_BYTES)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
