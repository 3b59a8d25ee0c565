package dev.stoker.connectors.files;

import dev.stoker.schemas.text.Units;
import java.util.Locale;

/** The reasons for skipping an entry of a tree. The order of the constants is part of the bundles' layout. */
public enum FileSkip {
    /** The name starts with a dot. A hidden directory counts once, whatever its contents. */
    HIDDEN("hidden"),
    /** A file of no bytes. */
    EMPTY("empty"),
    /** A link to a directory that contains the link: following it would never end. */
    LOOP("link loop", "link loops"),
    /** A link whose target does not exist. */
    BROKEN_LINK("broken link", "broken links"),
    /** A link, and links are not followed. */
    LINK("link", "links"),
    /** A socket, FIFO or device. */
    SPECIAL("special file", "special files"),
    /** The file was listed, but no longer existed when it was read. */
    VANISHED("vanished"),
    /** The operating system refused to list or read the entry. */
    UNREADABLE("unreadable"),
    /** The size when read differed from the size when listed; the file is packed with the bytes read. */
    CHANGED("changed while read (packed as read)"),
    /** The file is larger than the largest payload of a chunk. */
    TOO_LARGE("too large"),
    /** A sidecar without a sample beside it. */
    LONE_SIDECAR("sidecar without a sample", "sidecars without a sample"),
    /** A sample lacks a required sidecar. */
    NO_SIDECAR("without a sidecar that is needed"),
    /** The requested label could not be derived. */
    NO_LABEL("without a label"),
    /** The name is not valid UTF-8. */
    BAD_NAME("name that is not UTF-8", "names that are not UTF-8"),
    /** A row that cannot be a sample. */
    BAD_ROW("row that cannot be a sample", "rows that cannot be samples"),
    /** A part of a file, such as a row group, whose rows cannot be read. */
    DAMAGED("damaged row or part of a file", "damaged rows or parts of files"),
    /** A row that does not satisfy {@code --where}. */
    EXCLUDED("row that --where excludes", "rows that --where excludes"),
    /** A file whose directories exclude it by {@code --where}, so that its rows are not even counted. */
    EXCLUDED_FILE("file whose directory --where excludes", "files whose directories --where excludes"),
    /** The dataset already has the key, and its sample stays. */
    STORED("key that the dataset already has", "keys that the dataset already has"),
    /** Another sample of the source has the same key. */
    REPEATED("repeated key", "repeated keys"),
    /** {@code --include} or an {@code --exclude} option leaves out the file. An excluded directory counts once. */
    NOT_WANTED("unwanted by name or key");

    /** Begins the names of numbers of entries in the properties of a version. */
    public static final String NOTE_PREFIX = "skipped.";

    private static final FileSkip[] VALUES = values();

    private final String one;
    private final String many;

    FileSkip(String text) {
        this(text, text);
    }

    FileSkip(String one, String many) {
        this.one = one;
        this.many = many;
    }

    /** For reports: a number of entries and the reason. */
    public String text(long entries) {
        return Units.count(entries) + " " + (entries == 1 ? one : many);
    }

    /** Returns the name of the number of entries in the properties of a version. */
    public String note() {
        return NOTE_PREFIX + name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether an option or a rule of the tree leaves such entries out, so that nothing is missing. */
    public boolean isAsked() {
        return switch (this) {
            case HIDDEN, EMPTY, LOOP, LINK, SPECIAL, EXCLUDED, EXCLUDED_FILE, STORED, NOT_WANTED -> true;
            default -> false;
        };
    }

    static int count() {
        return VALUES.length;
    }

    static FileSkip of(int code) {
        return VALUES[code];
    }
}
