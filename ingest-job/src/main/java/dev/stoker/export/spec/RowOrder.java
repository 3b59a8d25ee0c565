package dev.stoker.export.spec;

import dev.stoker.schemas.order.OrderSpec;
import java.io.Serializable;

/** The order of samples in the files. */
public sealed interface RowOrder extends Serializable {
    /** As stored: chunk by chunk in the order of their commits. */
    record Stored() implements RowOrder {
        private static final long serialVersionUID = 1;

        @Override
        public String toString() {
            return "stored";
        }
    }

    /**
     * The order in which one trainer receives an epoch.
     *
     * @param epoch number of the epoch, from 0
     * @param spec the order spec as JSON, because plans are serialized
     */
    record Epoch(long epoch, String spec) implements RowOrder {
        private static final long serialVersionUID = 1;

        /** Returns the order spec. */
        public OrderSpec orderSpec() {
            return OrderSpec.fromJson(spec);
        }

        @Override
        public String toString() {
            return "epoch " + epoch + " of " + spec;
        }
    }
}
