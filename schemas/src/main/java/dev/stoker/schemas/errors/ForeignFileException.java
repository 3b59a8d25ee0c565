package dev.stoker.schemas.errors;

/**
 * Thrown when a file is not the requested one, although no damage was found: it has another kind, dataset or chunk.
 */
public final class ForeignFileException extends StokerException {
    private static final long serialVersionUID = 1L;

    /**
     * @param file the file's name as the user knows it
     * @param expected the requested kind of file
     * @param found the actual kind of file
     */
    public ForeignFileException(String file, String expected, String found) {
        super(file + " is not " + expected + ": " + found
                + "; check the path, and that the file was not put there by hand or by another program");
    }
}
