package dev.stoker.metadata.audit.report;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Contains the results of an audit.
 *
 * @param files number of ledger files read
 * @param records number of records in them
 * @param receipts number of receipts in them, including duplicates
 * @param duplicates number of receipts that were equal to another one
 * @param passes the passes, one for each stream, group, order and replica
 * @param findings the problems, at most a thousand of each kind
 * @param counts number of findings of each kind
 */
public record AuditReport(
        int files,
        long records,
        long receipts,
        long duplicates,
        List<Pass> passes,
        List<Finding> findings,
        Map<Finding.Kind, Long> counts) {
    public AuditReport {
        passes = List.copyOf(passes);
        findings = List.copyOf(findings);
        counts = Map.copyOf(counts);
    }

    /** Returns whether there are no problems. Open and asserted batches are not problems. */
    public boolean isClean() {
        return findings.isEmpty();
    }

    /**
     * Describes one group's pass over a stream under one order.
     *
     * @param feed id of the feed
     * @param stream name of the stream
     * @param group name of the group
     * @param replica number of the replica
     * @param dataset id of the dataset
     * @param version version of the dataset; if the feed follows it, the version of the last epoch
     * @param split the split
     * @param order the order spec, canonical JSON
     * @param fingerprint fingerprint of stream and order; empty if the feed follows the dataset
     * @param batches number of batches of an epoch; if the feed follows the dataset, of the last epoch
     * @param runs runs, in their order
     * @param epochs epochs from the first to the last that was begun
     */
    public record Pass(
            String feed,
            String stream,
            String group,
            int replica,
            String dataset,
            long version,
            String split,
            String order,
            String fingerprint,
            long batches,
            List<Long> runs,
            List<Epoch> epochs) {
        public Pass {
            runs = List.copyOf(runs);
            epochs = List.copyOf(epochs);
        }
    }

    /**
     * Contains the results of an epoch. Each of its batches counts once, in one of {@code acknowledged, missing,
     * asserted, leftOut, skippedBatches, open}.
     *
     * @param epoch the epoch, from 0
     * @param version version of the dataset
     * @param batches batches of the epoch
     * @param acknowledged batches with all receipts of the responsible run
     * @param missing batches that were passed over
     * @param asserted batches without receipt before the position at which a run began: the trainer asserts that it
     *     received them
     * @param leftOut batches that no rank receives under tail {@code drop}
     * @param skippedBatches batches that the trainers left out on purpose
     * @param open batches that may still be acknowledged
     * @param repeated acknowledged numbers past the end of the epoch, which keep ranks even
     * @param superseded receipts of batches that a later run received again
     * @param skipped pieces with rows that were left out as damaged
     */
    public record Epoch(
            long epoch,
            long version,
            long batches,
            long acknowledged,
            long missing,
            EpochBatches asserted,
            long leftOut,
            EpochBatches skippedBatches,
            EpochBatches open,
            long repeated,
            long superseded,
            List<Skipped> skipped)
            implements Serializable {
        private static final long serialVersionUID = 1;

        public Epoch {
            skipped = List.copyOf(skipped);
        }
    }

    /**
     * Describes rows that a piece lacks because they are damaged.
     *
     * @param number virtual number of the batch
     * @param piece index of the piece
     * @param rows number of rows
     * @param samples the rows, if known
     */
    public record Skipped(long number, int piece, int rows, List<String> samples) implements Serializable {
        private static final long serialVersionUID = 1;

        public Skipped {
            samples = List.copyOf(samples);
        }
    }
}
