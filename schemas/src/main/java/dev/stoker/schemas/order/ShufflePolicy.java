package dev.stoker.schemas.order;

/** Lists the permutations of a lane's rows; steps 2 and 4 of the order function. */
public enum ShufflePolicy {
    /** Chunks of a lane are permuted, then the rows of each window of chunks. */
    WINDOW("window"),
    /** Chunks in ascending ordinal, rows in the order of the chunk. */
    NONE("none");

    private final String text;

    ShufflePolicy(String text) {
        this.text = text;
    }

    /** Returns the name in an order spec's JSON. */
    public String text() {
        return text;
    }

    @Override
    public String toString() {
        return text;
    }
}
