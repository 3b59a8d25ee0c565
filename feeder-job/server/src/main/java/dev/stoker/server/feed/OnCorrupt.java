package dev.stoker.server.feed;

/** What happens when a sample stays damaged after it was read again. */
public enum OnCorrupt {
    /** The session ends with an error that names chunk, row and key. */
    FAIL,
    /** The row is left out; message header and ledger say so, and nothing is renumbered. */
    SKIP
}
