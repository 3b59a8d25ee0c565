package dev.stoker.schemas.attack;

import dev.stoker.schemas.errors.StokerException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Flips bits of files and frames, reads them, and counts what the readers make of it. A quarter of the damaged copies
 * have two to eight flipped bits, half of these within four bytes. The others have one; if a format has fewer bits than
 * that, each bit is flipped at least once.
 */
public final class BitFlips {

    /**
     * What came of the flips of one format.
     *
     * @param format what was damaged
     * @param flips how many damaged copies were read
     * @param refused how many of them the reader refused
     * @param equal how many of them had the content of the intact bytes
     * @param wrong the others, as text
     */
    public record Result(Format format, long flips, long refused, long equal, List<String> wrong) {}

    private static final int MOST_REPORTED = 20;

    private final long seed;
    private final Random random;

    public BitFlips(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** Reads this number of damaged copies. */
    public Result run(Format format, long flips) throws Exception {
        Object intact = format.reader().read(format.bytes().clone());
        int bits = 8 * format.bytes().length;
        long refused = 0;
        long equal = 0;
        List<String> wrong = new ArrayList<>();
        for (long flip = 0; flip < flips; flip++) {
            int[] damage;
            if (flip < bits && bits <= flips * 3 / 4) {
                damage = new int[] {(int) flip};
            } else {
                damage = damage(bits);
            }
            byte[] damaged = format.bytes().clone();
            for (int bit : damage) {
                damaged[bit / 8] ^= (byte) (1 << bit % 8);
            }
            try {
                if (format.reader().read(damaged).equals(intact)) {
                    equal++;
                    if (format.unread().isEmpty()) {
                        report(wrong, format, damage, "was accepted, with equal content");
                    }
                } else {
                    report(wrong, format, damage, "was accepted, with other content");
                }
            } catch (StokerException expected) {
                refused++;
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
                report(wrong, format, damage, "ended in " + e);
            }
        }
        return new Result(format, flips, refused, equal, wrong);
    }

    private int[] damage(int bits) {
        if (random.nextInt(4) > 0) {
            return new int[] {random.nextInt(bits)};
        }
        int count = 2 + random.nextInt(7);
        int reach = random.nextBoolean() ? Math.min(bits, 32) : bits;
        int from = random.nextInt(bits - reach + 1);
        return random.ints(from, from + reach).distinct().limit(count).toArray();
    }

    private void report(List<String> wrong, Format format, int[] damage, String what) {
        if (wrong.size() < MOST_REPORTED) {
            StringBuilder text = new StringBuilder("seed " + seed + ": " + format.name() + " with flipped");
            for (int bit : damage) {
                text.append(" ").append(bit / 8).append('.').append(bit % 8);
            }
            wrong.add(text + " of " + format.bytes().length + " bytes " + what);
        }
    }

    /** Returns the results as a table, with a last line of sums. */
    public static String table(List<Result> results) {
        StringBuilder text = new StringBuilder();
        line(text, "format", "bytes", "flips", "refused", "equal", "wrong");
        long flips = 0;
        long refused = 0;
        long equal = 0;
        long wrong = 0;
        for (Result result : results) {
            long lost = result.flips()
                    - result.refused()
                    - (result.format().unread().isEmpty() ? 0 : result.equal());
            line(
                    text,
                    result.format().name(),
                    result.format().bytes().length,
                    result.flips(),
                    result.refused(),
                    result.equal(),
                    lost);
            flips += result.flips();
            refused += result.refused();
            equal += result.equal();
            wrong += lost;
        }
        line(text, "all", "", flips, refused, equal, wrong);
        return text.toString();
    }

    private static void line(StringBuilder text, Object... columns) {
        text.append(String.format(Locale.ROOT, "%-44s %9s %9s %9s %9s %6s%n", columns));
    }
}
