package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Answers a {@link ListSamples} (server to client). The entries are in the order of the bytes of their names.
 *
 * <pre>
 *  8 u32 request
 * 12 u32 entries
 * 16 u64 version    of the dataset
 * 24 u32 flags      bit 0: there are more entries after these
 * 28 u32 0
 * 32     entries
 *        names      of all entries, one after the other
 * </pre>
 *
 * @param request number of the request
 * @param version the version that is listed
 * @param hasMore whether the listing continues after the last of these entries
 * @param entries the entries
 */
public record Entries(long request, long version, boolean hasMore, List<Entry> entries) implements Frame {
    public static final int FIXED = 24;
    private static final int MORE = 1;

    /**
     * An entry of a listing.
     *
     * <pre>
     *  0 u32 name    bytes of the name
     *  4 u32 kind    0 common prefix, 1 sample
     *  8 u64 ordinal   16 u32 row   20 u32 length   24 u32 CRC-32C
     * 28 u32 0
     * </pre>
     *
     * @param name the key of a sample, or the common prefix of several keys
     * @param sample where the sample is; empty for a common prefix
     */
    public record Entry(String name, Optional<SampleAddress> sample) {
        public static final int BYTES = 32;
    }

    public Entries {
        entries = List.copyOf(entries);
        Fields.u32("request", request);
        Fields.natural("version", version);
        if (hasMore && entries.isEmpty()) {
            throw new IllegalArgumentException("a listing that continues has entries");
        }
    }

    public ByteBuffer body() {
        List<byte[]> names = new ArrayList<>();
        int bytes = FIXED + Entry.BYTES * entries.size();
        for (Entry entry : entries) {
            byte[] name = FrameText.utf8("a name", entry.name());
            names.add(name);
            bytes = Math.addExact(bytes, name.length);
        }
        ByteBuffer out = FrameText.allocate(bytes);
        out.putInt((int) request).putInt(entries.size()).putLong(version);
        out.putInt(hasMore ? MORE : 0).putInt(0);
        for (int i = 0; i < entries.size(); i++) {
            Optional<SampleAddress> sample = entries.get(i).sample();
            out.putInt(names.get(i).length).putInt(sample.isPresent() ? 1 : 0);
            sample.orElse(SampleAddress.NONE).put(out);
            out.putInt(0);
        }
        names.forEach(out::put);
        return out.flip();
    }

    public static Entries read(ByteBuffer body) throws ProtocolException {
        long request = Integer.toUnsignedLong(body.getInt());
        long count = Integer.toUnsignedLong(body.getInt());
        long version = body.getLong();
        int flags = body.getInt();
        FrameText.requireZero(FrameType.ENTRIES, (flags & ~MORE) | body.getInt());
        if (count * Entry.BYTES > body.remaining()) {
            throw ProtocolException.badFrame("ENTRIES: " + body.remaining() + " bytes left for " + count + " entries");
        }
        ByteBuffer names = body.duplicate().position(body.position() + (int) count * Entry.BYTES);
        List<Entry> entries = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            long nameBytes = Integer.toUnsignedLong(body.getInt());
            int kind = body.getInt();
            if (kind < 0 || kind > 1) {
                throw ProtocolException.badFrame("ENTRIES: entry " + i + " is of kind " + kind);
            }
            SampleAddress place = SampleAddress.read(body);
            FrameText.requireZero(FrameType.ENTRIES, body.getInt());
            String name = FrameText.read(FrameType.ENTRIES, names, nameBytes);
            entries.add(new Entry(name, kind == 1 ? Optional.of(place) : Optional.empty()));
        }
        FrameText.requireEnd(FrameType.ENTRIES, names);
        return new Entries(request, version, flags == MORE, entries);
    }

    @Override
    public FrameType type() {
        return FrameType.ENTRIES;
    }
}
