package dev.stoker.schemas.protocol;

import dev.stoker.schemas.batch.View;
import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * Limits the session's batches to some columns (client to server).
 *
 * <pre>
 *  8 u32 columns    of the stream: the key and the fields of WELCOME
 * 12 u32 0
 * 16     bitmap     bit c mod 8 of byte c / 8 selects column c; the rest is 0
 * </pre>
 *
 * @param columns number of columns of the stream
 * @param selected the selected columns: 0 for the key, f + 1 for field f; at least one
 */
public record Select(int columns, BitSet selected) implements Frame {
    public static final int FIXED = 8;

    public Select {
        selected = (BitSet) selected.clone();
        if (selected.isEmpty() || selected.length() > columns) {
            throw new IllegalArgumentException(
                    "columns " + selected + ": expected at least one of the " + columns + " columns of the stream");
        }
    }

    /** Creates the frame for the columns of a view. */
    public static Select of(View view) {
        return new Select(view.available(), view.selected());
    }

    @Override
    public BitSet selected() {
        return (BitSet) selected.clone();
    }

    public ByteBuffer body(ByteBuffer out) {
        out.putInt(columns).putInt(0).put(selected.toByteArray());
        return out.position(out.limit()).flip();
    }

    public int bodyBytes() {
        return FIXED + bitmapBytes(columns);
    }

    private static int bitmapBytes(long columns) {
        return (int) ((columns + 7) / 8);
    }

    public static Select read(ByteBuffer body) throws ProtocolException {
        long columns = Integer.toUnsignedLong(body.getInt());
        if (body.getInt() != 0) {
            throw ProtocolException.badFrame("SELECT: reserved bytes are not 0");
        }
        if (columns > Integer.MAX_VALUE || body.remaining() != bitmapBytes(columns)) {
            throw ProtocolException.badFrame(
                    "SELECT: " + body.remaining() + " bytes left for a bitmap of " + columns + " columns");
        }
        return new Select((int) columns, BitSet.valueOf(body));
    }

    @Override
    public FrameType type() {
        return FrameType.SELECT;
    }
}
