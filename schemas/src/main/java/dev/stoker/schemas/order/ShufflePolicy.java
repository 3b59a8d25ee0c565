package dev.stoker.schemas.order;

/** Lists the permutations of a lane's rows; steps 2 and 4 of the order function. */
public enum ShufflePolicy {
    /** Chunks of a lane are permuted, then the rows of each window of chunks. */
    WINDOW("window"),
    /** Chunks in ascending ordinal, rows as they stand. */
    NONE("none");

    private final String text;

    ShufflePolicy(String text) {
        this.text = text;
    }

    /** The name in an order spec's JSON. */
    public String text() {
        return text;
    }

    @Override
    public String toString() {
        return text;
    }
}
