package dev.stoker.schemas.dataset;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.time.Instant;
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

    private static final SealedJson FILES = new SealedJson("a lease of an ingest", FORMAT, MAX_BYTES);

    public Lease {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(by, "by");
        Objects.requireNonNull(process, "process");
        if (ingest.isEmpty()) {
            throw new IllegalArgumentException("Empty ingest id");
        }
        SealedJson.requireMillis("The time of the lease", created);
    }

    /**
     * Returns the content of the file.
     *
     * @throws IllegalArgumentException if a text contains the mark of the self-checksum
     */
    public byte[] encode() {
        return FILES.encode(json -> json.put("dataset", dataset.toString())
                .put("ingest", ingest)
                .put("created", SealedJson.time(created))
                .put("by", by)
                .put("process", process));
    }

    /**
     * Reads the content of a lease.
     *
     * @param file its name as the user knows it
     */
    public static Lease decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return FILES.decode(
                content,
                file,
                keys -> new Lease(
                        keys.id("dataset"),
                        keys.text("ingest"),
                        keys.time("created"),
                        keys.text("by"),
                        keys.text("process")));
    }
}
