package dev.stoker.feeder.node;

import dev.stoker.feeder.node.chunks.ChunkSources;
import dev.stoker.feeder.node.window.ServedStream;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Opens streams, wherever their datasets are. */
final class DatasetStreams {
    private DatasetStreams() {}

    static List<ServedStream> open(List<StreamSpec> specs, ChunkSources sources) throws IOException {
        List<ServedStream> streams = new ArrayList<>();
        for (StreamSpec spec : specs) {
            streams.add(open(spec, sources));
        }
        return streams;
    }

    private static ServedStream open(StreamSpec spec, ChunkSources sources) throws IOException {
        ObjectStore store = sources.counted(Stores.open(spec.path()));
        try {
            return open(spec, store, sources);
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private static ServedStream open(StreamSpec spec, ObjectStore store, ChunkSources sources) throws IOException {
        Dataset dataset = Dataset.open(store);
        if (!dataset.info().id().equals(spec.dataset())) {
            throw new ForeignFileException(
                    spec.path(),
                    "dataset " + spec.dataset() + " of stream " + spec.name(),
                    "it is dataset " + dataset.info().id());
        }
        Snapshot snapshot = dataset.snapshot(spec.version());
        return new ServedStream(
                spec.name(),
                dataset.info().id(),
                dataset.info().name(),
                snapshot.version(),
                spec.split(),
                snapshot.stream(spec.split()),
                dataset.info().fields(),
                snapshot.classes(),
                sources.of(store));
    }
}
