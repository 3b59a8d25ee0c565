package dev.stoker.schemas.dataset;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Names keys of samples without containing them: the HMAC-SHA-256 of each key's UTF-8 bytes under a random salt.
 * A person who has the salt can test whether a given key is among them, but cannot list the keys. Immutable.
 *
 * @param salt 64 lower-case hex digits; the bytes that they describe are the HMAC's key
 * @param hashes 64 lower-case hex digits for each key, ascending, each once
 */
public record KeyHashes(String salt, List<String> hashes) {

    private static final String ALGORITHM = "HmacSHA256";
    private static final int SALT_BYTES = 32;
    private static final Pattern DIGITS = Pattern.compile("[0-9a-f]{64}");

    public KeyHashes {
        hashes = List.copyOf(hashes);
        requireDigits(salt);
        String before = "";
        for (String hash : hashes) {
            requireDigits(hash);
            if (hash.compareTo(before) <= 0) {
                throw new IllegalArgumentException("the hashes do not ascend: " + before + ", " + hash);
            }
            before = hash;
        }
    }

    static void requireDigits(String text) {
        if (!DIGITS.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text + "' is not 64 lower-case hex digits");
        }
    }

    /** Returns a random salt. */
    public static String newSalt(SecureRandom random) {
        byte[] salt = new byte[SALT_BYTES];
        random.nextBytes(salt);
        return HexFormat.of().formatHex(salt);
    }

    /** Returns the hashes of keys. */
    public static KeyHashes of(String salt, Iterable<String> keys) {
        requireDigits(salt);
        Hasher hasher = new Hasher(salt);
        TreeSet<String> hashes = new TreeSet<>();
        keys.forEach(key -> hashes.add(hasher.hash(key)));
        return new KeyHashes(salt, new ArrayList<>(hashes));
    }

    /** Returns a hasher with this salt. */
    public Hasher hasher() {
        return new Hasher(salt);
    }

    /** Hashes texts. For one thread at a time. */
    public static final class Hasher {

        private final Mac mac;

        private Hasher(String salt) {
            try {
                mac = Mac.getInstance(ALGORITHM);
                mac.init(new SecretKeySpec(HexFormat.of().parseHex(salt), ALGORITHM));
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every Java has " + ALGORITHM, e);
            }
        }

        /** Returns the hash of a text's UTF-8 bytes as hex digits. */
        public String hash(String text) {
            return hash(text.getBytes(StandardCharsets.UTF_8));
        }

        /** Returns the hash as hex digits. */
        public String hash(byte[] bytes) {
            return HexFormat.of().formatHex(mac.doFinal(bytes));
        }
    }
}
