package dev.stoker.formats.mds;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.mds.MdsIndex.StoredFile;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Computes the hashes of a file while it is read from start to end. Reading at offset 0 begins again. Hashes that Java
 * does not have, such as xxh64, are not checked. Not thread-safe.
 */
final class HashedFile implements RangeReader {
    private final RangeReader file;
    private final StoredFile expected;
    private final Map<String, MessageDigest> digests = new LinkedHashMap<>();
    private long position;
    private boolean verified;

    HashedFile(RangeReader file, StoredFile expected) {
        this.file = file;
        this.expected = expected;
        for (String algorithm : expected.hashes().keySet()) {
            MessageDigest digest = digest(algorithm);
            if (digest != null) {
                digests.put(algorithm, digest);
            }
        }
    }

    private static @Nullable MessageDigest digest(String algorithm) {
        String name = switch (algorithm) {
            case "md5", "sha1" -> algorithm;
            case "sha224", "sha256", "sha384", "sha512" -> "SHA-" + algorithm.substring(3);
            case "sha3_224", "sha3_256", "sha3_384", "sha3_512" -> "SHA3-" + algorithm.substring(5);
            default -> null;
        };
        try {
            return name == null ? null : MessageDigest.getInstance(name);
        } catch (NoSuchAlgorithmException e) {
            return null;
        }
    }

    @Override
    public void readFully(long offset, ByteBuffer dst) throws IOException {
        ByteBuffer read = dst.duplicate();
        file.readFully(offset, dst);
        if (offset == 0) {
            position = 0;
            digests.values().forEach(MessageDigest::reset);
        }
        if (offset == position) {
            position += read.remaining();
            digests.values().forEach(digest -> digest.update(read.duplicate()));
        }
    }

    @Override
    public long length() throws IOException {
        return file.length();
    }

    @Override
    public String name() {
        return file.name();
    }

    /** Compares the hashes, after the file was read to its end. Does nothing when it is called again. */
    void verify() throws IOException {
        if (verified) {
            return;
        }
        verified = true;
        if (position != file.length()) {
            throw new IllegalStateException(name() + " was read to byte " + position + " of " + file.length());
        }
        for (Map.Entry<String, MessageDigest> digest : digests.entrySet()) {
            String found = HexFormat.of().formatHex(digest.getValue().digest());
            String wanted = Objects.requireNonNull(expected.hashes().get(digest.getKey()), "each digest has a hash")
                    .toLowerCase(Locale.ROOT);
            if (!found.equals(wanted)) {
                throw new DamagedFileException(name() + " is damaged: its " + digest.getKey() + " is " + found
                        + ", but the index says " + wanted + "; restore the file from a copy");
            }
        }
    }
}
