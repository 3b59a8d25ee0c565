package dev.stoker.feeder.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
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
    private static final JsonMapper JSON = new JsonMapper();

    private FeedRegister() {}

    /** Returns the names of all feeds that have an entry, sorted. */
    public static List<String> names() throws IOException {
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

    /** Writes the entry of a feed. */
    public static void put(String name, JsonNode entry) throws IOException {
        // It names the file with the token, and what runs here.
        PrivateFiles.replace(StokerHome.feedFile(name), JSON.writeValueAsBytes(entry));
    }

    /** Reads the last progress of a feed to a topic. */
    public static Optional<JsonNode> findProgress(String name) throws IOException {
        return read(beside(name, ".progress"));
    }

    /** Writes the progress of a feed to a topic. */
    public static void putProgress(String name, JsonNode progress) throws IOException {
        PrivateFiles.replace(beside(name, ".progress"), JSON.writeValueAsBytes(progress));
    }

    /** Returns a file of a feed beside its entry. */
    static Path beside(String name, String ending) {
        return StokerHome.feedFile(name).resolveSibling(name + ending);
    }

    private static Optional<JsonNode> read(Path file) throws IOException {
        try {
            return Optional.of(JSON.readTree(RegularFile.read(file, MAX_BYTES)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }
}
