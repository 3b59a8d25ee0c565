package dev.stoker.connectors.files;

/** Why something in a tree of files is not a sample. The order of the constants is part of the bundles' layout. */
public enum FileSkip {
    /** The name starts with a dot; a hidden directory counts once, whatever is in it. */
    HIDDEN("hidden"),
    /** A file of no bytes. */
    EMPTY("empty"),
    /** A link to a directory that contains the link: following it would never end. */
    LOOP("link loops"),
    /** A link whose target does not exist. */
    BROKEN_LINK("broken links"),
    /** A link, and links are not followed. */
    LINK("links"),
    /** A socket, FIFO or device. */
    SPECIAL("special files"),
    /** Listed, but gone when it was to be read. */
    VANISHED("vanished"),
    /** The operating system refused to list or to read it. */
    UNREADABLE("unreadable"),
    /** Its size when read was not the size when listed; it is packed as it was read. */
    CHANGED("changed while read (packed as read)"),
    /** Above the largest payload that a chunk takes. */
    TOO_LARGE("too large"),
    /** A sidecar without a sample beside it. */
    LONE_SIDECAR("sidecars without a sample"),
    /** A sample lacks a file that it needs beside it. */
    NO_SIDECAR("without a sidecar that is needed"),
    /** The asked label could not be derived. */
    NO_LABEL("without a label"),
    /** The name is no valid UTF-8. */
    BAD_NAME("names that are not UTF-8");

    private static final FileSkip[] VALUES = values();

    private final String text;

    FileSkip(String text) {
        this.text = text;
    }

    /** For reports, after a number. */
    public String text() {
        return text;
    }

    static int count() {
        return VALUES.length;
    }

    static FileSkip of(int code) {
        return VALUES[code];
    }
}
