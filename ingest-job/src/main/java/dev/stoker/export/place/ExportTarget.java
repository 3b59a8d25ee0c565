package dev.stoker.export.place;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** A directory of files that becomes complete for readers in one step. For one thread. */
public interface ExportTarget extends Closeable {
    /** The file whose existence says that an export is complete. */
    String SUCCESS = "_SUCCESS";

    /**
     * Checks that the target is free, or replaceable, and prepares it. Writes as little as possible.
     *
     * @throws dev.stoker.export.spec.InvalidExportException if the target cannot be used
     */
    void begin() throws IOException;

    /** Checks the target like {@link #begin}, and changes nothing. */
    void check() throws IOException;

    /**
     * Returns the directories beside the target that other exports to it have left, or still use. A killed export
     * leaves its directory.
     */
    default List<String> others() throws IOException {
        return List.of();
    }

    /** Returns the store for the files of the export. Readers do not see them, or see that they are not complete. */
    ObjectStore files();

    /**
     * Makes the export complete, after its last task has ended. Deletes the temporary files of tasks that were killed.
     * Does nothing if the export is complete.
     *
     * @param description content of {@link #SUCCESS}
     */
    void commit(byte[] description) throws IOException;

    /** Deletes the temporary files of tasks that were killed, and no other. */
    default void deleteUnfinished() throws IOException {
        for (ObjectInfo file : files().listUnfinished("").toList()) {
            files().delete(file.name());
        }
    }

    /** Returns the content of {@link #SUCCESS}, if this export is complete. */
    Optional<byte[]> committed() throws IOException;

    /** Deletes the files of an export that has failed. */
    void abandon() throws IOException;
}
