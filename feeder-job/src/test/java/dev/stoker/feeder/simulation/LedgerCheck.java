package dev.stoker.feeder.simulation;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.audit.Audit;
import dev.stoker.metadata.audit.RequiredEpochs;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * The check of a simulation that has ended: the groups that the feed had to serve have read everything, and the audit
 * of the ledger agrees.
 */
final class LedgerCheck {
    private final FeedPlan plan;
    private final List<TestDataset> datasets;
    private final SimulatedStore ledger;
    private final List<TrainingGroup> groups;

    /** @param groups all groups, also those that the feed did not have to serve */
    LedgerCheck(FeedPlan plan, List<TestDataset> datasets, SimulatedStore ledger, List<TrainingGroup> groups) {
        this.plan = plan;
        this.datasets = datasets;
        this.ledger = ledger;
        this.groups = groups;
    }

    /** Fails unless these groups have read everything, according to themselves and the audit. */
    void requireComplete(List<TrainingGroup> known) throws IOException {
        known.forEach(TrainingGroup::requireComplete);
        List<Dataset> opened = new ArrayList<>();
        for (TestDataset dataset : datasets) {
            Dataset open = Dataset.open(new LocalObjectStore(dataset.path()));
            if (opened.stream()
                    .noneMatch(other -> other.info().id().equals(open.info().id()))) {
                opened.add(open);
            }
        }
        boolean all = known.size() == groups.size();
        AuditReport report =
                audit(ledger.files(), opened, all ? RequiredEpochs.ofAll(plan.epochs()) : RequiredEpochs.NONE);
        List<Finding> findings = report.findings().stream()
                .filter(finding -> isOfKnown(finding, known))
                .toList();
        if (!findings.isEmpty()) {
            throw new AssertionError("the audit does not agree: " + findings);
        }
        for (TrainingGroup group : known) {
            requireAudited(group, report);
        }
        Random random = new Random(plan.id().getLeastSignificantBits());
        for (TrainingGroup group : known) {
            new LostBatch(ledger.files(), group, random)
                    .requireReported(report, files -> audit(files, opened, RequiredEpochs.NONE));
        }
    }

    private AuditReport audit(ObjectStore files, List<Dataset> opened, RequiredEpochs epochs) throws IOException {
        return new Audit(files, opened, Optional.of(plan.id()), epochs, List.of(), progress -> {}).run();
    }

    /** Fails unless the audit counts each batch of each epoch as acknowledged. */
    private static void requireAudited(TrainingGroup group, AuditReport report) {
        for (int replica = 0; replica < group.replicas(); replica++) {
            int which = replica;
            List<AuditReport.Pass> passes = report.passes().stream()
                    .filter(pass -> pass.stream().equals(group.stream())
                            && pass.group().equals(group.name())
                            && pass.replica() == which)
                    .toList();
            boolean isWhole = passes.size() == 1
                    && passes.get(0).epochs().size() == group.epochs()
                    && passes.get(0).epochs().stream()
                            .allMatch(epoch -> epoch.acknowledged()
                                            + epoch.asserted().count()
                                            + epoch.leftOut()
                                            + epoch.skippedBatches().count()
                                    == group.oracle().size().batches());
            if (!isWhole) {
                throw new AssertionError("the audit does not have all of replica " + replica + " of group "
                        + group.name() + " of stream " + group.stream() + ": " + passes);
            }
        }
    }

    /**
     * Returns whether a finding is about a group that the feed had to serve, rather than one that started when the feed
     * ended.
     */
    private boolean isOfKnown(Finding finding, List<TrainingGroup> known) {
        boolean isOfOther = finding.message().contains("group " + HostileTrainer.GROUP)
                || groups.stream()
                        .anyMatch(group ->
                                finding.message().contains("group " + group.name() + ",") && !known.contains(group));
        return !isOfOther;
    }
}
