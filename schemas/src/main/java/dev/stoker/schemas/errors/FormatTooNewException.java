package dev.stoker.schemas.errors;

import java.util.List;
import java.util.stream.Collectors;

/** Thrown when a file or a peer uses a format version or a feature that this release does not know. */
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

    /**
     * @param container the name of the file or message as the user knows it
     * @param unknown the features that it requires and this release does not know; at least one
     */
    public FormatTooNewException(String container, List<String> unknown) {
        super(container + " needs the feature" + (unknown.size() > 1 ? "s " : " ")
                + unknown.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", "))
                + ", which this release does not know; a newer Stoker wrote it; update Stoker to read it");
    }
}
