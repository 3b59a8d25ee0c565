package dev.stoker.metadata.audit;

import java.io.Serializable;

/**
 * Identifies an epoch of a pass.
 *
 * @param pass the pass
 * @param epoch number of the epoch
 */
record EpochKey(PassKey pass, long epoch) implements Serializable {
    private static final long serialVersionUID = 1;
}
