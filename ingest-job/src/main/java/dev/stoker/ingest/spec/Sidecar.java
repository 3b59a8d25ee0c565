package dev.stoker.ingest.spec;

import java.io.Serializable;

/**
 * A file next to each sample that provides a further field.
 *
 * @param ending replaces the sample's extension, for example {@code .txt}
 * @param field name of the field
 * @param type of the field, canonical
 */
public record Sidecar(String ending, String field, String type) implements Serializable {
    private static final long serialVersionUID = 1;
}
