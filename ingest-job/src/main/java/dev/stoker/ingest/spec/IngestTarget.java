package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The target of an ingest that commits one version.
 *
 * @param location of the dataset
 * @param stores opens the dataset's store
 * @param effect on the samples that the dataset has
 */
public record IngestTarget(String location, DatasetStore stores, IngestRun.Effect effect) {

    /**
     * The state of the target before an ingest.
     *
     * @param info describes the dataset with the fields that the ingest packs; empty if it does not exist
     * @param version its newest version; 0 if there is none
     * @param isEmpty whether no version ever had a sample
     * @param committed the version, if an earlier run of the ingest has committed it
     */
    public record State(Optional<DatasetInfo> info, long version, boolean isEmpty, Optional<LogEntry> committed) {

        /**
         * Returns the description that an ingest without success has left, for an ingest that wants to be the first.
         * Its fields bind nobody.
         */
        public Optional<DatasetInfo> begun(IngestRun.Effect effect) {
            return info.filter(
                    found -> version == 0 && effect == IngestRun.Effect.CREATE && TargetDataset.isBegunByIngest(found));
        }
    }

    /**
     * Inspects the target. Writes nothing.
     *
     * @param ingest id of the ingest, if it may have run before
     * @throws InvalidIngestException if the location has other contents, or the effect would be to replace samples
     *     without being asked
     */
    public State inspect(Optional<String> ingest) throws IOException {
        try (ObjectStore store = stores.open(location)) {
            Optional<Dataset> found = Dataset.find(store);
            if (found.isEmpty()) {
                FreeTarget.require(location, store);
                return new State(Optional.empty(), 0, true, Optional.empty());
            }
            Dataset dataset = found.get();
            if (ingest.isPresent()) {
                Optional<LogEntry> committed = new VersionCommitter(dataset, Clock.systemUTC(), "")
                        .find(ingest.get())
                        .map(commit -> commit.entry());
                if (committed.isPresent()) {
                    return new State(
                            Optional.of(fields(dataset)), committed.get().version(), false, committed);
                }
            }
            long version = dataset.latestVersion();
            boolean isEmpty = TargetDataset.isEmpty(dataset);
            if (!isEmpty && effect == IngestRun.Effect.CREATE) {
                throw new InvalidIngestException("the target " + location + " already has version " + version
                        + "; add to it with --append, or create a version with only the new samples with --replace");
            }
            return new State(Optional.of(fields(dataset)), version, isEmpty, Optional.empty());
        }
    }

    /**
     * A sync compares the fields that it packs from files with the stored ones. Files do not give the fields that were
     * added later.
     */
    private DatasetInfo fields(Dataset dataset) throws IOException {
        return effect == IngestRun.Effect.SYNC
                ? dataset.info()
                : dataset.latest().info();
    }

    /**
     * Takes the ingest's lease, so that garbage collection keeps its chunks until they are committed.
     *
     * @param info of the dataset that was inspected or created
     * @param process the packing process; empty if there are several
     * @throws dev.stoker.metadata.lease.LeaseHeldException if the ingest would be the dataset's first and another one
     *     is running
     */
    public void lease(DatasetInfo info, String ingest, String process) throws IOException {
        try (ObjectStore store = stores.open(location)) {
            Dataset dataset = Dataset.open(store);
            if (!dataset.info().id().equals(info.id())) {
                throw new InvalidIngestException(
                        "the dataset at " + location + " was replaced by another one meanwhile; run the ingest again");
            }
            Leases leases = new Leases(dataset);
            if (effect == IngestRun.Effect.CREATE) {
                leases.takeAlone(ingest, Clock.systemUTC(), WriterProcess.user(), process);
            } else {
                leases.take(ingest, Clock.systemUTC(), WriterProcess.user(), process);
            }
        } catch (DatasetExistsException e) {
            throw new InvalidIngestException("another ingest has committed to " + location
                    + " meanwhile; add to it with --append, or create a version with only the new samples with"
                    + " --replace");
        }
    }

    /**
     * Returns the ingest to commit.
     *
     * @param info of the dataset that was inspected or created
     * @param ingest its id
     * @param version the newest one, against which keys are checked
     * @param source the location of the samples, for the log
     */
    public IngestRun run(DatasetInfo info, String ingest, OnDuplicate onDuplicate, long version, String source) {
        TreeMap<String, String> properties = new TreeMap<>();
        properties.put(IngestRun.SOURCE, source);
        return new IngestRun(stores, location, info.id().toString(), ingest, effect, onDuplicate, version, properties);
    }

    /** Returns the number of chunks of a version with whose keys the new keys are compared. */
    public long taken(long version) throws IOException {
        boolean keeps = effect == IngestRun.Effect.APPEND || effect == IngestRun.Effect.SYNC;
        if (!keeps || version == 0) {
            return 0;
        }
        try (ObjectStore store = stores.open(location)) {
            return Dataset.open(store).anySnapshot(version).table().size();
        }
    }

    /**
     * Returns the line of a plan with the target and the effect.
     *
     * @param version the newest version
     * @param name of the dataset
     */
    public String line(long version, String name) {
        return "into   " + location + " (" + text(version, name) + ")";
    }

    private String text(long version, String name) {
        if (version == 0) {
            return "new dataset " + name;
        }
        return switch (effect) {
                    case REPLACE -> "replaces the samples of version ";
                    case SYNC -> "brings up to date version ";
                    case CREATE, APPEND -> "adds to version ";
                }
                + version;
    }
}
