package dev.stoker.export.place;

import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.Serializable;

/**
 * The place of an export. Serialized with the job's graph.
 *
 * @param location directory or URI
 * @param export id of the export
 * @param existing whether an earlier export at this place is replaced
 */
public record TargetLocation(String location, String export, Existing existing) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Whether an earlier export is replaced. */
    public enum Existing {
        REFUSE,
        REPLACE
    }

    /** Opens the target; the caller closes it. */
    public ExportTarget open() throws IOException {
        return Stores.isRemote(location) ? new RemoteTarget(this) : new LocalTarget(this);
    }
}
