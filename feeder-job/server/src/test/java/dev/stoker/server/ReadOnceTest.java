package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.tiers.TierOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a feeder without tiers, with the memory that it takes by default, reads each chunk once an epoch. Windows
 * are a sixteenth of the dataset, in four lanes.
 */
class ReadOnceTest {
    private static final int LANES = 4;
    private static final int WINDOWS = 16;
    /** Slow enough for the trainer to wait for the store. */
    private static final long BYTES_PER_SECOND = 2 << 20;

    @TempDir
    Path directory;

    private void readEpochs(int epochs, int batchSize, int... rows) throws IOException {
        long bytes = new FarFeed(directory.resolve("size"), null, rows, "{}").bytes;
        FarFeed far = new FarFeed(
                directory.resolve("data"),
                null,
                rows,
                "{\"batch_size\":" + batchSize + ",\"lanes\":" + LANES + ",\"shuffle_window\":" + bytes / WINDOWS
                        + ",\"seed\":5}");
        far.epochs = OptionalLong.of(epochs);
        ServerOptions options = TestFeed.options()
                .withLimits(10, ServerOptions.AUTO_MEMORY, 100, 1 << 16)
                .withTiers(TierOptions.of().withOrigin(BYTES_PER_SECOND, 16));
        long batches = far.feed.streamOrder.size().batches();
        try (NodeLease node = far.start(options);
                RawClient client = FarFeed.join(node, "default")) {
            node.updateLaneMap(
                    "train", new LaneMap(7, 1, List.of(node.address()), Collections.nCopies(LANES, List.of(0))));
            for (long epoch = 0; epoch < epochs; epoch++) {
                far.feed.readAll(client, new Subscribe(epoch + 1, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
            }
            // A chunk that is in memory when an epoch ends is not read again for the next one.
            assertThat(node.metrics().originBytes()).isLessThanOrEqualTo(epochs * far.bytes);
        }
    }

    private static int[] equal(int chunks, int rows) {
        int[] of = new int[chunks];
        Arrays.fill(of, rows);
        return of;
    }

    @Test
    void batchesLargerThanAWindowReadEachChunkOnce() throws IOException {
        readEpochs(1, 64, equal(96, 20));
    }

    @Test
    void manySmallChunksAreReadOnce() throws IOException {
        readEpochs(1, 64, equal(400, 5));
    }

    @Test
    void batchesSmallerThanAWindowReadEachChunkOnce() throws IOException {
        readEpochs(1, 16, equal(96, 20));
    }

    @Test
    void laterEpochsReadEachChunkOnceAtMost() throws IOException {
        readEpochs(3, 48, FarFeed.rows(200));
    }
}
