package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.metadata.diff.SampleDigest;

/**
 * What a sync knows about a stored sample. It travels through the sort as the numbers of a {@link FileEntry}.
 *
 * @param place of the sample
 * @param length of the content of its file
 * @param before its file has the same content if it has not changed since this time, in milliseconds since 1970
 * @param labelHash hash of its class
 * @param sidecars bit i is set if the field of sidecar i has a value
 * @param content identifies the content of its file
 * @param values identifies all other fields
 * @param origin where its values come from
 */
record StoredState(
        StoredRow place,
        long length,
        long before,
        long labelHash,
        long sidecars,
        SampleDigest.Content content,
        SampleDigest.Content values,
        Origin origin) {

    /** Where the values of a sample come from. All other components describe the values in its chunk. */
    enum Origin {
        /** From its file. */
        PACKED,
        /** An update has set some of them. */
        UPDATED,
        /** An update may have set some of them: a compaction has written them into the chunk. */
        MERGED
    }

    /** The time of a sample whose file must be read. */
    static final long ALWAYS = Long.MIN_VALUE;

    /** Returns the state as further numbers of an entry whose size and time are the place. */
    long[] numbers() {
        return new long[] {
            length,
            before,
            labelHash,
            sidecars,
            content.high(),
            content.low(),
            values.high(),
            values.low(),
            origin.ordinal()
        };
    }

    static StoredState of(FileEntry taken) {
        long[] numbers = taken.sidecars();
        return new StoredState(
                TakenKeysOperator.place(taken),
                numbers[0],
                numbers[1],
                numbers[2],
                numbers[3],
                new SampleDigest.Content(numbers[4], numbers[5]),
                new SampleDigest.Content(numbers[6], numbers[7]),
                Origin.values()[(int) numbers[8]]);
    }
}
