package dev.stoker.schemas.dataset;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.log.CanonicalUuid;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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

    private static final String KIND = "a use of a version";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);

    public VersionUse {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(feed, "feed");
        Objects.requireNonNull(by, "by");
        if (version < 1) {
            throw new IllegalArgumentException("no use: version " + version);
        }
        if (!created.equals(created.truncatedTo(ChronoUnit.MILLIS))) {
            throw new IllegalArgumentException("The time of the use has parts of a millisecond: " + created);
        }
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
        StringWriter text = new StringWriter();
        try (JsonGenerator json = DatasetJson.MAPPER.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("self", SelfChecksum.PLACEHOLDER);
            json.writeNumberField("format", FORMAT);
            json.writeStringField("dataset", dataset.toString());
            json.writeNumberField("version", version);
            json.writeStringField("feed", feed.toString());
            json.writeStringField("created", DatasetJson.TIME.format(created));
            json.writeStringField("by", by);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads the content of a file.
     *
     * @param file its name as the user knows it
     */
    public static VersionUse decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, FORMAT);
        try {
            DatasetJson.require(json.path("format").intValue() == FORMAT, "format is not " + FORMAT);
            DatasetJson.require(
                    json.path("version").isIntegralNumber()
                            && json.path("version").canConvertToLong(),
                    "version is not a number");
            return new VersionUse(
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    json.path("version").longValue(),
                    CanonicalUuid.parse(DatasetJson.text(json, "feed")),
                    DatasetJson.TIME.parse(DatasetJson.text(json, "created"), Instant::from),
                    DatasetJson.text(json, "by"));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }
}
