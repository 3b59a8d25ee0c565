package dev.stoker.storage.retry;

/** Lists the kinds of failures by the possible reaction. */
public enum StoreFailureKind {
    /** The object does not exist. */
    ABSENT,
    /** Credentials are missing, wrong or not sufficient. */
    DENIED,
    /** The credentials were valid and must be renewed. */
    EXPIRED,
    NO_SPACE,
    /**
     * No data node of HDFS accepts a block: the nodes are down or full, or the name node has just started and does not
     * know them.
     */
    NO_NODES,
    /** The store has understood the request and will answer the same again. */
    REFUSED,
    /** The next attempt may succeed. */
    TRANSIENT
}
