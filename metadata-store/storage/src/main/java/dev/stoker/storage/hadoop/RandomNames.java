package dev.stoker.storage.hadoop;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Creates random names that nobody else generates. */
final class RandomNames {

    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomNames() {}

    static String next() {
        byte[] random = new byte[8];
        RANDOM.nextBytes(random);
        return HexFormat.of().formatHex(random);
    }
}
