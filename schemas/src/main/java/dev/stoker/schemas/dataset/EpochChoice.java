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
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * Records the version of the dataset that a following feed reads in one epoch of one group. Written once, as UTF-8,
 * compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"feed":…,"stream":…,"group":…,"epoch":…,"dataset":…,"version":…,"chosen":…}
 * </pre>
 *
 * @param pass feed, stream and group of the choice
 * @param epoch the epoch, from 0
 * @param dataset id of the dataset
 * @param version the version, from 1
 * @param chosen time of the choice, in whole milliseconds
 */
public record EpochChoice(Pass pass, long epoch, UUID dataset, long version, Instant chosen) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a choice. */
    public static final int MAX_BYTES = 1 << 14;

    private static final String KIND = "the choice of an epoch's version";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);
    private static final int KEY_DIGITS = 32;

    /**
     * Identifies one pass of a group over a stream of a feed.
     *
     * @param feed id of the feed
     * @param stream name of the stream
     * @param group name of the group
     */
    public record Pass(UUID feed, String stream, String group) {
        public Pass {
            Objects.requireNonNull(feed, "feed");
            Objects.requireNonNull(stream, "stream");
            Objects.requireNonNull(group, "group");
        }

        /** Returns the directory of its choices below the directory of feeds, with a slash at the end. */
        public String folder() {
            byte[] text = (stream + "\n" + group).getBytes(StandardCharsets.UTF_8);
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(text);
                return feed + "/epochs/" + HexFormat.of().formatHex(digest).substring(0, KEY_DIGITS) + "/";
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has SHA-256", e);
            }
        }

        /** Returns the name of an epoch's choice below the directory of feeds. */
        public String name(long epoch) {
            return folder() + String.format(Locale.ROOT, "%020d.json", epoch);
        }

        @Override
        public String toString() {
            return "stream " + stream + ", group " + group;
        }
    }

    public EpochChoice {
        Objects.requireNonNull(pass, "pass");
        Objects.requireNonNull(dataset, "dataset");
        if (epoch < 0 || version < 1) {
            throw new IllegalArgumentException("no choice: epoch " + epoch + ", version " + version);
        }
        if (!chosen.equals(chosen.truncatedTo(ChronoUnit.MILLIS))) {
            throw new IllegalArgumentException("The time of the choice has parts of a millisecond: " + chosen);
        }
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a name contains the mark of the self-checksum
     */
    public byte[] encode() {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = DatasetJson.MAPPER.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("self", SelfChecksum.PLACEHOLDER);
            json.writeNumberField("format", FORMAT);
            json.writeStringField("feed", pass.feed().toString());
            json.writeStringField("stream", pass.stream());
            json.writeStringField("group", pass.group());
            json.writeNumberField("epoch", epoch);
            json.writeStringField("dataset", dataset.toString());
            json.writeNumberField("version", version);
            json.writeStringField("chosen", DatasetJson.TIME.format(chosen));
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads the content of a choice.
     *
     * @param file its name as the user knows it
     */
    public static EpochChoice decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, FORMAT);
        try {
            DatasetJson.require(json.path("format").intValue() == FORMAT, "format is not " + FORMAT);
            return new EpochChoice(
                    new Pass(
                            CanonicalUuid.parse(DatasetJson.text(json, "feed")),
                            DatasetJson.text(json, "stream"),
                            DatasetJson.text(json, "group")),
                    number(json, "epoch"),
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    number(json, "version"),
                    DatasetJson.TIME.parse(DatasetJson.text(json, "chosen"), Instant::from));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static long number(JsonNode json, String key) {
        DatasetJson.require(
                json.path(key).isIntegralNumber() && json.path(key).canConvertToLong(), key + " is not a number");
        return json.path(key).longValue();
    }
}
