package dev.stoker.schemas.order;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Identifies the data and its order: two feeds with one fingerprint deliver the same batches, and a position is valid
 * for exactly one fingerprint.
 *
 * @param text 32 lower-case hexadecimal digits
 */
public record Fingerprint(String text) {
    private static final int DIGITS = 32;
    private static final int TAG_DIGITS = 16;
    private static final int ENTRY_BYTES = 32;
    private static final int DIGEST_BUFFER = 32 << 10;

    public Fingerprint {
        if (!text.matches("[0-9a-f]{" + DIGITS + "}")) {
            throw new IllegalArgumentException(
                    "fingerprint '" + text + "': expected " + DIGITS + " lower-case hexadecimal digits");
        }
    }

    /**
     * Returns the fingerprint of a stream under an order spec.
     *
     * @param split must not contain a line break
     */
    public static Fingerprint of(UUID dataset, long version, String split, StreamChunks chunks, OrderSpec spec) {
        if (split.indexOf('\n') >= 0) {
            throw new IllegalArgumentException("split '" + split + "' contains a line break");
        }
        String text = "stoker-fingerprint-" + spec.function() + "\ndataset " + dataset + "\nversion " + version
                + "\nsplit " + split + "\nchunks " + chunksDigest(chunks) + "\norder " + spec.toJson() + "\n";
        byte[] hash = sha256().digest(text.getBytes(StandardCharsets.UTF_8));
        return new Fingerprint(HexFormat.of().formatHex(hash).substring(0, DIGITS));
    }

    /** Returns its first 64 bits, as sent in every BATCH header. */
    public long tag() {
        return Long.parseUnsignedLong(text.substring(0, TAG_DIGITS), 16);
    }

    @Override
    public String toString() {
        return text;
    }

    /** Returns the SHA-256 over the chunks of the version, whatever rows a condition selects. */
    public static String chunksDigest(StreamChunks chunks) {
        MessageDigest digest = sha256();
        ByteBuffer out = ByteBuffer.allocate(DIGEST_BUFFER).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < chunks.size(); i++) {
            if (!chunks.isOfVersion(i)) {
                continue;
            }
            int[] removed = chunks.removedRows(i);
            makeRoom(digest, out, ENTRY_BYTES);
            out.putLong(chunks.ordinal(i));
            // Id bytes are in the UUID's own order, which is big-endian.
            out.putLong(Long.reverseBytes(chunks.idHigh(i))).putLong(Long.reverseBytes(chunks.idLow(i)));
            out.putInt(chunks.rows(i)).putInt(removed.length);
            for (int row : removed) {
                makeRoom(digest, out, Integer.BYTES);
                out.putInt(row);
            }
        }
        digest.update(out.flip());
        return HexFormat.of().formatHex(digest.digest());
    }

    /**
     * Digests the collected bytes if {@code bytes} more would not fit. Many small updates would take five times as
     * long.
     */
    private static void makeRoom(MessageDigest digest, ByteBuffer out, int bytes) {
        if (out.remaining() < bytes) {
            digest.update(out.flip());
            out.clear();
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
