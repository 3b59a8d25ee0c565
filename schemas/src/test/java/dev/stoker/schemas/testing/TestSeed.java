package dev.stoker.schemas.testing;

import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The seed of this run, the only place that reads {@code -Dtest.seed} and {@code -Dtest.round}. Without the option each
 * test JVM draws a seed, so that a second try of a failed test sees the same input,
 * and prints it.
 */
public final class TestSeed {
    private static final long GAMMA = 0x9E37_79B9_7F4A_7C15L;
    private static final long SEED = drawn();
    private static final OptionalLong ROUND = round();

    private TestSeed() {}

    /** Returns the seed of all random tests of this JVM. */
    public static long value() {
        return SEED;
    }

    /** Returns the only round to run, if {@code -Dtest.round} names one. */
    static OptionalLong onlyRound() {
        return ROUND;
    }

    /** Returns the randomness of one round. It depends on the seed and the round alone. */
    public static Random random(long seed, long round) {
        return new Random(mixed(mixed(seed) + round * GAMMA));
    }

    /** The finalizer of SplitMix64, so that neighbouring seeds and rounds have nothing in common. */
    private static long mixed(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }

    static OptionalLong number(String property) {
        String text = System.getProperty(property, "");
        return text.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    }

    private static long drawn() {
        long seed =
                number("test.seed").orElseGet(() -> ThreadLocalRandom.current().nextLong(1, 1_000_000_000));
        System.out.println("random tests: -Dtest.seed=" + seed);
        return seed;
    }

    private static OptionalLong round() {
        OptionalLong round = number("test.round");
        if (round.isPresent() && number("test.seed").isEmpty()) {
            throw new IllegalArgumentException("-Dtest.round needs the seed of the round: -Dtest.seed=N");
        }
        return round;
    }
}
