package dev.stoker.metadata.audit;

import dev.stoker.metadata.audit.report.AuditReport;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The results of epochs. Not thread-safe. */
final class JudgedEpochs implements Serializable {

    private static final long serialVersionUID = 1;

    private final ArrayList<Judged> epochs = new ArrayList<>();
    private long duplicates;

    private record Judged(PassKey pass, AuditReport.Epoch epoch) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /**
     * Adds an epoch.
     *
     * @param repeated number of receipts that were equal to another one
     */
    void add(PassKey pass, AuditReport.Epoch epoch, long repeated) {
        epochs.add(new Judged(pass, epoch));
        duplicates += repeated;
    }

    void addAll(JudgedEpochs others) {
        epochs.addAll(others.epochs);
        duplicates += others.duplicates;
    }

    /** Returns the epochs of a pass by number. */
    TreeMap<Long, AuditReport.Epoch> of(PassKey pass) {
        TreeMap<Long, AuditReport.Epoch> own = new TreeMap<>();
        List<Judged> all = epochs;
        for (Judged judged : all) {
            if (judged.pass.equals(pass)) {
                own.put(judged.epoch.epoch(), judged.epoch);
            }
        }
        return own;
    }

    /** Returns the number of receipts that were equal to another one. */
    long duplicates() {
        return duplicates;
    }
}
