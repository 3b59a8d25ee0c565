package dev.stoker.metadata.audit;

import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.metadata.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Workers on other machines that judge the epochs of an audit. Each one reads the whole ledger once to learn the
 * assigned numbers, and then again for each share of the epochs that it judges.
 *
 * @param workers read and write at the location of the ledger
 * @param shares number of shares into which the epochs are divided, at least
 * @param datasets directories or URIs of the datasets that the feed serves
 */
public record AuditWorkers(Workers workers, int shares, List<String> datasets) {

    public AuditWorkers {
        datasets = List.copyOf(datasets);
    }

    /** Judges all epochs that have a subscription. */
    JudgedEpochs judge(
            LedgerFiles files, Optional<UUID> feed, Collection<PassState> passes, int receiptsAtOnce, Findings findings)
            throws IOException, InterruptedException {
        EpochShares work = new EpochShares(
                files.names(),
                new ArrayList<>(datasets),
                feed.orElse(null),
                receiptsAtOnce,
                shares(passes, receiptsAtOnce));
        SortedMap<Integer, EpochShares.Judged> results = new TreeMap<>();
        try {
            workers.run(work.pieces(), work, result -> results.put(result.share(), result));
        } catch (IOException e) {
            files.requireAll(e);
            throw e;
        }
        JudgedEpochs judged = new JudgedEpochs();
        for (EpochShares.Judged result : results.values()) {
            judged.addAll(result.epochs());
            findings.addAll(result.findings());
        }
        return judged;
    }

    /** Divides the epochs, in their order, into shares with about as many receipts. */
    private ArrayList<ArrayList<EpochKey>> shares(Collection<PassState> passes, int receiptsAtOnce) {
        long all = passes.stream()
                .flatMap(pass -> pass.receipts.values().stream())
                .mapToLong(Long::longValue)
                .sum();
        long most = Math.min(receiptsAtOnce, Math.max(1, (all + shares - 1) / shares));
        ArrayList<ArrayList<EpochKey>> divided = new ArrayList<>();
        long receipts = 0;
        for (PassState pass : passes) {
            for (long epoch : pass.claims.keySet()) {
                long own = pass.receipts.getOrDefault(epoch, 0L);
                if (divided.isEmpty() || receipts + own > most) {
                    divided.add(new ArrayList<>());
                    receipts = 0;
                }
                divided.get(divided.size() - 1).add(new EpochKey(pass.key, epoch));
                receipts += own;
            }
        }
        return divided;
    }
}
