package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Writes what an ingest has left out into a file of the dataset, with a JSON object on each line. The file is visible
 * when all tasks have ended; without lines there is none. Runs on the task's thread.
 */
public final class LeftOutFile implements Closeable {
    private final DatasetStore stores;
    private final String target;
    private final String name;

    private @Nullable ObjectStore store;
    private @Nullable ObjectWriter writer;

    /**
     * @param stores opens the dataset's store
     * @param target the dataset's location
     * @param ingest id of the ingest
     */
    public LeftOutFile(DatasetStore stores, String target, String ingest) {
        this.stores = stores;
        this.target = target;
        this.name = DatasetLayout.skipList(ingest, UUID.randomUUID());
    }

    void add(String lines) throws IOException {
        if (writer == null) {
            store = stores.open(target);
            writer = store.write(name);
        }
        writer.write(ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)));
    }

    /** Makes the list visible and durable, and returns its name; empty if nothing was left out. */
    Optional<String> finish() throws IOException {
        if (writer == null) {
            return Optional.empty();
        }
        writer.commit();
        return Optional.of(name);
    }

    @Override
    public void close() throws IOException {
        try {
            IOUtils.closeAll(writer, store);
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
