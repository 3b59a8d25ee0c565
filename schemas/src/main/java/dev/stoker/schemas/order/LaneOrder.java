package dev.stoker.schemas.order;

/** Lists the orders in which lanes take turns within a round of full batches; step 5 of the order function. */
public enum LaneOrder {
    /** A new permutation in each round. */
    MIXED("mixed"),
    /** Ascending lanes, so that a rank connects to few feeders and a partition keeps its position. */
    FIXED("fixed");

    private final String text;

    LaneOrder(String text) {
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
