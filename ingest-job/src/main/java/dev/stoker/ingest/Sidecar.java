package dev.stoker.ingest;

import java.io.Serializable;

/**
 * A file beside each sample that holds a further field.
 *
 * @param ending what replaces the sample's extension, such as {@code .txt}
 * @param field name of the field
 * @param type of the field, canonical
 */
public record Sidecar(String ending, String field, String type) implements Serializable {
    private static final long serialVersionUID = 1;
}
