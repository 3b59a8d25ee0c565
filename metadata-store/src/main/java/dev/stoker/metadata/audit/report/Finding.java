package dev.stoker.metadata.audit.report;

import java.io.Serializable;
import java.util.Locale;
import java.util.Objects;

/**
 * Describes a problem that an audit found.
 *
 * @param kind kind of the problem
 * @param message the problem, its location, and the expected and found values
 * @param batches number of affected batches; 0 if it affects no batch in particular
 */
public record Finding(Kind kind, String message, long batches) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Lists the kinds of problems. */
    public enum Kind {
        /** A batch that was passed over: nobody acknowledged it, but later ones were acknowledged. */
        MISSING,
        /** A receipt that differs from the order and the chunks. */
        ALTERED,
        /** A record of a batch, trainer, stream or feed that does not belong to this ledger. */
        FOREIGN,
        /** A ledger file that is missing, truncated or changed. */
        DAMAGED_LEDGER,
        /** The dataset is damaged, or lacks data that the audit needs. */
        DAMAGED_DATASET;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    public Finding {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(message, "message");
    }
}
