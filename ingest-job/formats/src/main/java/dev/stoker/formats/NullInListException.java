package dev.stoker.formats;

/** Thrown when something in a list is null: an item, or a list inside. */
public class NullInListException extends BadValueException {
    private static final long serialVersionUID = 1L;

    /** @param reason the reason as a clause */
    public NullInListException(String reason) {
        super(reason + "; fill it before");
    }

    /**
     * Returns the reason for an item that is null.
     *
     * @param list dotted name of the list
     */
    public static String item(String list) {
        return "an item of list '" + list + "' is null";
    }

    /**
     * Returns the reason for a list that is null inside another list.
     *
     * @param list dotted name of the inner list
     */
    public static String inner(String list) {
        return "a list inside '" + list + "' is null";
    }
}
