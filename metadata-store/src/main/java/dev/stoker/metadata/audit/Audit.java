package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Checks that a feed delivered each batch exactly once, from its ledger and the datasets alone.
 *
 * <p>Reads the ledger once to learn the assigned numbers of all consumers. Then reads it again, each time for as many
 * receipts as fit the permitted memory (44 bytes for each receipt). Within these it proceeds lane by lane and keeps two
 * windows of heads in memory. Not thread-safe. Its own threads read ledger files and heads, several at a time.
 */
public final class Audit {

    /** How often the audit begins again because files were merged under it. */
    private static final int ATTEMPTS = 5;

    /** Maximum number of receipts in memory. */
    static final int DEFAULT_RECEIPTS = 4_000_000;

    private final ObjectStore ledger;
    private final List<Dataset> datasets;
    private final Optional<UUID> feed;
    private final RequiredEpochs epochs;
    private final List<DeliverySign> signs;
    private final int receiptsAtOnce;
    private final Consumer<String> progress;
    private final Optional<AuditWorkers> workers;

    /**
     * @param ledger the ledger's directory
     * @param datasets the datasets that the feed serves
     * @param feed the feed's id, if known; the ledger must then contain nothing of another feed
     * @param epochs epochs that must be complete
     * @param signs signs that feeds of the ledger have delivered
     * @param progress receives the current activity from time to time
     */
    public Audit(
            ObjectStore ledger,
            List<Dataset> datasets,
            Optional<UUID> feed,
            RequiredEpochs epochs,
            List<DeliverySign> signs,
            Consumer<String> progress) {
        this(ledger, datasets, feed, epochs, signs, progress, Optional.empty(), DEFAULT_RECEIPTS);
    }

    /**
     * An audit whose epochs other workers judge.
     *
     * @param ledger the ledger's directory
     * @param datasets the datasets that the feed serves
     * @param feed the feed's id, if known; the ledger must then contain nothing of another feed
     * @param epochs epochs that must be complete
     * @param signs signs that feeds of the ledger have delivered
     * @param progress receives the current activity from time to time
     * @param workers judge the epochs
     */
    public Audit(
            ObjectStore ledger,
            List<Dataset> datasets,
            Optional<UUID> feed,
            RequiredEpochs epochs,
            List<DeliverySign> signs,
            Consumer<String> progress,
            AuditWorkers workers) {
        this(ledger, datasets, feed, epochs, signs, progress, Optional.of(workers), DEFAULT_RECEIPTS);
    }

    Audit(
            ObjectStore ledger,
            List<Dataset> datasets,
            Optional<UUID> feed,
            RequiredEpochs epochs,
            List<DeliverySign> signs,
            Consumer<String> progress,
            Optional<AuditWorkers> workers,
            int receiptsAtOnce) {
        this.signs = List.copyOf(signs);
        this.ledger = ledger;
        this.datasets = List.copyOf(datasets);
        this.feed = feed;
        this.epochs = epochs;
        this.progress = progress;
        this.workers = workers;
        this.receiptsAtOnce = receiptsAtOnce;
    }

    /**
     * Reads and judges the whole ledger. The report contains all problems.
     *
     * @throws IOException if ledger or dataset cannot be read, as opposed to being wrong
     */
    public AuditReport run() throws IOException {
        try (Reads reads = new Reads()) {
            for (int attempt = 1; ; attempt++) {
                try {
                    return run(reads);
                } catch (LedgerChangedException e) {
                    // The feed has merged files since they were listed.
                    if (attempt == ATTEMPTS) {
                        throw e;
                    }
                }
            }
        }
    }

    private AuditReport run(Reads reads) throws IOException {
        Findings findings = new Findings();
        LedgerFiles files =
                LedgerFiles.list(ledger, signs.stream().map(DeliverySign::file).collect(Collectors.toSet()), reads);
        Follows follows = new Follows(datasets, findings);
        Survey survey = new Survey(datasets, feed, follows, findings, reads);
        progress.accept("reading " + files.size() + " ledger files");
        files.visit(survey::visit, e -> findings.add(Finding.Kind.DAMAGED_LEDGER, 0, ErrorText.of(e)));
        requireSigned(files, findings);
        Map<PassKey, PassState> passes = survey.passes();
        JudgedEpochs judged = judge(files, follows, passes, findings);
        List<AuditReport.Pass> reports = new ArrayList<>();
        for (PassState pass : passes.values()) {
            reports.add(report(pass, judged.of(pass.key), findings));
        }
        requireGroups(passes.keySet(), findings);
        return new AuditReport(
                files.size(),
                survey.records,
                survey.receipts,
                judged.duplicates(),
                reports,
                findings.kept(),
                findings.counts());
    }

    /** Each group that is named must have subscribed, and at least one if all must be complete. */
    private void requireGroups(Set<PassKey> passes, Findings findings) {
        if (passes.isEmpty() && epochs.byDefault().orElse(0) > 0) {
            findings.add(Finding.Kind.MISSING, 0, "the ledger has no subscription");
        }
        Set<String> known = new TreeSet<>();
        passes.forEach(pass -> known.add(pass.name()));
        new TreeMap<>(epochs.byGroup()).forEach((group, count) -> {
            boolean isKnown = passes.stream().anyMatch(pass -> group.equals(pass.group()) || group.equals(pass.name()));
            if (!isKnown && count > 0) {
                findings.add(
                        Finding.Kind.MISSING,
                        0,
                        "the ledger has no subscription of group " + group
                                + (known.isEmpty() ? "" : "; it has " + String.join(", ", known)));
            }
        });
    }

    /** Each file that a sign names must be there; of an epoch one missing file is told. */
    private void requireSigned(LedgerFiles files, Findings findings) {
        Set<String> told = new HashSet<>();
        for (DeliverySign sign : signs) {
            if (!files.has(sign.file()) && told.add(sign.feed() + " " + sign.epoch())) {
                findings.add(
                        Finding.Kind.DAMAGED_LEDGER,
                        0,
                        "receipts of epoch " + sign.epoch() + " of feed " + sign.feed()
                                + " are missing: the ledger has no file " + sign.file() + ", which " + sign.where()
                                + " says the feed wrote; restore the ledger from a copy");
            }
        }
    }

    private JudgedEpochs judge(LedgerFiles files, Follows follows, Map<PassKey, PassState> passes, Findings findings)
            throws IOException {
        if (workers.isEmpty()) {
            return new Judgement(files, follows, findings, receiptsAtOnce, progress)
                    .judge(passes.values(), epoch -> true);
        }
        progress.accept("judging the epochs");
        try {
            return workers.get().judge(files, feed, passes.values(), receiptsAtOnce, findings);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the epochs were judged");
        }
    }

    private AuditReport.Pass report(PassState pass, TreeMap<Long, AuditReport.Epoch> judged, Findings findings) {
        long known = judged.isEmpty() ? 0 : judged.lastKey() + 1;
        long required = epochs.of(pass.key.stream(), pass.key.group());
        long wanted = Math.max(known, required);
        List<AuditReport.Epoch> all = new ArrayList<>();
        pass.receipts.forEach((epoch, count) -> {
            if (!pass.claims.containsKey(epoch) && count > 0) {
                findings.add(
                        Finding.Kind.FOREIGN,
                        count,
                        pass.key + ": " + Units.plural(count, "receipt") + " of epoch " + epoch
                                + ", which has no subscription");
            }
        });
        for (long epoch = 0; epoch < wanted; epoch++) {
            AuditReport.Epoch report = judged.get(epoch);
            if (report == null) {
                report = unclaimed(pass, epoch, epoch < known, findings);
            }
            if (epoch < required && report.open().count() > 0) {
                findings.add(
                        Finding.Kind.MISSING,
                        report.open().count(),
                        pass.key + ", epoch " + epoch + ": "
                                + Units.plural(report.open().count(), "batch") + " not acknowledged (" + report.open()
                                + ")");
            }
            all.add(report);
        }
        return new AuditReport.Pass(
                pass.key.feed(),
                pass.key.stream(),
                pass.key.group(),
                pass.key.replica(),
                pass.source.dataset(),
                pass.stream(Long.MAX_VALUE).snapshot().version(),
                pass.source.split(),
                pass.source.order(),
                pass.key.fingerprint(),
                pass.stream(Long.MAX_VALUE).order().size().batches(),
                List.copyOf(pass.runs()),
                all);
    }

    /**
     * Returns the result of an epoch without a subscription: before the first position, passed over, or in the future.
     */
    private static AuditReport.Epoch unclaimed(PassState pass, long epoch, boolean before, Findings findings) {
        AuditedStream stream = pass.stream(epoch);
        long batches = stream.order().size().batches();
        EpochBatches none = new EpochBatches(0, List.of());
        EpochBatches all = batches == 0 ? none : new EpochBatches(batches, List.of(new BatchRange(0, batches - 1)));
        boolean missing = before && pass.isPassedOver(epoch);
        if (missing && batches > 0) {
            findings.add(
                    Finding.Kind.MISSING,
                    batches,
                    pass.key + ", epoch " + epoch + ": all " + Units.plural(batches, "batch")
                            + " missing, its trainers continued in a later epoch");
        }
        return new AuditReport.Epoch(
                epoch,
                stream.snapshot().version(),
                batches,
                0,
                missing ? batches : 0,
                before && !missing ? all : none,
                0,
                none,
                before ? none : all,
                0,
                0,
                List.of());
    }
}
