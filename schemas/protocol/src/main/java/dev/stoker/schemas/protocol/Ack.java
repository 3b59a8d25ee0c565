package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Acknowledges pieces that the trainer has consumed (client to server). Stores each entry in its 32 bytes of the wire
 * format, because servers pass on thousands of them.
 *
 * <pre>
 *  0 u64 virtual number    8 u16 piece    10 u16 flags (bit 0: repeated)
 * 12 u32 crc              16 u32 rows     20 u32 skipped
 * 24 u32 source rows      28 u32 source crc
 * </pre>
 */
public final class Ack implements Frame {
    private static final int FIXED = 16;
    private static final int FLAGS = 10;
    private static final int REPEATED = 1;

    private final long subscription;
    private final long epoch;
    private final byte[] entries;
    private final ByteBuffer view;

    /** @param entries at least one */
    public Ack(long subscription, long epoch, List<AckEntry> entries) {
        this(subscription, epoch, pack(entries));
    }

    /** @param entries complete entries; the frame takes ownership of the array */
    public Ack(long subscription, long epoch, byte[] entries) {
        Fields.u32("subscription", subscription);
        Fields.u32("epoch", epoch);
        this.subscription = subscription;
        this.epoch = epoch;
        this.entries = entries;
        this.view = ByteBuffer.wrap(entries).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count(); i++) {
            if (view.getLong(i * AckEntry.BYTES) < 0) {
                throw new IllegalArgumentException(
                        "entry " + i + ": number is " + Long.toUnsignedString(number(i)) + ": expected 0 … 2^63-1");
            }
            int flags = Short.toUnsignedInt(view.getShort(i * AckEntry.BYTES + FLAGS));
            if ((flags & ~REPEATED) != 0) {
                throw new IllegalArgumentException("entry " + i + ": flags are " + flags + ": expected 0 or 1");
            }
        }
    }

    private static byte[] pack(List<AckEntry> entries) {
        ByteBuffer out = ByteBuffer.allocate(entries.size() * AckEntry.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (AckEntry entry : entries) {
            out.putLong(entry.number()).putShort((short) entry.piece());
            out.putShort((short) (entry.repeated() ? REPEATED : 0)).putInt(entry.crc());
            out.putInt((int) entry.rows()).putInt((int) entry.skipped());
            out.putInt((int) entry.sourceRows()).putInt(entry.sourceCrc());
        }
        return out.array();
    }

    public long subscription() {
        return subscription;
    }

    public long epoch() {
        return epoch;
    }

    /** Returns the number of entries. */
    public int count() {
        return entries.length / AckEntry.BYTES;
    }

    public long number(int i) {
        return view.getLong(i * AckEntry.BYTES);
    }

    public int piece(int i) {
        return Short.toUnsignedInt(view.getShort(i * AckEntry.BYTES + 8));
    }

    public boolean repeated(int i) {
        return view.getShort(i * AckEntry.BYTES + FLAGS) != 0;
    }

    public int crc(int i) {
        return view.getInt(i * AckEntry.BYTES + 12);
    }

    public long rows(int i) {
        return Integer.toUnsignedLong(view.getInt(i * AckEntry.BYTES + 16));
    }

    public long skipped(int i) {
        return Integer.toUnsignedLong(view.getInt(i * AckEntry.BYTES + 20));
    }

    public long sourceRows(int i) {
        return Integer.toUnsignedLong(view.getInt(i * AckEntry.BYTES + 24));
    }

    public int sourceCrc(int i) {
        return view.getInt(i * AckEntry.BYTES + 28);
    }

    /** Returns one entry as a value. */
    public AckEntry entry(int i) {
        return new AckEntry(number(i), piece(i), repeated(i), crc(i), rows(i), skipped(i), sourceRows(i), sourceCrc(i));
    }

    /** Returns all entries as values. */
    public List<AckEntry> entries() {
        List<AckEntry> list = new ArrayList<>(count());
        for (int i = 0; i < count(); i++) {
            list.add(entry(i));
        }
        return list;
    }

    /** Returns a copy of the entries in the wire format. */
    public byte[] entryBytes() {
        return entries.clone();
    }

    public byte[] rawEntries() {
        return entries;
    }

    public ByteBuffer body() {
        ByteBuffer out = ByteBuffer.allocate(FIXED + entries.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt((int) subscription).putInt((int) epoch);
        return out.putInt(count()).putInt(0).put(entries).flip();
    }

    public static Ack read(ByteBuffer body) throws ProtocolException {
        long subscription = Integer.toUnsignedLong(body.getInt());
        long epoch = Integer.toUnsignedLong(body.getInt());
        long count = Integer.toUnsignedLong(body.getInt());
        if (body.getInt() != 0) {
            throw ProtocolException.badFrame("ACK: reserved bytes are not 0");
        }
        if (body.remaining() != count * AckEntry.BYTES) {
            throw ProtocolException.badFrame("ACK: " + body.remaining() + " bytes left for " + count + " entries");
        }
        byte[] entries = new byte[body.remaining()];
        body.get(entries);
        return new Ack(subscription, epoch, entries);
    }

    @Override
    public FrameType type() {
        return FrameType.ACK;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ack that
                && subscription == that.subscription
                && epoch == that.epoch
                && Arrays.equals(entries, that.entries);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(entries) * 31 + Long.hashCode(subscription ^ epoch << 32);
    }

    @Override
    public String toString() {
        return "Ack[subscription=" + subscription + ", epoch=" + epoch + ", " + count() + " entries]";
    }
}
