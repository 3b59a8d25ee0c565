package dev.stoker.server;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.erasure.DeletedChunks;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.feed.StreamSpec;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.StreamVersions;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens streams, wherever their datasets are. For one thread; what it opens is for any. */
public final class DatasetStreams implements FeedServer.Streams {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetStreams.class);

    private final UUID feed;
    private final List<StreamSpec> specs;
    private final Map<String, Opened> opened = new ConcurrentHashMap<>();

    /** @param feed the feed's id */
    public DatasetStreams(UUID feed, List<StreamSpec> specs) {
        this.feed = feed;
        this.specs = List.copyOf(specs);
    }

    @Override
    public List<ServedStream> open(ChunkSources sources) throws IOException {
        List<ServedStream> streams = new ArrayList<>();
        for (StreamSpec spec : specs) {
            streams.add(open(spec, sources));
        }
        return streams;
    }

    @Override
    public Optional<StreamVersions> versions(String stream) {
        return Optional.ofNullable(opened.get(stream))
                .filter(known -> known.spec().follow())
                .map(known -> known);
    }

    @Override
    public Optional<SampleIndex> index(ServedStream stream) throws IOException {
        Opened known = opened.get(stream.name());
        return known == null ? Optional.empty() : Optional.of(known.index(stream));
    }

    private ServedStream open(StreamSpec spec, ChunkSources sources) throws IOException {
        ObjectStore store = sources.counted(Stores.open(spec.path()));
        try {
            Dataset dataset = Dataset.open(store);
            if (!dataset.info().id().equals(spec.dataset())) {
                throw new ForeignFileException(
                        spec.path(),
                        "dataset " + spec.dataset() + " of stream " + spec.name(),
                        "it is dataset " + dataset.info().id());
            }
            Opened stream = new Opened(feed, spec, dataset, sources.of(store), sources, new DeletedChunks(dataset));
            opened.put(spec.name(), stream);
            return stream.open(spec.version());
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    /** A stream of which any version can be opened. */
    private record Opened(
            UUID feed,
            StreamSpec spec,
            Dataset dataset,
            ChunkSource source,
            ChunkSources sources,
            DeletedChunks deleted)
            implements StreamVersions {
        @Override
        public long choose(String group, long epoch, OptionalLong wanted, EpochVersions.Check check)
                throws IOException {
            return of(group).choose(epoch, wanted, version -> {
                // A version that has nothing of the split is not chosen.
                dataset.snapshot(version).stream(spec.split());
                check.accept(version);
            });
        }

        @Override
        public long newest() throws IOException {
            return dataset.latestVersion();
        }

        @Override
        public OptionalLong find(String group, long epoch) throws IOException {
            return of(group).find(epoch);
        }

        /** Protects the version from being expired, unless the dataset cannot be written. */
        private void use(long version) throws IOException {
            try {
                new VersionUses(dataset).take(version, feed, InstantSource.system(), WriterProcess.user());
            } catch (ExpiredVersionException e) {
                throw e;
            } catch (IOException e) {
                LOG.warn(
                        "Version {} of {} is not protected from stoker expire, because its use was not written: {}",
                        version,
                        dataset.where(),
                        e.toString());
            }
        }

        SampleIndex index(ServedStream stream) throws IOException {
            return SampleIndex.ofSplit(dataset, dataset.snapshot(stream.version()), stream.split());
        }

        private EpochVersions of(String group) {
            return new EpochVersions(dataset, new EpochChoice.Pass(feed, spec.name(), group), InstantSource.system());
        }

        /** Drops copies of chunks that erasures have deleted since the last version was opened. */
        private void dropErased() {
            try {
                Set<UUID> chunks = deleted.next();
                if (!chunks.isEmpty()) {
                    sources.erase(dataset.store(), chunks);
                    LOG.info("Dropped copies of {} erased chunks of {}", chunks.size(), dataset.where());
                }
            } catch (IOException e) {
                LOG.warn("Copies of erased chunks of {} may be kept: {}", dataset.where(), e.toString());
            }
        }

        @Override
        public ServedStream open(long version) throws IOException {
            use(version);
            dropErased();
            Snapshot snapshot = dataset.snapshot(version);
            return new ServedStream(
                    spec.name(),
                    dataset.info().id(),
                    dataset.info().name(),
                    snapshot.version(),
                    spec.split(),
                    snapshot.stream(spec.split()),
                    snapshot.info().fields(),
                    snapshot.classes(),
                    source,
                    where -> Selections.stream(dataset.store(), snapshot, spec.split(), where));
        }
    }
}
