package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.Arrays;

/** Contains the receipts of a section of an epoch, 40 bytes each. */
final class ReceiptColumns {

    private static final TailPolicy[] TAILS = TailPolicy.values();

    private int size;
    private long[] numbers = new long[64];
    private int[] crcs = new int[64];
    private int[] rows = new int[64];
    private int[] skipped = new int[64];
    private int[] consumers = new int[64];
    private int[] sourceRows = new int[64];
    private int[] sourceCrcs = new int[64];
    /** Numbers that {@link PassState#viewNumber} gave to the views. */
    private int[] views = new int[64];
    /** Piece, tail, and whether the piece is repeated. */
    private int[] pieces = new int[64];

    void add(Receipt receipt, int consumer, int view, TailPolicy tail) {
        if (size == numbers.length) {
            int capacity = Math.addExact(size, size / 2);
            numbers = Arrays.copyOf(numbers, capacity);
            crcs = Arrays.copyOf(crcs, capacity);
            rows = Arrays.copyOf(rows, capacity);
            skipped = Arrays.copyOf(skipped, capacity);
            consumers = Arrays.copyOf(consumers, capacity);
            sourceRows = Arrays.copyOf(sourceRows, capacity);
            sourceCrcs = Arrays.copyOf(sourceCrcs, capacity);
            views = Arrays.copyOf(views, capacity);
            pieces = Arrays.copyOf(pieces, capacity);
        }
        numbers[size] = receipt.number();
        crcs[size] = receipt.crc32c();
        rows[size] = receipt.rows();
        skipped[size] = receipt.skipped();
        consumers[size] = consumer;
        sourceRows[size] = receipt.sourceRows();
        sourceCrcs[size] = receipt.sourceCrc32c();
        views[size] = view;
        pieces[size] = receipt.piece() << 3 | tail.ordinal() << 1 | (receipt.repeated() ? 1 : 0);
        size++;
    }

    int size() {
        return size;
    }

    long number(int i) {
        return numbers[i];
    }

    int crc(int i) {
        return crcs[i];
    }

    int rows(int i) {
        return rows[i];
    }

    int skipped(int i) {
        return skipped[i];
    }

    int sourceRows(int i) {
        return sourceRows[i];
    }

    int sourceCrc(int i) {
        return sourceCrcs[i];
    }

    int view(int i) {
        return views[i];
    }

    int consumer(int i) {
        return consumers[i];
    }

    int piece(int i) {
        return pieces[i] >>> 3;
    }

    TailPolicy tail(int i) {
        return TAILS[pieces[i] >>> 1 & 3];
    }

    boolean repeated(int i) {
        return (pieces[i] & 1) != 0;
    }

    boolean equal(int i, int j) {
        return numbers[i] == numbers[j]
                && crcs[i] == crcs[j]
                && rows[i] == rows[j]
                && skipped[i] == skipped[j]
                && consumers[i] == consumers[j]
                && sourceRows[i] == sourceRows[j]
                && sourceCrcs[i] == sourceCrcs[j]
                && views[i] == views[j]
                && pieces[i] == pieces[j];
    }

    /** Returns the receipts in ascending number, given that all numbers are in [from, to). */
    int[] byNumber(long from, long to) {
        int[] keys = new int[size];
        for (int i = 0; i < size; i++) {
            keys[i] = (int) (numbers[i] - from);
        }
        int[] all = new int[size];
        Arrays.setAll(all, i -> i);
        return sort(all, keys, (int) (to - from));
    }

    /** Sorts indexes by small keys, keeping the order of equal ones. */
    static int[] sort(int[] indexes, int[] keys, int bound) {
        int[] at = new int[bound + 1];
        for (int index : indexes) {
            at[keys[index] + 1]++;
        }
        for (int i = 0; i < bound; i++) {
            at[i + 1] += at[i];
        }
        int[] sorted = new int[indexes.length];
        for (int index : indexes) {
            sorted[at[keys[index]]++] = index;
        }
        return sorted;
    }
}
