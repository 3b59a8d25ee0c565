package dev.stoker.metadata.follow;

import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.StokerException;

/** Thrown when an epoch of a following feed reads another version than the trainer's state names. */
public final class OtherVersionException extends StokerException {
    private static final long serialVersionUID = 1L;

    OtherVersionException(EpochChoice.Pass pass, long epoch, long chosen, long wanted) {
        super("epoch " + epoch + " of " + pass + " has version " + chosen + " here, but version " + wanted
                + " in the trainer's state: to resume from that state, use another group, or a feed with another name");
    }
}
