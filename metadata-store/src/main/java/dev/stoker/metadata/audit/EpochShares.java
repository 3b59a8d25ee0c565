package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Judges the epochs of an audit: a piece is a share of them. The store is the ledger's. */
final class EpochShares implements PieceWork<EpochShares.Judged> {

    private static final long serialVersionUID = 1;

    private final ArrayList<String> files;
    private final ArrayList<String> datasets;
    private final @Nullable UUID feed;
    private final int receiptsAtOnce;
    private final ArrayList<ArrayList<EpochKey>> shares;

    /**
     * The results of a share.
     *
     * @param share its number
     * @param epochs its epochs
     * @param findings the problems of these epochs
     */
    record Judged(int share, JudgedEpochs epochs, Findings findings) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /**
     * @param files names of the ledger files
     * @param datasets their directories or URIs
     * @param feed id of the feed; null if it is not known
     * @param receiptsAtOnce the most receipts in memory
     * @param shares the epochs
     */
    EpochShares(
            List<String> files,
            ArrayList<String> datasets,
            @Nullable UUID feed,
            int receiptsAtOnce,
            ArrayList<ArrayList<EpochKey>> shares) {
        this.files = new ArrayList<>(files);
        this.datasets = datasets;
        this.feed = feed;
        this.receiptsAtOnce = receiptsAtOnce;
        this.shares = shares;
    }

    int pieces() {
        return shares.size();
    }

    @Override
    public Supplier<PieceWorker<Judged>> open(ObjectStore ledger) throws IOException {
        return () -> new Worker(ledger);
    }

    /** Reads the ledger once before its first share. */
    private final class Worker implements PieceWorker<Judged> {
        private final ObjectStore ledger;
        private final Reads reads = new Reads();
        private final List<ObjectStore> stores = new ArrayList<>();
        private @Nullable Surveyed surveyed;

        Worker(ObjectStore ledger) {
            this.ledger = ledger;
        }

        @Override
        public Judged run(int share) throws IOException {
            try {
                return judge(share);
            } catch (LedgerChangedException e) {
                // The audit begins again; another attempt of this task would fail as well.
                throw new StokerException(String.valueOf(e.getMessage()), e);
            }
        }

        private Judged judge(int share) throws IOException {
            if (surveyed == null) {
                surveyed = survey();
            }
            Findings findings = new Findings();
            Set<EpochKey> epochs = new HashSet<>(shares.get(share));
            JudgedEpochs judged = new Judgement(
                            surveyed.files, surveyed.follows, findings, receiptsAtOnce, activity -> {})
                    .judge(surveyed.passes, epochs::contains);
            return new Judged(share, judged, findings);
        }

        private Surveyed survey() throws IOException {
            List<Dataset> opened = new ArrayList<>();
            for (String location : datasets) {
                ObjectStore store = Stores.open(location);
                stores.add(store);
                opened.add(Dataset.open(store));
            }
            // Problems that a survey finds were reported by the one before.
            Findings known = new Findings();
            Follows follows = new Follows(opened, known);
            LedgerFiles listed = LedgerFiles.named(ledger, files, reads);
            Survey survey = new Survey(opened, Optional.ofNullable(feed), follows, known, reads);
            listed.visit(survey::visit, e -> {});
            return new Surveyed(listed, follows, new ArrayList<>(survey.passes().values()));
        }

        @Override
        public void close() throws IOException {
            reads.close();
            for (ObjectStore store : stores) {
                store.close();
            }
        }
    }

    private record Surveyed(LedgerFiles files, Follows follows, List<PassState> passes) {}
}
