package dev.stoker.metadata;

import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.StokerException;

/** Thrown when an epoch of a following feed reads another version than the trainer's state names. */
public final class OtherVersionException extends StokerException {
    private static final long serialVersionUID = 1L;

    OtherVersionException(EpochChoice.Pass pass, long epoch, long chosen, long wanted) {
        super("epoch " + epoch + " of " + pass + " is version " + chosen + " here, the trainer's state is of version "
                + wanted + ": to resume from that state, use another group, or a feed with another name");
    }
}
