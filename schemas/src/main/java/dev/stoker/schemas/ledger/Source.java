package dev.stoker.schemas.ledger;

import java.util.Objects;

/**
 * Identifies the data of a subscription: everything that the fingerprint covers, so a ledger can be checked against the
 * dataset alone.
 *
 * @param dataset the dataset's id
 * @param version its version
 * @param split the split
 * @param order the order spec, canonical JSON
 */
public record Source(String dataset, long version, String split, String order) {
    public Source {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(split, "split");
        Objects.requireNonNull(order, "order");
        if (version < 1) {
            throw new IllegalArgumentException("Version " + version);
        }
    }
}
