package dev.stoker.metadata.audit;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Compares the receipts of one epoch with the content that the dataset and the order give. Whether numbers lack
 * receipts is the question of {@link EpochJudge}. Not thread-safe.
 */
final class ReceiptJudge {

    private static final byte OPEN = 0;
    /** The receipt agrees with the batch, or the batch cannot be read. */
    static final byte RIGHT = 1;
    /** The receipt does not agree with the batch, which is a finding. */
    static final byte WRONG = 2;
    /** Another receipt says the same. */
    static final byte DUPLICATE = 3;

    private static final int SKIPPED_KEPT = 1000;

    private final PassState pass;
    private final AuditedStream stream;
    private final long epoch;
    private final Findings findings;
    private final EpochOrder epochOrder;
    private final EpochNumbering numbering;
    private final PieceOracle oracle;
    private final Set<String> damagedFiles = new HashSet<>();
    /** Greatest acknowledged number by consumer, in the sections so far: they come from the end of the epoch. */
    private final Map<Integer, Long> lastOfConsumer = new HashMap<>();

    private final List<AuditReport.Skipped> skipped = new ArrayList<>();
    private long duplicates;

    ReceiptJudge(PassState pass, AuditedStream stream, long epoch, Findings findings) {
        this.pass = pass;
        this.stream = stream;
        this.epoch = epoch;
        this.findings = findings;
        this.epochOrder = stream.order().epoch(epoch);
        this.numbering = epochOrder.numbering();
        this.oracle = new PieceOracle(stream, UUID.fromString(pass.key.feed()).getMostSignificantBits());
    }

    /**
     * Checks receipts, and reports those that are wrong.
     *
     * @param order the indexes of the receipts to check, by number
     * @return {@link #RIGHT}, {@link #WRONG} or {@link #DUPLICATE} for each of these indexes
     */
    byte[] check(ReceiptColumns receipts, int[] order) throws IOException {
        byte[] state = new byte[receipts.size()];
        int[] lanes = lanes(receipts, order, state);
        for (int i : ReceiptColumns.sort(order, lanes, stream.order().lanes())) {
            if (state[i] == OPEN) {
                state[i] = verify(receipts, i);
            }
        }
        return state;
    }

    /** Returns the greatest number that a consumer acknowledged in the sections so far; -1 if there is none. */
    long last(Consumer consumer) {
        return lastOfConsumer.getOrDefault(pass.number(consumer), -1L);
    }

    List<AuditReport.Skipped> skipped() {
        return skipped;
    }

    long duplicates() {
        return duplicates;
    }

    /** Returns a batch as findings name it. */
    String where(long number) {
        return pass.key + ", epoch " + epoch + ", batch " + number;
    }

    /**
     * Returns the lanes of the receipts' pieces. Removes duplicate receipts, and receipts of pieces that do not exist.
     */
    private int[] lanes(ReceiptColumns receipts, int[] order, byte[] state) {
        int[] lanes = new int[receipts.size()];
        for (int at = 0; at < order.length; at++) {
            int i = order[at];
            for (int before = at - 1; before >= 0 && receipts.number(order[before]) == receipts.number(i); before--) {
                if (receipts.equal(order[before], i)) {
                    state[i] = DUPLICATE;
                    duplicates++;
                    break;
                }
            }
            if (state[i] == DUPLICATE) {
                continue;
            }
            DeliveredBatch batch = batch(receipts.tail(i), receipts.number(i));
            if (batch == null || receipts.piece(i) >= batch.pieces().size()) {
                state[i] = WRONG;
                findings.add(
                        Finding.Kind.FOREIGN,
                        1,
                        where(receipts.number(i)) + ": receipt of piece " + receipts.piece(i) + ", the batch has "
                                + (batch == null ? 0 : batch.pieces().size()));
                continue;
            }
            lanes[i] = batch.pieces().get(receipts.piece(i)).lane();
            lastOfConsumer.merge(receipts.consumer(i), receipts.number(i), Math::max);
        }
        return lanes;
    }

    /** Returns a batch of the epoch; null if there is none of this number. */
    @Nullable
    DeliveredBatch batch(TailPolicy tail, long number) {
        try {
            return Delivery.batch(numbering, tail, number);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private byte verify(ReceiptColumns receipts, int i) throws IOException {
        DeliveredBatch batch =
                Objects.requireNonNull(batch(receipts.tail(i), receipts.number(i)), "others were found wrong before");
        int index = receipts.piece(i);
        Optional<View> view = pass.view(receipts.view(i));
        if (view.isEmpty()) {
            findings.add(
                    Finding.Kind.FOREIGN,
                    1,
                    where(receipts.number(i)) + ", piece " + index + ": receipt of "
                            + Names.of(pass.consumers()[receipts.consumer(i)]) + " for view "
                            + View.digits(pass.viewTag(receipts.view(i))) + ", which no subscription names");
            return WRONG;
        }
        ExpectedPiece expected;
        try {
            expected = receipts.skipped(i) == 0
                    ? oracle.piece(epochOrder, batch, index, view.get())
                    : oracle.pieceWithoutDamage(epochOrder, batch, index, view.get());
        } catch (StokerException e) {
            if (damagedFiles.add(e.getMessage())) {
                findings.add(
                        Finding.Kind.DAMAGED_DATASET,
                        1,
                        where(receipts.number(i)) + " cannot be judged, nor other batches of the same chunk: "
                                + e.getMessage());
            }
            // Its content cannot be checked, but it was acknowledged.
            return RIGHT;
        }
        List<String> wrong = new ArrayList<>(1);
        if (receipts.repeated(i) != batch.pieces().get(index).repeated()) {
            wrong.add("repeated is " + receipts.repeated(i) + ", not "
                    + batch.pieces().get(index).repeated());
        }
        if (receipts.skipped(i) != expected.skipped()) {
            wrong.add(receipts.skipped(i) + " rows were skipped, " + expected.skipped() + " are damaged");
        }
        if (receipts.rows(i) != expected.rows()) {
            wrong.add(Units.plural(receipts.rows(i), "row") + ", not " + expected.rows());
        }
        if (receipts.crc(i) != expected.crc32c()) {
            wrong.add("CRC32C " + Crc32cs.hex(receipts.crc(i)) + ", not " + Crc32cs.hex(expected.crc32c()));
        }
        if (receipts.sourceRows(i) != expected.rows()) {
            wrong.add(Units.plural(receipts.sourceRows(i), "source row") + ", not " + expected.rows());
        }
        if (receipts.sourceCrc(i) != expected.sourceCrc32c()) {
            wrong.add("source CRC32C " + Crc32cs.hex(receipts.sourceCrc(i)) + ", not "
                    + Crc32cs.hex(expected.sourceCrc32c()));
        }
        if (!wrong.isEmpty()) {
            findings.add(
                    Finding.Kind.ALTERED,
                    1,
                    where(receipts.number(i)) + ", piece " + index + ": the receipt of "
                            + Names.of(pass.consumers()[receipts.consumer(i)]) + " says " + String.join("; ", wrong));
            return WRONG;
        }
        if (receipts.skipped(i) > 0 && skipped.size() < SKIPPED_KEPT) {
            skipped.add(new AuditReport.Skipped(receipts.number(i), index, receipts.skipped(i), expected.left()));
        }
        return RIGHT;
    }
}
