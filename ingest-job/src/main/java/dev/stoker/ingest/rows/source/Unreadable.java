package dev.stoker.ingest.rows.source;

import java.io.Serializable;

/**
 * A file that could not be opened, and is left out.
 *
 * @param path path in its tree
 * @param location whole path
 * @param reason the problem
 */
public record Unreadable(String path, String location, String reason) implements Serializable {
    private static final long serialVersionUID = 1;
}
