package dev.stoker.connectors.files;

/** The reasons for skipping an entry of a tree. The order of the constants is part of the bundles' layout. */
public enum FileSkip {
    /** The name starts with a dot. A hidden directory counts once, whatever its contents. */
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
    /** The file was listed, but no longer existed when it was read. */
    VANISHED("vanished"),
    /** The operating system refused to list or read the entry. */
    UNREADABLE("unreadable"),
    /** The size when read differed from the size when listed; the file is packed with the bytes read. */
    CHANGED("changed while read (packed as read)"),
    /** The file is larger than the largest payload of a chunk. */
    TOO_LARGE("too large"),
    /** A sidecar without a sample beside it. */
    LONE_SIDECAR("sidecars without a sample"),
    /** A sample lacks a required sidecar. */
    NO_SIDECAR("without a sidecar that is needed"),
    /** The requested label could not be derived. */
    NO_LABEL("without a label"),
    /** The name is not valid UTF-8. */
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
