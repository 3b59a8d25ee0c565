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
import java.util.regex.Pattern;

/**
 * Gives a version of a dataset a name. Each change of a tag is a file with the next number; the file with the greatest
 * number counts. Written once, as UTF-8, compact, with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"dataset":…,"name":…,"number":…,"version":…,"created":…,"by":…}
 * </pre>
 *
 * @param dataset id of the dataset
 * @param name name of the tag
 * @param number number of the change, from 1
 * @param version the version; 0 if the change deleted the tag
 * @param created time of the change, in whole milliseconds
 * @param by user and host, for people
 */
public record Tag(UUID dataset, String name, long number, long version, Instant created, String by) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a file. */
    public static final int MAX_BYTES = 1 << 14;

    /** The syntax of names. A name begins with a letter, so that it is no number of a version. */
    public static final String NAME = "[A-Za-z][A-Za-z0-9._-]{0,127}";

    private static final Pattern NAME_PATTERN = Pattern.compile(NAME);
    private static final String KIND = "a tag of a version";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);

    public Tag {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(by, "by");
        checkName(name);
        if (number < 1 || version < 0) {
            throw new IllegalArgumentException("no tag: change " + number + ", version " + version);
        }
        if (!created.equals(created.truncatedTo(ChronoUnit.MILLIS))) {
            throw new IllegalArgumentException("The time of the tag has parts of a millisecond: " + created);
        }
    }

    /**
     * Returns the name if it is valid.
     *
     * @throws IllegalArgumentException unless it has 1 to 128 letters, digits, {@code .}, {@code _}, {@code -} and
     *     begins with a letter
     */
    public static String checkName(String name) {
        if (!NAME_PATTERN.matcher(name).matches()) {
            throw new IllegalArgumentException("Not the name of a tag: '" + name
                    + "'; use 1 to 128 letters, digits, '.', '_' and '-', beginning with a letter");
        }
        return name;
    }

    /** Returns whether this change deleted the tag. */
    public boolean isDeleted() {
        return version == 0;
    }

    /** Returns the name of the file of a change, below the directory of tags. */
    public static String file(String name, long number) {
        return checkName(name) + "/" + String.format(Locale.ROOT, "%020d.json", number);
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
            json.writeStringField("name", name);
            json.writeNumberField("number", number);
            json.writeNumberField("version", version);
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
    public static Tag decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, FORMAT);
        try {
            DatasetJson.require(json.path("format").intValue() == FORMAT, "format is not " + FORMAT);
            return new Tag(
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    DatasetJson.text(json, "name"),
                    number(json, "number"),
                    number(json, "version"),
                    DatasetJson.TIME.parse(DatasetJson.text(json, "created"), Instant::from),
                    DatasetJson.text(json, "by"));
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
