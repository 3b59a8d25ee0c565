package dev.stoker.formats.mds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.formats.UnsupportedFileException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code index.json} of an MDS dataset: its shards in their order.
 *
 * @param shards the shards
 */
public record MdsIndex(List<Shard> shards) {
    /** The name of the file. */
    public static final String NAME = "index.json";

    /** Larger indexes are refused; a shard takes about 600 bytes. */
    public static final int MAX_BYTES = 512 << 20;

    /**
     * A shard. Its file is the one that exists: the writer deletes the raw one after it compressed it.
     *
     * @param raw the shard as it is read
     * @param zip the compressed shard, or null
     * @param compression the compression, such as {@code zstd:3}, or an empty text
     * @param samples number of samples
     */
    public record Shard(StoredFile raw, @Nullable StoredFile zip, String compression, long samples) {
        /** Returns the file that the writer left: the compressed one if there is one. */
        public StoredFile stored() {
            return zip == null ? raw : zip;
        }
    }

    /**
     * A file of a shard.
     *
     * @param name path relative to the directory of the index
     * @param bytes its length
     * @param hashes its hashes in hexadecimal digits, by the name of the algorithm
     */
    public record StoredFile(String name, long bytes, Map<String, String> hashes) {
        public StoredFile {
            hashes = Map.copyOf(hashes);
        }
    }

    public MdsIndex {
        shards = List.copyOf(shards);
    }

    /** Returns whether a file named {@link #NAME} begins as an index of MDS shards does. */
    public static boolean recognises(byte[] first) {
        String text = new String(first, StandardCharsets.UTF_8);
        return text.stripLeading().startsWith("{") && text.contains("\"shards\"") && text.contains("\"column_names\"");
    }

    /**
     * Parses an index.
     *
     * @param file name for messages
     */
    public static MdsIndex parse(String file, byte[] json) throws IOException {
        JsonNode index = MdsConfig.read(file, "the index", json);
        MdsConfig.checkVersion(file, index);
        if (!index.path("shards").isArray()) {
            throw MdsConfig.damaged(file, "shards is not a list");
        }
        List<Shard> shards = new ArrayList<>();
        for (JsonNode shard : index.path("shards")) {
            MdsConfig.checkVersion(file, shard);
            StoredFile raw = stored(file, shard.path("raw_data"));
            StoredFile zip = shard.path("zip_data").isObject() ? stored(file, shard.path("zip_data")) : null;
            String compression = shard.path("compression").asText("");
            if (!shard.path("samples").canConvertToLong()
                    || shard.path("samples").asLong(-1) < 0) {
                throw MdsConfig.damaged(file, "samples of " + raw.name() + " is " + shard.path("samples"));
            }
            shards.add(new Shard(
                    raw,
                    zip,
                    zip == null ? "" : compression,
                    shard.path("samples").asLong()));
        }
        return new MdsIndex(shards);
    }

    private static StoredFile stored(String file, JsonNode stored) throws IOException {
        String name = stored.path("basename").asText("");
        boolean inside = !name.isEmpty() && !name.startsWith("/") && !name.contains("\\") && !name.contains(":");
        for (String part : name.split("/", -1)) {
            inside &= !part.equals("..") && !part.isEmpty() && part.chars().noneMatch(c -> c < ' ');
        }
        if (!inside) {
            throw new UnsupportedFileException(
                    file + " names the shard '" + name + "', which is not a path below the index");
        }
        Map<String, String> hashes = new LinkedHashMap<>();
        stored.path("hashes")
                .properties()
                .forEach(hash -> hashes.put(hash.getKey(), hash.getValue().asText()));
        return new StoredFile(name, stored.path("bytes").asLong(-1), hashes);
    }
}
