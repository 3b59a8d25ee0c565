package dev.stoker.schemas.dataset;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * Says that a running feed reads a version, so that the version is not expired. Written once, as UTF-8, compact, with
 * the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"dataset":…,"version":…,"feed":…,"created":…,"by":…}
 * </pre>
 *
 * @param dataset id of the dataset
 * @param version the version
 * @param feed id of the feed
 * @param created time of creation, in whole milliseconds
 * @param by user and host of the feeder, for people
 */
public record VersionUse(UUID dataset, long version, UUID feed, Instant created, String by) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a file. */
    public static final int MAX_BYTES = 1 << 14;

    private static final SealedJson FILES = new SealedJson("a use of a version", FORMAT, MAX_BYTES);

    public VersionUse {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(feed, "feed");
        Objects.requireNonNull(by, "by");
        if (version < 1) {
            throw new IllegalArgumentException("no use: version " + version);
        }
        SealedJson.requireMillis("The time of the use", created);
    }

    /** Returns the directory of the uses of a version below the directory of uses, with a slash at the end. */
    public static String folder(long version) {
        return String.format(Locale.ROOT, "%020d/", version);
    }

    /** Returns the name of the file below the directory of uses. */
    public static String file(long version, UUID feed) {
        return folder(version) + feed + ".json";
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a text contains the mark of the self-checksum
     */
    public byte[] encode() {
        return FILES.encode(json -> json.put("dataset", dataset.toString())
                .put("version", version)
                .put("feed", feed.toString())
                .put("created", SealedJson.time(created))
                .put("by", by));
    }

    /**
     * Reads the content of a file.
     *
     * @param file its name as the user knows it
     */
    public static VersionUse decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(
                content,
                file,
                keys -> new VersionUse(
                        keys.id("dataset"),
                        keys.number("version"),
                        keys.id("feed"),
                        keys.time("created"),
                        keys.text("by")));
    }
}
