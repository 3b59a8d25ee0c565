package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The datasets that simulations read, and the expected batches. Made once; thread-safe. */
final class Worlds {
    private static final int ORDERS = 4;

    private final List<TestDataset> datasets;
    private final Map<String, Oracle> oracles = new ConcurrentHashMap<>();

    /** Writes the datasets into a directory. */
    Worlds(Path directory) throws IOException {
        datasets = List.of(
                TestDataset.create(directory.resolve("even"), 1, 40, 12, 12, 12, 12, 12, 12),
                TestDataset.create(directory.resolve("odd"), 2, 90, 5, 17, 9, 1, 13),
                TestDataset.create(directory.resolve("small"), 3, 60, 7, 6),
                TestDataset.create(directory.resolve("wide"), 4, 300, 9, 8, 7, 9, 8, 7, 9, 8, 7, 9, 8, 7));
    }

    TestDataset dataset(Simulation simulation) {
        return datasets.get((int) simulation.between(0, datasets.size() - 1));
    }

    /** Returns one of a few orders, so that simulations can share the expected batches. */
    OrderSpec order(Simulation simulation) {
        int which = (int) simulation.between(0, ORDERS - 1);
        return new OrderSpec(
                which, 3 + which, 1 + which, 4_000L * which, ShufflePolicy.WINDOW, LaneOrder.values()[which % 2]);
    }

    Oracle oracle(TestDataset dataset, OrderSpec order) {
        return oracles.computeIfAbsent(dataset.id() + " " + order.toJson(), key -> {
            try {
                return new Oracle(dataset, order);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
