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
import java.util.Objects;
import java.util.UUID;

/**
 * Protects the chunks of a running ingest from deletion before they are committed. Written once, as UTF-8, compact,
 * with the keys in this order:
 *
 * <pre>
 * {"self":"stoker.crc32c=…","format":1,"dataset":…,"ingest":…,"created":…,"by":…,"process":…}
 * </pre>
 *
 * @param dataset id of the dataset
 * @param ingest id of the ingest, which its chunks contain
 * @param created time of creation, in whole milliseconds
 * @param by user and host of the writer, for people
 * @param process the only process that writes under this lease, as described in docs/formats/dataset.md; empty if the
 *     ingest is not bound to one process
 */
public record Lease(UUID dataset, String ingest, Instant created, String by, String process) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a lease. */
    public static final int MAX_BYTES = 1 << 14;

    private static final String KIND = "a lease of an ingest";
    private static final byte[] START = "{\"self\":\"".getBytes(StandardCharsets.US_ASCII);

    public Lease {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(by, "by");
        Objects.requireNonNull(process, "process");
        if (ingest.isEmpty()) {
            throw new IllegalArgumentException("Empty ingest id");
        }
        if (!created.equals(created.truncatedTo(ChronoUnit.MILLIS))) {
            throw new IllegalArgumentException("The time of the lease has parts of a millisecond: " + created);
        }
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
            json.writeStringField("ingest", ingest);
            json.writeStringField("created", DatasetJson.TIME.format(created));
            json.writeStringField("by", by);
            json.writeStringField("process", process);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return SelfChecksum.seal(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads the content of a lease.
     *
     * @param file its name as the user knows it
     */
    public static Lease decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        SelfChecksum.verify(content, file, KIND, START);
        JsonNode json = DatasetJson.read(content, file, FORMAT);
        try {
            DatasetJson.require(json.path("format").intValue() == FORMAT, "format is not " + FORMAT);
            return new Lease(
                    CanonicalUuid.parse(DatasetJson.text(json, "dataset")),
                    DatasetJson.text(json, "ingest"),
                    DatasetJson.TIME.parse(DatasetJson.text(json, "created"), Instant::from),
                    DatasetJson.text(json, "by"),
                    DatasetJson.text(json, "process"));
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }
}
