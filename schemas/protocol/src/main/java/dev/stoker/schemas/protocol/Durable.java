package dev.stoker.schemas.protocol;

/**
 * Reports how many acknowledgements of this session are durable in the ledger (server to client).
 *
 * @param entries number of ACK entries of this session, counted from its first
 */
public record Durable(long entries) implements Frame {
    public Durable {
        Fields.natural("entries", entries);
    }

    @Override
    public FrameType type() {
        return FrameType.DURABLE;
    }
}
