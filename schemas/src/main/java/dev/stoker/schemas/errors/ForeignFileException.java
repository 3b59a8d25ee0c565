package dev.stoker.schemas.errors;

/** A file is intact as far as can be told, but is not the file that was asked for: another kind, dataset or chunk. */
public final class ForeignFileException extends StokerException {
    private static final long serialVersionUID = 1L;

    /**
     * @param file the file's name as the user knows it
     * @param expected what the file should have been
     * @param found what it is instead
     */
    public ForeignFileException(String file, String expected, String found) {
        super(file + " is not " + expected + ": " + found
                + "; check the path, and that the file was not put there by hand or by another program");
    }
}
