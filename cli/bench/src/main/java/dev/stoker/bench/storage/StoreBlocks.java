package dev.stoker.bench.storage;

import dev.stoker.storage.ObjectStore;
import java.nio.ByteBuffer;
import java.util.List;

/** Blocks of objects, each with one request to the store, as feeders read parts of chunks. */
final class StoreBlocks implements BlockSource {
    private final ObjectStore store;
    private final List<TestFile> files;

    /** @param store stays open */
    StoreBlocks(ObjectStore store, List<TestFile> files) {
        this.store = store;
        this.files = List.copyOf(files);
    }

    @Override
    public Reader reader(int blockBytes) {
        ByteBuffer buffer = ByteBuffer.allocate(blockBytes);
        return block -> store.read(files.get(block.file()).name(), block.offset(), buffer.clear());
    }

    @Override
    public void close() {}
}
