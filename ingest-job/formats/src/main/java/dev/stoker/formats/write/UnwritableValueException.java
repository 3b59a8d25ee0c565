package dev.stoker.formats.write;

import dev.stoker.schemas.errors.StokerException;

/** A format cannot hold a value of a sample. The message names the sample, the column and the option that helps. */
public final class UnwritableValueException extends StokerException {
    private static final long serialVersionUID = 1;

    /**
     * @param row names the row, for example by its key
     * @param column the column
     * @param reason a clause with the problem and the next step
     */
    public UnwritableValueException(String row, String column, String reason) {
        super("Cannot export the sample " + row + ", column " + column + ": " + reason);
    }
}
