package dev.stoker.metadata.mixing;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The Shannon entropy of the classes in the batches of a feed, and in batches of a full shuffle of the same samples.
 * Both are means over the same number of batches: of the first epoch, evenly spread, and random ones of a fixed seed.
 * {@link Mixing} estimates the same from few heads.
 *
 * @param field a categorical field
 * @param batchSize samples of a batch
 * @param batches number of batches that were compared
 * @param batchBits mean entropy of the feed's batches, in bits
 * @param shuffledBits mean entropy of random batches, in bits
 */
public record LabelMix(String field, int batchSize, int batches, double batchBits, double shuffledBits) {

    static final int BATCHES = 256;

    /** Returns the entropy of the feed's batches relative to that of a full shuffle; 1 is best. */
    public double quality() {
        return shuffledBits == 0 ? 1 : batchBits / shuffledBits;
    }

    /**
     * Measures an order.
     *
     * @param labels by chunk of the stream and row: the number of the class, or {@link SampleCensus#MISSING}
     */
    static Optional<LabelMix> of(String field, StreamOrder order, int[][] labels, int classes) {
        int[] all = live(order.chunks(), labels);
        long whole = order.size().wholeBatches();
        int size = order.spec().batchSize();
        int batches = (int) Math.min(BATCHES, whole);
        if (batches == 0 || Arrays.stream(all).allMatch(label -> label == SampleCensus.MISSING)) {
            return Optional.empty();
        }
        EpochOrder epoch = order.epoch(0);
        Map<Integer, Window> windows = new HashMap<>();
        SplittableRandom random = new SplittableRandom(0);
        double found = 0;
        double chance = 0;
        for (int i = 0; i < batches; i++) {
            long number = batches == 1 ? 0 : i * (whole - 1) / (batches - 1);
            int[] counts = new int[classes];
            for (Piece piece : epoch.batch(number)) {
                count(epoch, piece, windows, labels, counts);
            }
            found += entropy(counts);
            chance += entropy(drawn(all, size, random, classes));
        }
        return Optional.of(new LabelMix(field, size, batches, found / batches, chance / batches));
    }

    private static int[] live(StreamChunks chunks, int[][] labels) {
        int[] all = new int[Math.toIntExact(chunks.liveRows())];
        int n = 0;
        for (int chunk = 0; chunk < labels.length; chunk++) {
            int[] removed = chunks.isLive(chunk) ? chunks.removedRows(chunk) : new int[0];
            for (int row = 0; row < labels[chunk].length; row++) {
                if (Arrays.binarySearch(removed, row) < 0) {
                    all[n++] = labels[chunk][row];
                }
            }
        }
        return all;
    }

    /** @param windows the last window of each lane */
    private static void count(
            EpochOrder epoch, Piece piece, Map<Integer, Window> windows, int[][] labels, int[] counts) {
        for (WindowSlice slice : epoch.lane(piece.lane()).slices(piece.firstRow(), piece.rows())) {
            Window window = windows.get(piece.lane());
            if (window == null || window.index() != slice.window()) {
                window = epoch.lane(piece.lane()).window(slice.window());
                windows.put(piece.lane(), window);
            }
            for (int i = slice.from(); i < slice.to(); i++) {
                add(labels[window.chunkAt(i)][window.rowAt(i)], counts);
            }
        }
    }

    private static int[] drawn(int[] all, int size, SplittableRandom random, int classes) {
        int[] counts = new int[classes];
        Set<Integer> taken = new HashSet<>();
        while (taken.size() < size) {
            int sample = random.nextInt(all.length);
            if (taken.add(sample)) {
                add(all[sample], counts);
            }
        }
        return counts;
    }

    private static void add(int label, int[] counts) {
        if (label != SampleCensus.MISSING) {
            counts[label]++;
        }
    }

    private static double entropy(int[] counts) {
        double all = Arrays.stream(counts).sum();
        double bits = 0;
        for (int count : counts) {
            if (count > 0) {
                bits -= count / all * Math.log(count / all) / Math.log(2);
            }
        }
        return bits;
    }
}
