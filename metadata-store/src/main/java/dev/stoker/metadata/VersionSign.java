package dev.stoker.metadata;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Records that a version was committed, in a small file beside the log. If the newest log entry is lost, the sign shows
 * it, so no commit can give the version's number to other content. Normative: {@code docs/formats/dataset.md}, "Version
 * signs".
 */
public final class VersionSign {

    /** Length of the longest ingest id with its line feed. */
    private static final int MAX_BYTES = 129;

    private VersionSign() {}

    /** Returns the content of the sign of a version. */
    public static byte[] content(String ingest) {
        return (ingest + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes the sign of a version whose entry exists, unless the sign exists. */
    public static void leave(ObjectStore store, long version, String ingest) throws IOException {
        store.createIfAbsent(DatasetLayout.versionSign(version), content(ingest));
    }

    /** Returns the ingest that a sign names; an empty text if the sign does not name one. */
    public static String read(ObjectStore store, long version) throws IOException {
        try {
            String name = DatasetLayout.versionSign(version);
            String content = new String(store.readAll(name, MAX_BYTES), StandardCharsets.US_ASCII);
            return DatasetLayout.checkIngestId(content.strip());
        } catch (NoSuchObjectException | CorruptDataException | IllegalArgumentException e) {
            return "";
        }
    }
}
