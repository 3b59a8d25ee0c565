package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.HonestTrainer;
import dev.stoker.server.NodeLease;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class LaneReaderTest {

    private static LaneReader reader(TestFeed feed, ReaderContext context) {
        LaneReader reader = new LaneReader(
                context, feed::start, item -> new byte[] {1}, StopSignal.of(UUID.randomUUID()), () -> Long.MAX_VALUE);
        reader.start();
        return reader;
    }

    /** Any reader of a process writes the receipts of the process's server, also one that has no lane. */
    @Test
    void theStateOfAReaderWithoutLanesHasTheProgressThatItHasSeen(@TempDir Path directory) throws Exception {
        TestFeed feed = new TestFeed(TestDataset.create(directory, 1, 50, 40), "{\"batch_size\":8,\"lanes\":1}");
        feed.epochs = OptionalLong.of(1);
        ReaderContext context = new ReaderContext();
        LaneReader owner = reader(feed, new ReaderContext());
        LaneReader other = reader(feed, context);
        try (NodeLease lease = feed.start();
                RawClient client = RawClient.connect(lease.address())) {
            owner.addSplits(List.of(LaneSplit.of("train", 0)));
            client.join(HonestTrainer.hello("g"));
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 0));
            client.send(TestFeed.ack(client.expectIntact()));
            Waiting.until(() -> {
                try {
                    other.pollNext(context);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return context.emitted().size() == 2;
            });
            assertThat(owner.snapshotState(1)).containsExactly(LaneSplit.of("train", 0));
            assertThat(other.snapshotState(1))
                    .flatExtracting(LaneSplit::progress)
                    .extracting(known -> known.consumer().group())
                    .containsExactly("g");
        } finally {
            owner.close();
            other.close();
        }
    }
}
