package dev.stoker.ingest.spec;

import dev.stoker.schemas.dataset.DatasetInfo;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;

/** Assigns samples to splits. */
public sealed interface SplitRule extends Serializable {

    /** The split of samples that no rule assigns. */
    String DEFAULT = "train";

    /** The dataset's option with the rule from its creation. */
    String OPTION = "split";

    /** The rule with which a dataset was created. */
    static SplitRule kept(DatasetInfo info) {
        Object kept = info.options().get(OPTION);
        if (TopDirectory.TEXT.equals(kept)) {
            return new TopDirectory();
        }
        LinkedHashMap<String, Double> shares = new LinkedHashMap<>();
        if (kept instanceof String text) {
            for (String share : text.split(";", -1)) {
                int equals = share.indexOf('=');
                shares.put(share.substring(0, equals), Double.parseDouble(share.substring(equals + 1)));
            }
        }
        return new Shares(shares);
    }

    /** Puts the rule into the options of a dataset that is created with it. */
    default void keep(Map<String, Object> options) {
        if (this instanceof TopDirectory) {
            options.put(OPTION, TopDirectory.TEXT);
        } else if (this instanceof Shares given && !given.shares().isEmpty()) {
            options.put(OPTION, given.text());
        }
    }

    /**
     * Assigns by the hash of the key.
     *
     * @param shares splits other than {@code train} and their shares, in the order in which they were given
     */
    record Shares(LinkedHashMap<String, Double> shares) implements SplitRule {
        private static final long serialVersionUID = 1;

        public Shares {
            shares = new LinkedHashMap<>(shares);
        }

        /** The rule in its command-line form, which the dataset also stores. */
        public String text() {
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

    /** Assigns by the first directory of the path; a file outside any directory goes to {@code train}. */
    record TopDirectory() implements SplitRule {
        private static final long serialVersionUID = 1;
        private static final String TEXT = "top-dir";
    }
}
