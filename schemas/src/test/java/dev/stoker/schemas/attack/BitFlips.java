package dev.stoker.schemas.attack;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Flips bits of one file or frame, reads it, and counts what the reader makes of it. A quarter of the damaged copies
 * have two to eight flipped bits, half of these within four bytes. The others have one. From round {@link #IN_TURN} on,
 * three of four rounds flip one bit each, all bits in turn. Only one thread may use an object.
 */
public final class BitFlips {
    /** Rounds that flip bits at random places only, so that few rounds do not flip the first bits only. */
    static final int IN_TURN = 200;

    /** Further damaged copies of a format of which none was refused. */
    private static final int MOST = 5000;

    private final Format format;
    private final Object intact;
    private long flips;
    private long refused;
    private long equal;

    /** Reads the intact bytes. */
    private BitFlips(Format format) throws Exception {
        this.format = format;
        this.intact = format.reader().read(format.bytes().clone());
    }

    /**
     * Damages a copy of each format in each round, and prints the counts.
     *
     * @throws AssertionError if a reader accepts damage, or refuses no copy at all
     */
    public static void run(Rounds rounds, List<Format> formats) throws Exception {
        List<BitFlips> flips = new ArrayList<>();
        for (Format format : formats) {
            flips.add(new BitFlips(format));
        }
        rounds.run((random, round) -> {
            for (BitFlips of : flips) {
                of.flip(random, round);
            }
        });
        if (!Rounds.isReplay()) {
            for (BitFlips of : flips) {
                of.refuse();
            }
        }
        System.out.println(table(flips));
    }

    /** Damages further copies until one is refused: some readers leave most bytes of a file unread. */
    private void refuse() throws Exception {
        Random random = new Random(1);
        for (int tries = 0; refused == 0; tries++) {
            if (tries == MOST) {
                throw new AssertionError("the reader of " + format.name() + " refused none of " + flips + " copies");
            }
            flip(random, 0);
        }
    }

    /**
     * Reads one damaged copy.
     *
     * @throws AssertionError if the reader accepts it with other content, or ends in another error
     */
    private void flip(Random random, long round) throws Exception {
        int[] damage = damage(random, round);
        byte[] damaged = format.bytes().clone();
        for (int bit : damage) {
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
        }
        flips++;
        try {
            if (!format.reader().read(damaged).equals(intact)) {
                throw new AssertionError(text(damage, "was accepted, with other content"));
            }
            if (format.unread().isEmpty()) {
                throw new AssertionError(text(damage, "was accepted, with equal content"));
            }
            equal++;
        } catch (StokerException expected) {
            refused++;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            throw new AssertionError(text(damage, "ended in " + e), e);
        }
    }

    private int[] damage(Random random, long round) {
        int bits = 8 * format.bytes().length;
        long turn = (round - IN_TURN) / 4 * 3 + round % 4;
        if (round >= IN_TURN && round % 4 < 3 && turn < bits) {
            return new int[] {(int) turn};
        }
        if (random.nextInt(4) > 0) {
            return new int[] {random.nextInt(bits)};
        }
        int count = 2 + random.nextInt(7);
        int reach = random.nextBoolean() ? Math.min(bits, 32) : bits;
        int from = random.nextInt(bits - reach + 1);
        return random.ints(from, from + reach).distinct().limit(count).toArray();
    }

    private String text(int[] damage, String what) {
        StringBuilder text = new StringBuilder(format.name() + " with flipped");
        for (int bit : damage) {
            text.append(" ").append(bit / 8).append('.').append(bit % 8);
        }
        return text + " of " + format.bytes().length + " bytes " + what;
    }

    /** Returns the counts as a table, with a last line of sums. */
    private static String table(List<BitFlips> all) {
        StringBuilder text = new StringBuilder();
        line(text, "format", "bytes", "flips", "refused", "equal");
        for (BitFlips of : all) {
            line(text, of.format.name(), of.format.bytes().length, of.flips, of.refused, of.equal);
        }
        line(
                text,
                "all",
                "",
                all.stream().mapToLong(of -> of.flips).sum(),
                all.stream().mapToLong(of -> of.refused).sum(),
                all.stream().mapToLong(of -> of.equal).sum());
        return text.toString();
    }

    private static void line(StringBuilder text, Object... columns) {
        text.append(String.format(Locale.ROOT, "%-44s %9s %9s %9s %9s%n", columns));
    }
}
