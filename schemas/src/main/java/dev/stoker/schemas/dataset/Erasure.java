package dev.stoker.schemas.dataset;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * Records an erasure of samples, without their keys. There is one file for each {@link Phase}; the file of the last
 * phase is the certificate. Normative: {@code docs/formats/dataset.md}, "Erasures".
 *
 * @param dataset id of the dataset
 * @param name name of the dataset
 * @param id id of the erasure
 * @param keys the keys of the erased samples
 * @param began time of the beginning, in whole milliseconds
 * @param by user and host, for people
 * @param result what the erasure deletes and changes; empty in the first phase
 */
public record Erasure(
        UUID dataset,
        String name,
        String id,
        KeyHashes keys,
        Instant began,
        String by,
        Optional<ErasureResult> result) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a file; enough for millions of keys. */
    public static final int MAX_BYTES = 1 << 28;

    /** Maximum number of keys of one erasure, so that the file stays below its maximum length. */
    public static final int MAX_KEYS = 2_000_000;

    /** The phases of an erasure, in their order. */
    public enum Phase {
        /** The keys are known. */
        BEGUN("begun.json"),
        /** The chunk files to delete are known, and no version has them any more. */
        DELETING("deleting.json"),
        /** Everything is deleted. */
        DONE("certificate.json");

        private final String file;

        Phase(String file) {
            this.file = file;
        }

        /** Returns the name of the phase's file in the directory of the erasure. */
        public String file() {
            return file;
        }
    }

    public Erasure {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(by, "by");
        Objects.requireNonNull(result, "result");
        if (id.isEmpty()) {
            throw new IllegalArgumentException("an erasure without an id");
        }
        if (keys.hashes().isEmpty()) {
            throw new IllegalArgumentException("an erasure without a key");
        }
        SealedJson.requireMillis("The time of the erasure", began);
        result.flatMap(ErasureResult::ended)
                .ifPresent(ended -> SealedJson.requireMillis("The time of the erasure", ended));
    }

    /** Returns the phase that this file belongs to. */
    public Phase phase() {
        return result.isEmpty() ? Phase.BEGUN : result.get().ended().isEmpty() ? Phase.DELETING : Phase.DONE;
    }

    /** Returns the same erasure with a result. */
    public Erasure with(ErasureResult next) {
        return new Erasure(dataset, name, id, keys, began, by, Optional.of(next));
    }

    /** Returns the content of the file. */
    public byte[] encode() {
        return ErasureJson.encode(this);
    }

    /**
     * Reads the content of a file.
     *
     * @param file its name as the user knows it
     */
    public static Erasure decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return ErasureJson.decode(content, file);
    }
}
