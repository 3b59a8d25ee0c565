package dev.stoker.metadata;

import dev.stoker.schemas.errors.StokerException;

/** Thrown when a version was expired, so that files of its chunks may be deleted. */
public final class ExpiredVersionException extends StokerException {
    private static final long serialVersionUID = 1L;

    ExpiredVersionException(String where, long version, long by, long oldestKept) {
        super("Version " + version + " of the dataset " + where + " was expired by version " + by
                + "; the oldest version that was kept is " + oldestKept);
    }
}
