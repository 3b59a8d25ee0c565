package dev.stoker.metadata.audit;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.metadata.audit.report.Ranges;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Judges one epoch of a pass, section by section from its end to its beginning. Not thread-safe. */
final class EpochJudge {

    private final PassState pass;
    private final AuditedStream stream;
    private final long epoch;
    private final Findings findings;
    private final EpochClaims claims;
    private final ReceiptJudge content;
    private final long batches;
    private final long leftOutFrom;

    private Ranges asserted = new Ranges();
    private Ranges open = new Ranges();
    private Ranges skippedBatches = new Ranges();
    private long acknowledged;
    private long missing;
    private long leftOut;
    private long repeated;
    private long superseded;

    EpochJudge(PassState pass, long epoch, Findings findings) {
        this.pass = pass;
        this.epoch = epoch;
        this.findings = findings;
        this.claims = Objects.requireNonNull(pass.claims.get(epoch), "only epochs with claims are judged");
        this.stream = pass.stream(epoch);
        this.content = new ReceiptJudge(pass, stream, epoch, findings);
        this.batches = stream.order().size().batches();
        this.leftOutFrom = claims.leftOutFrom(stream.order().size(), pass.newestStanding(epoch));
    }

    @Nullable
    AssignedSlots claim(Consumer consumer, long number) {
        return claims.of(consumer, number);
    }

    void foreign(Consumer consumer, long number) {
        findings.add(
                Finding.Kind.FOREIGN,
                1,
                content.where(number) + ": receipt of " + Names.of(consumer) + ", which was not given this batch");
    }

    /** Judges the numbers [from, to) from all of their receipts. */
    void judge(ReceiptColumns receipts, long from, long to) throws IOException {
        int[] order = receipts.byNumber(from, to);
        new Stretch(receipts, order, content.check(receipts, order)).judge(from, to);
    }

    long duplicates() {
        return content.duplicates();
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
                content.skipped());
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
            List<AssignedSlots> responsible = claims.responsible(number);
            if (!responsible.isEmpty()) {
                countSuperseded(begin, responsible.get(0).consumer().run());
            }
            AssignedSlots lacking = null;
            for (AssignedSlots claim : responsible) {
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

        private void judgeLacking(AssignedSlots claim, long number) {
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
            return content.last(consumer) > number;
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
            List<AssignedSlots> responsible = claims.responsible(number);
            if (responsible.isEmpty() || responsible.get(0).consumer().run() != claims.greatestRun()) {
                return;
            }
            AssignedSlots lacking = responsible.get(0);
            for (AssignedSlots claim : responsible) {
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
                if (state[receipt] == ReceiptJudge.RIGHT && consumers[receipts.consumer(receipt)].run() != run) {
                    superseded++;
                }
            }
        }

        /** Returns the first piece without a correct receipt of the consumer; -1 if there is none. */
        private int lackingPiece(AssignedSlots claim, long number, int begin) {
            DeliveredBatch batch = content.batch(claim.tail(), number);
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
                            && (state[receipt] == ReceiptJudge.RIGHT || state[receipt] == ReceiptJudge.WRONG);
                }
                if (!there) {
                    return piece;
                }
            }
            return -1;
        }
    }
}
