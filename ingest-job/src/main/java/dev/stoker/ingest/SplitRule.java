package dev.stoker.ingest;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;

/** Into which split a sample goes. */
public sealed interface SplitRule extends Serializable {

    /** The split of what no rule says otherwise. */
    String DEFAULT = "train";

    /**
     * By the hash of the key.
     *
     * @param shares splits other than {@code train} and their shares, in the order in which they were given
     */
    record Shares(LinkedHashMap<String, Double> shares) implements SplitRule {
        private static final long serialVersionUID = 1;

        public Shares {
            shares = new LinkedHashMap<>(shares);
        }

        /** As it is typed, and kept with the dataset. */
        String text() {
            StringBuilder text = new StringBuilder();
            for (Map.Entry<String, Double> share : shares.entrySet()) {
                text.append(text.isEmpty() ? "" : ";")
                        .append(share.getKey())
                        .append('=')
                        .append(share.getValue());
            }
            return text.toString();
        }
    }

    /** The first directory of the path; a file that lies in none goes to {@code train}. */
    record TopDirectory() implements SplitRule {
        private static final long serialVersionUID = 1;
    }
}
