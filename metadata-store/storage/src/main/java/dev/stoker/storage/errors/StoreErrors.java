package dev.stoker.storage.errors;

import dev.stoker.schemas.errors.StokerException;

/** Tells errors of a store from errors of what it stores. */
public final class StoreErrors {

    private StoreErrors() {}

    /**
     * Throws the error again if the store has failed. Then nothing is known about the object. A caller that treats such
     * an error as damage takes an outage for the loss of data.
     */
    public static void rethrow(StokerException error) throws StokerException {
        if (error instanceof StoreUnavailableException
                || error instanceof StoreAccessException
                || error instanceof UnknownOutcomeException
                || error instanceof NoSpaceException) {
            throw error;
        }
    }
}
