package dev.stoker.feeder.simulation;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Takes the receipts of one batch out of a whole ledger, as if the batch had never been delivered. The audit must then
 * report it, and no other batch. If no trainer of the group has resumed, the report is known: the batch is missing if
 * its trainer acknowledged a later one, and open otherwise.
 */
final class LostBatch {
    private record Acknowledged(Consumer consumer, long epoch, long number) {
        boolean isBefore(Acknowledged other) {
            return other.consumer.equals(consumer)
                    && (other.epoch > epoch || (other.epoch == epoch && other.number > number));
        }
    }

    /** Audits a ledger. */
    interface Auditor {
        AuditReport audit(ObjectStore ledger) throws IOException;
    }

    private final ObjectStore ledger;
    private final TrainingGroup group;
    private final Random random;

    LostBatch(ObjectStore ledger, TrainingGroup group, Random random) {
        this.ledger = ledger;
        this.group = group;
        this.random = random;
    }

    /**
     * Fails unless the audit reports the batch.
     *
     * @param whole the report on the whole ledger
     */
    void requireReported(AuditReport whole, Auditor auditor) throws IOException {
        List<Acknowledged> all = new ArrayList<>();
        for (ObjectInfo file : ledger.list("").toList()) {
            for (LedgerRecord entry : records(file)) {
                if (entry instanceof Receipts receipts && isOurs(receipts.consumer())) {
                    receipts.entries()
                            .forEach(receipt ->
                                    all.add(new Acknowledged(receipts.consumer(), receipts.epoch(), receipt.number())));
                }
            }
        }
        List<Acknowledged> batches = all.stream()
                .filter(one -> one.number() < group.oracle().size().batches())
                .toList();
        if (batches.isEmpty()) {
            return;
        }
        Acknowledged lost = batches.get(random.nextInt(batches.size()));
        AuditReport report = auditor.audit(without(lost));
        AuditReport.Epoch before = epoch(whole, lost.epoch());
        AuditReport.Epoch after = epoch(report, lost.epoch());
        String where = "epoch " + lost.epoch() + ", batch " + lost.number() + " is missing";
        boolean isMissing = report.findings().stream()
                .anyMatch(finding -> finding.kind() == Finding.Kind.MISSING
                        && finding.message().contains("group " + group.name() + ",")
                        && finding.message().contains(where));
        boolean isMissed = all.stream().anyMatch(lost::isBefore);
        long reported =
                after.missing() + after.open().count() + after.asserted().count();
        long gone = before.acknowledged() - after.acknowledged();
        // A run that began later, with fewer ranks, can leave the batch out under tail drop.
        long leftOut = after.leftOut() - before.leftOut();
        boolean isRight = group.hasResumed()
                ? gone == reported - before.asserted().count() + leftOut && gone <= 1
                : gone == 1
                        && reported == 1
                        && isMissing == isMissed
                        && after.open().count() == (isMissed ? 0 : 1);
        if (!isRight) {
            throw new AssertionError("without the receipts of " + lost + ", of which "
                    + (isMissed ? "a later batch was" : "no later batch was") + " acknowledged, the audit says "
                    + after + ", before " + before + ": " + report.findings());
        }
    }

    private boolean isOurs(Consumer consumer) {
        return consumer.stream().equals(group.stream())
                && consumer.group().equals(group.name())
                && consumer.replica() == 0;
    }

    private AuditReport.Epoch epoch(AuditReport report, long epoch) {
        return report.passes().stream()
                .filter(pass -> pass.stream().equals(group.stream())
                        && pass.group().equals(group.name())
                        && pass.replica() == 0)
                .findFirst()
                .orElseThrow()
                .epochs()
                .get(Math.toIntExact(epoch));
    }

    private List<LedgerRecord> records(ObjectInfo file) throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        byte[] bytes = ledger.readAll(file.name(), Integer.MAX_VALUE);
        LedgerReader reader = new LedgerReader(new ByteArrayInputStream(bytes), file.name());
        for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
            records.add(next.get());
        }
        return records;
    }

    /** Returns the ledger without the receipts of a batch, of all runs. */
    private ObjectStore without(Acknowledged lost) throws IOException {
        InMemoryObjectStore changed = new InMemoryObjectStore();
        for (ObjectInfo file : ledger.list("").toList()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            LedgerWriter writer = new LedgerWriter(out, new byte[16]);
            for (LedgerRecord entry : records(file)) {
                boolean isAffected = entry instanceof Receipts receipts
                        && isOurs(receipts.consumer())
                        && receipts.epoch() == lost.epoch();
                writer.write(isAffected ? without((Receipts) entry, lost.number()) : entry);
            }
            writer.finish();
            changed.createIfAbsent(file.name(), out.toByteArray());
        }
        return changed;
    }

    private static Receipts without(Receipts receipts, long number) {
        return new Receipts(
                receipts.atMs(),
                receipts.consumer(),
                receipts.epoch(),
                receipts.viewTag(),
                receipts.entries().stream()
                        .filter(receipt -> receipt.number() != number)
                        .toList());
    }
}
