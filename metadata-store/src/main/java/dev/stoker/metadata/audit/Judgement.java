package dev.stoker.metadata.audit;

import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Judges epochs: reads the ledger for as many of their receipts as fit the permitted memory, as often as necessary. Not
 * thread-safe.
 */
final class Judgement {

    private final LedgerFiles files;
    private final Follows follows;
    private final Findings findings;
    private final int receiptsAtOnce;
    private final Consumer<String> progress;

    /**
     * @param files of the ledger, which a survey has read
     * @param follows of the survey
     * @param findings receives the problems
     * @param receiptsAtOnce the most receipts in memory
     * @param progress receives the current activity from time to time
     */
    Judgement(LedgerFiles files, Follows follows, Findings findings, int receiptsAtOnce, Consumer<String> progress) {
        this.files = files;
        this.follows = follows;
        this.findings = findings;
        this.receiptsAtOnce = receiptsAtOnce;
        this.progress = progress;
    }

    /** Identifies the numbers [from, to) of an epoch. */
    private record Slice(PassState pass, long epoch, long from, long to, long receipts) {}

    /**
     * Judges epochs that have subscriptions.
     *
     * @param passes of the survey
     * @param epochs selects the epochs
     */
    JudgedEpochs judge(Iterable<PassState> passes, Predicate<EpochKey> epochs) throws IOException {
        JudgedEpochs judged = new JudgedEpochs();
        Deque<Slice> slices = slices(passes, epochs);
        Map<EpochKey, EpochJudge> judges = new HashMap<>();
        while (!slices.isEmpty()) {
            List<Slice> some = take(slices);
            Map<EpochKey, List<Slice>> wanted = new HashMap<>();
            Map<Slice, ReceiptColumns> columns = new HashMap<>();
            for (Slice slice : some) {
                wanted.computeIfAbsent(new EpochKey(slice.pass.key, slice.epoch), k -> new ArrayList<>())
                        .add(slice);
                columns.put(slice, new ReceiptColumns());
            }
            collect(wanted, columns, judges);
            for (Slice slice : some) {
                progress.accept(slice.pass.key + ": epoch " + slice.epoch);
                EpochKey key = new EpochKey(slice.pass.key, slice.epoch);
                EpochJudge judge = judge(judges, slice.pass, slice.epoch);
                judge.judge(
                        Objects.requireNonNull(columns.remove(slice), "each slice has columns"), slice.from, slice.to);
                if (slice.from == 0) {
                    judged.add(slice.pass.key, judge.finish(), judge.duplicates());
                    judges.remove(key);
                }
            }
        }
        return judged;
    }

    private EpochJudge judge(Map<EpochKey, EpochJudge> judges, PassState pass, long epoch) {
        return judges.computeIfAbsent(new EpochKey(pass.key, epoch), k -> new EpochJudge(pass, epoch, findings));
    }

    /** Splits epochs into sections. The last section of an epoch comes first. */
    private Deque<Slice> slices(Iterable<PassState> passes, Predicate<EpochKey> epochs) {
        Deque<Slice> slices = new ArrayDeque<>();
        for (PassState pass : passes) {
            for (Map.Entry<Long, EpochClaims> claimed : pass.claims.entrySet()) {
                long epoch = claimed.getKey();
                if (!epochs.test(new EpochKey(pass.key, epoch))) {
                    continue;
                }
                long end = Math.max(
                        pass.stream(epoch).order().size().batches(),
                        claimed.getValue().last() + 1);
                long receipts = pass.receipts.getOrDefault(epoch, 0L);
                long pieces = Math.max(1, Math.max(receipts, end) / receiptsAtOnce + 1);
                long length = (end + pieces - 1) / pieces;
                for (long i = pieces - 1; i >= 0; i--) {
                    long from = i * length;
                    if (from < end || i == 0) {
                        slices.add(new Slice(pass, epoch, from, Math.min(end, from + length), receipts / pieces));
                    }
                }
            }
        }
        return slices;
    }

    private List<Slice> take(Deque<Slice> slices) {
        List<Slice> some = new ArrayList<>();
        long receipts = 0;
        do {
            Slice slice = slices.poll();
            some.add(slice);
            receipts += slice.receipts;
        } while (!slices.isEmpty() && receipts + slices.peek().receipts <= receiptsAtOnce);
        return some;
    }

    private void collect(
            Map<EpochKey, List<Slice>> wanted, Map<Slice, ReceiptColumns> columns, Map<EpochKey, EpochJudge> judges)
            throws IOException {
        files.visit(
                entry -> {
                    if (entry instanceof Receipts receipts) {
                        dev.stoker.schemas.ledger.Consumer part = follows.part(receipts.consumer());
                        EpochKey key = new EpochKey(PassKey.of(part), receipts.epoch());
                        List<Slice> slices = wanted.get(key);
                        // Receipts of another version than the epoch's were reported when the file was first read.
                        if (slices != null && slices.get(0).pass.isOf(receipts)) {
                            PassState pass = slices.get(0).pass;
                            EpochJudge judge = judge(judges, pass, receipts.epoch());
                            int view = pass.viewNumber(receipts.viewTag());
                            for (Receipt receipt : receipts.entries()) {
                                collect(part, receipt, pass.number(part), view, slices, columns, judge);
                            }
                        }
                    }
                },
                // Reported when the file was first read.
                e -> {});
    }

    private static void collect(
            dev.stoker.schemas.ledger.Consumer part,
            Receipt receipt,
            int consumer,
            int view,
            List<Slice> slices,
            Map<Slice, ReceiptColumns> columns,
            EpochJudge judge) {
        AssignedSlots claim = judge.claim(part, receipt.number());
        for (Slice slice : slices) {
            boolean within = receipt.number() >= slice.from && receipt.number() < slice.to;
            if (within && claim != null) {
                Objects.requireNonNull(columns.get(slice), "each slice has columns")
                        .add(receipt, consumer, view, claim.tail());
            } else if (claim == null && slice.from == 0) {
                judge.foreign(part, receipt.number());
            }
        }
    }
}
