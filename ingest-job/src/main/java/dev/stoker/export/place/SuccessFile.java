package dev.stoker.export.place;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.Optional;

/** The file {@code _SUCCESS}: JSON with the key {@value #MARK}. */
public final class SuccessFile {
    /** Key of the version of the file. */
    public static final String MARK = "stoker_export";

    /** Key of the export's id. */
    public static final String ID = "id";

    private static final long MAX_BYTES = 256 << 20;

    private SuccessFile() {}

    /** Returns the content, if the file exists. */
    static Optional<byte[]> read(ObjectStore store) throws IOException {
        try {
            return Optional.of(store.readAll(ExportTarget.SUCCESS, MAX_BYTES));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
    }

    /** Returns whether Stoker wrote this content. */
    static boolean isOfExport(byte[] content) {
        return !json(content).path(MARK).isMissingNode();
    }

    /** Returns whether an export wrote this content. */
    static boolean isOf(byte[] content, String export) {
        return json(content).path(ID).asText().equals(export);
    }

    private static JsonNode json(byte[] content) {
        try {
            return Json.PLAIN.readTree(content);
        } catch (IOException e) {
            // Other systems write files of this name, too.
            return Json.object();
        }
    }
}
