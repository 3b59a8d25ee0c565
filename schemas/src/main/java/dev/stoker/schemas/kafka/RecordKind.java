package dev.stoker.schemas.kafka;

/** Lists the kinds of records of a topic. */
public enum RecordKind {
    /** The first record of an epoch in a partition. */
    EPOCH_BEGIN("epoch-begin"),
    /** A piece of a batch, or a numbered part of one. */
    BATCH("batch"),
    /** The last record of an epoch in a partition. */
    EPOCH_END("epoch-end");

    private final String text;

    RecordKind(String text) {
        this.text = text;
    }

    /** Returns the value of the header {@code stoker.kind}. */
    public String text() {
        return text;
    }
}
