package dev.stoker.formats;

/** Thrown when an item of a list is null, and the sink does not take null items. */
public final class NullItemException extends NullInListException {
    private static final long serialVersionUID = 1L;

    /** @param list dotted name of the list */
    public NullItemException(String list) {
        super(item(list));
    }
}
