package dev.stoker.server.feed;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What one ACK frame of a trainer confirmed: pieces received, with the checksums as the trainer computed them.
 *
 * <p>Keeps the frame's own 32-byte entries; accessors decode in place. Immutable.
 */
public final class ReceiptsItem implements LedgerItem {
    static final int ENTRY_BYTES = 32;

    private final long atMs;
    private final Identity identity;
    private final String fingerprint;
    private final long epoch;
    private final long last;
    private final long viewTag;
    private final ByteBuffer entries;

    /**
     * Takes over {@code entries}, whose length is a multiple of 32.
     *
     * @param last the {@linkplain SubscriptionItem#end end} of the trainer's newest subscription, or -1 if it has none
     *     or the receipts are of another epoch
     * @param viewTag identifies the columns of the pieces
     */
    public ReceiptsItem(
            long atMs, Identity identity, String fingerprint, long epoch, long last, long viewTag, byte[] entries) {
        if (entries.length % ENTRY_BYTES != 0) {
            throw new IllegalArgumentException(entries.length + " bytes are not a whole number of receipts");
        }
        this.atMs = atMs;
        this.identity = identity;
        this.fingerprint = fingerprint;
        this.epoch = epoch;
        this.last = last;
        this.viewTag = viewTag;
        this.entries = ByteBuffer.wrap(entries).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public long atMs() {
        return atMs;
    }

    @Override
    public Identity identity() {
        return identity;
    }

    @Override
    public String fingerprint() {
        return fingerprint;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    /** The number whose receipt says that the trainer has finished the epoch, or -1 if that is not known. */
    public long last() {
        return last;
    }

    /** The tag of the columns that the pieces have. */
    public long viewTag() {
        return viewTag;
    }

    @Override
    public int weight() {
        return Math.max(1, count());
    }

    /** Receipts in this item. */
    public int count() {
        return entries.capacity() / ENTRY_BYTES;
    }

    /** The virtual number of receipt {@code i}. */
    public long number(int i) {
        return entries.getLong(i * ENTRY_BYTES);
    }

    /** The piece's index within its delivered batch. */
    public int piece(int i) {
        return Short.toUnsignedInt(entries.getShort(i * ENTRY_BYTES + 8));
    }

    /** Whether the piece repeats rows of the epoch. */
    public boolean repeated(int i) {
        return (entries.getShort(i * ENTRY_BYTES + 10) & 1) != 0;
    }

    /** CRC-32C of the piece's header and message, as received. */
    public int crc(int i) {
        return entries.getInt(i * ENTRY_BYTES + 12);
    }

    /** Rows in the piece. */
    public int rows(int i) {
        return entries.getInt(i * ENTRY_BYTES + 16);
    }

    /** Rows left out of the piece because they were damaged. */
    public int skipped(int i) {
        return entries.getInt(i * ENTRY_BYTES + 20);
    }

    /** Rows of chunk files that the piece was made from. */
    public int sourceRows(int i) {
        return entries.getInt(i * ENTRY_BYTES + 24);
    }

    /** CRC-32C of the message that these rows make with all columns. */
    public int sourceCrc(int i) {
        return entries.getInt(i * ENTRY_BYTES + 28);
    }

    @Override
    public String toString() {
        return count() + " receipts of " + identity + " epoch " + epoch;
    }
}
