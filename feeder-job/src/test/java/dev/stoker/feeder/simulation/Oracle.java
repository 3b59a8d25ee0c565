package dev.stoker.feeder.simulation;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.WindowSlice;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.server.NaiveBatch;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a stream has to deliver, computed apart from the feeder. Shared by all simulations of a Java process;
 * thread-safe.
 */
final class Oracle {
    private final TestDataset dataset;
    private final StreamOrder order;
    private final List<String> classes;
    private final Map<Long, EpochNumbering> epochs = new ConcurrentHashMap<>();
    private final Map<Piece, Integer> checksums = new ConcurrentHashMap<>();

    private record Piece(long epoch, int lane, long firstRow, int rows) {}

    Oracle(TestDataset dataset, OrderSpec spec) throws IOException {
        this.dataset = dataset;
        try (LocalObjectStore store = new LocalObjectStore(dataset.path())) {
            var snapshot = Dataset.open(store).snapshot(dataset.version());
            this.order = new StreamOrder(snapshot.stream("train"), spec);
            this.classes = snapshot.classes().names("label");
        }
    }

    TestDataset dataset() {
        return dataset;
    }

    int lanes() {
        return order.lanes();
    }

    EpochSize size() {
        return order.size();
    }

    DeliveredBatch batch(long epoch, long number, TailPolicy tail) {
        EpochNumbering numbering =
                epochs.computeIfAbsent(epoch, e -> order.epoch(e).numbering());
        return Delivery.batch(numbering, tail, number);
    }

    /** The CRC-32C of the piece's message. */
    int checksum(long epoch, DeliveredPiece piece) {
        return checksums.computeIfAbsent(
                new Piece(epoch, piece.lane(), piece.firstRow(), piece.rows()), this::computeChecksum);
    }

    private int computeChecksum(Piece piece) {
        List<TestDataset.Sample> samples = new ArrayList<>();
        var lane = order.epoch(piece.epoch).lane(piece.lane);
        for (WindowSlice slice : lane.slices(piece.firstRow, piece.rows)) {
            Window window = lane.window(slice.window());
            for (int i = slice.from(); i < slice.to(); i++) {
                samples.add(dataset.samples(window.chunkAt(i)).get(window.rowAt(i)));
            }
        }
        return Crc32cs.of(NaiveBatch.of(samples, classes));
    }
}
