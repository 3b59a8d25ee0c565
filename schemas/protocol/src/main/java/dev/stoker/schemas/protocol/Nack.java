package dev.stoker.schemas.protocol;

/**
 * Reports a piece whose checksum does not match; the server verifies it and sends it again (client to server).
 *
 * @param subscription the subscription it was sent for
 * @param epoch its epoch
 * @param number its virtual number
 * @param piece its index within the delivered batch
 * @param crc the checksum that the client computed
 */
public record Nack(long subscription, long epoch, long number, int piece, int crc) implements Frame {
    public Nack {
        Fields.u32("subscription", subscription);
        Fields.u32("epoch", epoch);
        Fields.natural("number", number);
        Fields.u16("piece", piece);
    }

    @Override
    public FrameType type() {
        return FrameType.NACK;
    }
}
