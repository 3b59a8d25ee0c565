package dev.stoker.schemas.errors;

/** Thrown when a file or a peer uses a format version that this release does not know. */
public final class FormatTooNewException extends StokerException {
    private static final long serialVersionUID = 1L;

    /**
     * @param file the file's name as the user knows it
     * @param found the version that the file states
     * @param newestKnown the newest version that this release reads
     */
    public FormatTooNewException(String file, String found, int newestKnown) {
        super(file + " has format version " + found + "; this release reads versions up to " + newestKnown
                + "; update Stoker to read it");
    }
}
