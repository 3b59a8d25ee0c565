package dev.stoker.metadata.selection;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.json.CanonicalJson;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.RowSelection;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.storage.ObjectStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file that keeps the rows that a condition selects: see "Selections" in docs/formats/dataset.md. */
final class SelectionFile {
    private static final Logger LOG = LoggerFactory.getLogger(SelectionFile.class);
    private static final byte[] MAGIC = "STKSEL1\n".getBytes(StandardCharsets.US_ASCII);
    private static final int HEADER = 16;
    private static final int ENTRY = 16;
    private static final int DIGITS = 32;
    /** The most bytes that a file has: the rows of 8 billion samples. */
    private static final int MAX_BYTES = 1 << 30;

    private final ObjectStore store;
    private final String name;
    private final StreamChunks chunks;
    private final String where;

    SelectionFile(ObjectStore store, UUID dataset, long version, String split, StreamChunks chunks, String where) {
        this.store = store;
        this.chunks = chunks;
        this.where = where;
        String text = "stoker-selection-1\ndataset " + dataset + "\nversion " + version + "\nsplit " + split
                + "\nchunks " + Fingerprint.chunksDigest(chunks) + "\nwhere " + CanonicalJson.text(where) + "\n";
        this.name =
                DatasetLayout.FILTERS + HexFormat.of().formatHex(sha256(text)).substring(0, DIGITS) + ".sel";
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns the selection; empty if there is no file that can be used. */
    Optional<RowSelection> read() {
        byte[] content;
        try {
            content = store.readAll(name, MAX_BYTES);
        } catch (NoSuchFileException | FileNotFoundException e) {
            return Optional.empty();
        } catch (IOException e) {
            LOG.warn("Cannot read {}, so the condition is evaluated again: {}", store.describe(name), e.toString());
            return Optional.empty();
        }
        Optional<RowSelection> selected = parse(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
        if (selected.isEmpty()) {
            LOG.warn("{} is damaged or of other chunks, so the condition is evaluated again", store.describe(name));
        }
        return selected;
    }

    private Optional<RowSelection> parse(ByteBuffer in) {
        int live = 0;
        for (int i = 0; i < chunks.size(); i++) {
            live += chunks.isLive(i) ? 1 : 0;
        }
        int bitmapsAt = HEADER + ENTRY * live;
        if (in.limit() < bitmapsAt
                || in.slice(0, MAGIC.length).mismatch(ByteBuffer.wrap(MAGIC)) >= 0
                || in.getInt(8) != Crc32cs.of(in.slice(12, in.limit() - 12))
                || in.getInt(12) != live) {
            return Optional.empty();
        }
        int[] counts = new int[chunks.size()];
        Map<Integer, byte[]> bitmaps = new HashMap<>();
        int entry = HEADER;
        int at = bitmapsAt;
        for (int i = 0; i < chunks.size(); i++) {
            if (!chunks.isLive(i)) {
                continue;
            }
            int count = in.getInt(entry + 12);
            if (in.getLong(entry) != chunks.ordinal(i)
                    || in.getInt(entry + 8) != chunks.rows(i)
                    || count < 0
                    || count > chunks.liveRows(i)) {
                return Optional.empty();
            }
            entry += ENTRY;
            counts[i] = count;
            if (count > 0 && count < chunks.rows(i)) {
                byte[] bitmap = new byte[(chunks.rows(i) + 7) / 8];
                if (in.limit() - at < bitmap.length) {
                    return Optional.empty();
                }
                in.get(at, bitmap);
                if (ones(bitmap) != count || !isOfRows(bitmap, i)) {
                    return Optional.empty();
                }
                at += bitmap.length;
                bitmaps.put(i, bitmap);
            }
        }
        return at == in.limit() ? Optional.of(new RowSelection(where, counts, bitmaps)) : Optional.empty();
    }

    /** Returns whether a bitmap selects rows of a chunk only, and none that was removed. */
    private boolean isOfRows(byte[] bitmap, int chunk) {
        int rest = chunks.rows(chunk) & 7;
        boolean isOf = rest == 0 || (bitmap[bitmap.length - 1] & 0xff) >> rest == 0;
        for (int row : chunks.removedRows(chunk)) {
            isOf &= (bitmap[row >> 3] >> (row & 7) & 1) == 0;
        }
        return isOf;
    }

    /** Keeps a selection, unless the dataset cannot be written. */
    void write(RowSelection selected) {
        long length = HEADER;
        for (int i = 0; i < chunks.size(); i++) {
            byte[] bitmap = selected.bitmap(i);
            length += (chunks.isLive(i) ? ENTRY : 0) + (bitmap == null ? 0 : bitmap.length);
        }
        if (length > MAX_BYTES) {
            LOG.info("{} would have {} bytes, so the selection is not kept", store.describe(name), length);
            return;
        }
        int bytes = (int) length;
        ByteBuffer out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        out.put(MAGIC).putInt(0).putInt(0);
        int live = 0;
        for (int i = 0; i < chunks.size(); i++) {
            if (chunks.isLive(i)) {
                live++;
                out.putLong(chunks.ordinal(i)).putInt(chunks.rows(i)).putInt(selected.count(i));
            }
        }
        for (int i = 0; i < chunks.size(); i++) {
            byte[] bitmap = selected.bitmap(i);
            if (bitmap != null) {
                out.put(bitmap);
            }
        }
        out.putInt(12, live);
        out.putInt(8, Crc32cs.of(out.slice(12, bytes - 12)));
        try {
            if (!store.createIfAbsent(name, out.array())) {
                // It is damaged, or another process has made the same one.
                store.delete(name);
                store.createIfAbsent(name, out.array());
            }
        } catch (IOException e) {
            LOG.debug("{} was not kept", store.describe(name), e);
        }
    }

    static int ones(byte[] bitmap) {
        int ones = 0;
        for (byte eight : bitmap) {
            ones += Integer.bitCount(eight & 0xff);
        }
        return ones;
    }
}
