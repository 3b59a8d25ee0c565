package dev.stoker.schemas.order;

/** Lists the orders in which lanes take turns within a round of full batches; step 5 of the order function. */
public enum LaneOrder {
    /** Permuted anew in each round. */
    MIXED("mixed"),
    /** Ascending, so that a rank talks to few feeders and a partition keeps its place. */
    FIXED("fixed");

    private final String text;

    LaneOrder(String text) {
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
