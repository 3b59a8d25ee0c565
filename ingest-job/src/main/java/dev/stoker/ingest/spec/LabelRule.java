package dev.stoker.ingest.spec;

import java.io.Serializable;
import java.util.regex.Pattern;

/** The source of a sample's class. */
public sealed interface LabelRule extends Serializable {

    /** The name of the directory that holds the file. */
    record ParentDirectory() implements LabelRule {
        private static final long serialVersionUID = 1;
    }

    /**
     * A part of the key.
     *
     * @param pattern found in the key; its group {@code label}, or else its first group, is the class
     */
    record Regex(Pattern pattern) implements LabelRule {
        private static final long serialVersionUID = 1;
    }

    /**
     * A table.
     *
     * @param file absolute path or URI of a file with one line for each sample: its key, a comma, its class
     */
    record Csv(String file) implements LabelRule {
        private static final long serialVersionUID = 1;
    }
}
