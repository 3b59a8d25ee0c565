package dev.stoker.metadata.audit;

import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.order.DeliveredBatch;
import dev.stoker.schemas.order.Delivery;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Judges one epoch of a pass, section by section from its end to its beginning. Not thread-safe. */
final class EpochJudge {

    private static final byte OPEN = 0;
    private static final byte RIGHT = 1;
    private static final byte WRONG = 2;
    private static final byte DUPLICATE = 3;
    private static final int SKIPPED_KEPT = 1000;

    private final PassState pass;
    private final AuditedStream stream;
    private final long epoch;
    private final Findings findings;
    private final EpochClaims claims;
    private final EpochOrder order;
    private final EpochNumbering numbering;
    private final PieceOracle oracle;
    private final long batches;
    private final long leftOutFrom;
    private final Set<String> damagedFiles = new HashSet<>();
    /** Greatest acknowledged number by consumer, in this section and those after it. */
    private final Map<Integer, Long> lastOfConsumer = new HashMap<>();

    private Ranges asserted = new Ranges();
    private Ranges open = new Ranges();
    private Ranges skippedBatches = new Ranges();
    private final List<AuditReport.Skipped> skipped = new ArrayList<>();
    private long acknowledged;
    private long missing;
    private long leftOut;
    private long repeated;
    private long superseded;
    private long duplicates;

    EpochJudge(PassState pass, long epoch, Findings findings) {
        this.pass = pass;
        this.epoch = epoch;
        this.findings = findings;
        this.claims = Objects.requireNonNull(pass.claims.get(epoch), "only epochs with claims are judged");
        this.stream = pass.stream(epoch);
        this.order = stream.order().epoch(epoch);
        this.numbering = order.numbering();
        this.oracle = new PieceOracle(stream, UUID.fromString(pass.key.feed()).getMostSignificantBits());
        this.batches = stream.order().size().batches();
        this.leftOutFrom = claims.leftOutFrom(stream.order().size());
    }

    @Nullable
    Claim claim(Consumer consumer, long number) {
        return claims.of(consumer, number);
    }

    void foreign(Consumer consumer, long number) {
        findings.add(
                Finding.Kind.FOREIGN,
                1,
                where(number) + ": receipt of " + Names.of(consumer) + ", which was not given this batch");
    }

    private String where(long number) {
        return pass.key + ", epoch " + epoch + ", batch " + number;
    }

    /** Judges the numbers [from, to) from all of their receipts. */
    void judge(ReceiptColumns receipts, long from, long to) throws IOException {
        int[] order = receipts.byNumber(from, to);
        byte[] state = new byte[receipts.size()];
        int[] lanes = lanes(receipts, order, state);
        verify(receipts, order, lanes, state);
        new Stretch(receipts, order, state).judge(from, to);
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

    private @Nullable DeliveredBatch batch(TailPolicy tail, long number) {
        try {
            return Delivery.batch(numbering, tail, number);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private void verify(ReceiptColumns receipts, int[] order, int[] lanes, byte[] state) throws IOException {
        for (int i : ReceiptColumns.sort(order, lanes, stream.order().lanes())) {
            if (state[i] == OPEN) {
                state[i] = verify(receipts, i);
            }
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
                    ? oracle.piece(this.order, batch, index, view.get())
                    : oracle.pieceWithoutDamage(this.order, batch, index, view.get());
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

    long duplicates() {
        return duplicates;
    }

    AuditReport.Epoch finish() {
        return new AuditReport.Epoch(
                epoch,
                stream.snapshot().version(),
                batches,
                acknowledged,
                missing,
                asserted.toBatches(),
                leftOut,
                skippedBatches.toBatches(),
                open.toBatches(),
                repeated,
                superseded,
                skipped);
    }

    /** What shows that batches were passed over: later receipts of their consumers in a run. */
    private record Proof(long run, boolean isLaterEpoch) implements Comparable<Proof> {
        private static final Comparator<Proof> ORDER =
                Comparator.comparingLong(Proof::run).thenComparing(Proof::isLaterEpoch);

        @Override
        public int compareTo(Proof other) {
            return ORDER.compare(this, other);
        }
    }

    /** Judges one section of the epoch, number by number in order. */
    private final class Stretch {
        private final ReceiptColumns receipts;
        private final int[] order;
        private final byte[] state;
        private final Consumer[] consumers = pass.consumers();
        private final Ranges assertedHere = new Ranges();
        private final Ranges openHere = new Ranges();
        private final Ranges skippedHere = new Ranges();
        private final Map<Proof, Ranges> missingBy = new TreeMap<>();
        private int at;

        Stretch(ReceiptColumns receipts, int[] order, byte[] state) {
            this.receipts = receipts;
            this.order = order;
            this.state = state;
        }

        void judge(long from, long to) {
            for (long number = from; number < to; number++) {
                int begin = at;
                while (at < order.length && receipts.number(order[at]) == number) {
                    at++;
                }
                if (number < batches) {
                    judge(number, begin);
                } else {
                    judgeRepeated(number, begin);
                }
            }
            assertedHere.addAll(asserted);
            asserted = assertedHere;
            openHere.addAll(open);
            open = openHere;
            skippedHere.addAll(skippedBatches);
            skippedBatches = skippedHere;
            missingBy.forEach((proof, numbers) -> numbers.toBatches().ranges().forEach(range -> {
                boolean one = range.count() == 1;
                findings.add(
                        Finding.Kind.MISSING,
                        range.count(),
                        where(range) + (one ? " is" : " are") + " missing: the same rank acknowledged batches of "
                                + (proof.isLaterEpoch ? "a later epoch" : "this epoch after " + (one ? "it" : "them"))
                                + " in run " + proof.run + ", but not " + (one ? "it" : "them"));
            }));
        }

        private String where(BatchRange range) {
            return pass.key + ", epoch " + epoch + ", " + (range.count() == 1 ? "batch " : "batches ") + range;
        }

        private void judge(long number, int begin) {
            OptionalLong skipping = claims.skippedBy(number);
            if (skipping.isPresent()) {
                skippedHere.add(number);
                countSuperseded(begin, skipping.getAsLong());
                return;
            }
            List<Claim> responsible = claims.responsible(number);
            if (!responsible.isEmpty()) {
                countSuperseded(begin, responsible.get(0).consumer().run());
            }
            Claim lacking = null;
            for (Claim claim : responsible) {
                if (lackingPiece(claim, number, begin) < 0) {
                    acknowledged++;
                    return;
                }
                lacking = claim;
            }
            if (number >= leftOutFrom) {
                leftOut++;
            } else if (lacking == null) {
                judgeUnassigned(number);
            } else {
                judgeLacking(lacking, number);
            }
        }

        /**
         * Judges a number that the ledger does not assign to anyone. It is before the first position, or the feeder
         * died with the assignment before a run began after it, or its rank has not subscribed yet.
         */
        private void judgeUnassigned(long number) {
            if (pass.isAsserted(Long.MIN_VALUE, epoch, number)) {
                assertedHere.add(number);
                return;
            }
            Optional<EpochClaims.Owner> passed = claims.owners(number).stream()
                    .filter(owner -> pass.wentOn(owner, epoch) && !pass.isResumedAfter(owner, epoch, number))
                    .findFirst();
            if (passed.isPresent()) {
                missing++;
                missingBy
                        .computeIfAbsent(new Proof(passed.get().run(), true), r -> new Ranges())
                        .add(number);
            } else {
                openHere.add(number);
            }
        }

        private void judgeLacking(Claim claim, long number) {
            if (isAsserted(claim.consumer(), number)) {
                assertedHere.add(number);
            } else if (isPassedOver(claim.consumer(), number)) {
                missing++;
                miss(claim.consumer(), number);
            } else {
                openHere.add(number);
            }
        }

        /** Returns whether a trainer says by its position that the batch was consumed. */
        private boolean isAsserted(Consumer consumer, long number) {
            return pass.isAsserted(consumer.run(), epoch, number) || pass.isResumedAfter(consumer, epoch, number);
        }

        private boolean isPassedOver(Consumer consumer, long number) {
            return isLaterHere(consumer, number) || pass.wentOn(consumer, epoch);
        }

        private boolean isLaterHere(Consumer consumer, long number) {
            return lastOfConsumer.getOrDefault(pass.number(consumer), -1L) > number;
        }

        private void miss(Consumer consumer, long number) {
            Proof proof = new Proof(consumer.run(), !isLaterHere(consumer, number));
            missingBy.computeIfAbsent(proof, r -> new Ranges()).add(number);
        }

        /**
         * Judges numbers past the end, which only keep ranks even. The run that ended the epoch must have acknowledged
         * them.
         */
        private void judgeRepeated(long number, int begin) {
            List<Claim> responsible = claims.responsible(number);
            if (responsible.isEmpty() || responsible.get(0).consumer().run() != claims.greatestRun()) {
                return;
            }
            Claim lacking = responsible.get(0);
            for (Claim claim : responsible) {
                if (lackingPiece(claim, number, begin) < 0) {
                    repeated++;
                    return;
                }
                lacking = claim;
            }
            if (isPassedOver(lacking.consumer(), number) && !isAsserted(lacking.consumer(), number)) {
                miss(lacking.consumer(), number);
            }
        }

        private void countSuperseded(int begin, long run) {
            for (int i = begin; i < at; i++) {
                int receipt = order[i];
                if (state[receipt] == RIGHT && consumers[receipts.consumer(receipt)].run() != run) {
                    superseded++;
                }
            }
        }

        /** Returns the first piece without a correct receipt of the consumer; -1 if there is none. */
        private int lackingPiece(Claim claim, long number, int begin) {
            DeliveredBatch batch = EpochJudge.this.batch(claim.tail(), number);
            if (batch == null) {
                return -1;
            }
            int consumer = pass.number(claim.consumer());
            int pieces = batch.pieces().size();
            for (int piece = 0; piece < pieces; piece++) {
                boolean there = false;
                for (int i = begin; i < at && !there; i++) {
                    int receipt = order[i];
                    // An altered receipt is already a finding. The batch does not also count as missing.
                    there = receipts.consumer(receipt) == consumer
                            && receipts.piece(receipt) == piece
                            && (state[receipt] == RIGHT || state[receipt] == WRONG);
                }
                if (!there) {
                    return piece;
                }
            }
            return -1;
        }
    }
}
