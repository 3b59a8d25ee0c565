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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;

/**
 * Replaces the {@linkplain EpochChoice choices} of {@value #EPOCHS} epochs of one group, so that the number of files
 * stays small however long a feed runs. The content depends only on the choices. Written once, as UTF-8, compact, with
 * the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"feed":…,"stream":…,"group":…,"first":…,"dataset":…,"versions":[…]}
 * </pre>
 *
 * @param pass feed, stream and group of the choices
 * @param first the first epoch, a multiple of {@value #EPOCHS}
 * @param dataset id of the dataset
 * @param versions the version of each epoch, from 1
 */
public record EpochChoiceBlock(EpochChoice.Pass pass, long first, UUID dataset, List<Long> versions) {

    /** The number of epochs in a block. */
    public static final int EPOCHS = 64;

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a block in bytes: the maximum length of a choice, and the versions. */
    public static final int MAX_BYTES = 1 << 15;

    private static final String KIND = "a block of choices of epochs' versions";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);

    public EpochChoiceBlock {
        Objects.requireNonNull(pass, "pass");
        Objects.requireNonNull(dataset, "dataset");
        versions = List.copyOf(versions);
        if (first < 0 || first != firstOf(first)) {
            throw new IllegalArgumentException("no block of epochs begins with epoch " + first);
        }
        if (versions.size() != EPOCHS || versions.stream().anyMatch(version -> version < 1)) {
            throw new IllegalArgumentException(
                    "no block: " + versions.size() + " versions, expected " + EPOCHS + " versions from 1");
        }
    }

    /** Returns the first epoch of the block that an epoch belongs to. */
    public static long firstOf(long epoch) {
        return epoch - epoch % EPOCHS;
    }

    /** Returns the name of a block below the directory of feeds. */
    public static String name(EpochChoice.Pass pass, long first) {
        return pass.folder() + String.format(Locale.ROOT, "%020d-%020d.json", first, first + (EPOCHS - 1));
    }

    /** Returns the version of an epoch of this block. */
    public long version(long epoch) {
        return versions.get(Math.toIntExact(epoch - first));
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
            json.writeNumberField("first", first);
            json.writeStringField("dataset", dataset.toString());
            json.writeArrayFieldStart("versions");
            for (long version : versions) {
                json.writeNumber(version);
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads the content of a block.
     *
     * @param file its name as the user knows it
     */
    public static EpochChoiceBlock decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, FORMAT);
        try {
            DatasetJson.require(json.path("format").intValue() == FORMAT, "format is not " + FORMAT);
            DatasetJson.require(json.path("versions").isArray(), "versions is not a list");
            List<Long> versions = new ArrayList<>();
            for (JsonNode version : json.path("versions")) {
                versions.add(number(version, "a version"));
            }
            return new EpochChoiceBlock(
                    new EpochChoice.Pass(
                            CanonicalUuid.parse(DatasetJson.text(json, "feed")),
                            DatasetJson.text(json, "stream"),
                            DatasetJson.text(json, "group")),
                    number(json.path("first"), "first"),
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    versions);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static long number(JsonNode json, String what) {
        DatasetJson.require(json.isIntegralNumber() && json.canConvertToLong(), what + " is not a number");
        return json.longValue();
    }
}
