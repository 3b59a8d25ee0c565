package dev.stoker.schemas.protocol;

/**
 * Server to client: how much of what was acknowledged on this session is in the ledger for good.
 *
 * @param entries ACK entries of this session, counted from its first
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
