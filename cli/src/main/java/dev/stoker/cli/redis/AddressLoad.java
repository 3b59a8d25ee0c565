package dev.stoker.cli.redis;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.function.Supplier;

/**
 * Loads the places of chunks into a Redis server, on any machine that reaches it. A piece is a chunk, and its result is
 * the number of its samples. A piece that is done twice writes the same places again. Immutable.
 */
final class AddressLoad implements PieceWork<Long> {

    private static final long serialVersionUID = 1;

    private final String address;
    private final long version;
    private final int[] chunks;

    /**
     * @param address URL of the server, also with user and password
     * @param version the version whose places are loaded
     * @param chunks indices of the chunks in the version's chunk table
     */
    AddressLoad(String address, long version, int[] chunks) {
        this.address = address;
        this.version = version;
        this.chunks = chunks.clone();
    }

    @Override
    public Supplier<PieceWorker<Long>> open(ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        ChunkTable table = dataset.anySnapshot(version).table();
        return () -> new Worker(RedisAddresses.open(address, dataset.info().id()), dataset, table);
    }

    private final class Worker implements PieceWorker<Long> {

        private final RedisAddresses places;
        private final Dataset dataset;
        private final ChunkTable table;

        Worker(RedisAddresses places, Dataset dataset, ChunkTable table) {
            this.places = places;
            this.dataset = dataset;
            this.table = table;
        }

        @Override
        public Long run(int piece) throws IOException {
            return places.load(dataset, table, chunks[piece]);
        }

        @Override
        public void close() {
            places.close();
        }
    }
}
