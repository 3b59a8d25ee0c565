package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.ReaderContext;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.NodeLease;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.Waiting;
import dev.stoker.server.feed.LedgerItem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An item that cannot be encoded ends only its own session, now and after a restart. */
class UnwritableItemTest {
    private static final long UNWRITABLE = 3;

    @TempDir
    Path directory;

    private TestFeed feed;

    private static byte[] encode(LedgerItem item) {
        if (item.epoch() == UNWRITABLE) {
            throw new IllegalArgumentException("epoch " + UNWRITABLE + " cannot be written");
        }
        return new byte[] {1};
    }

    private LaneReader reader(ReaderContext context) {
        LaneReader reader = new LaneReader(
                context,
                feed::start,
                UnwritableItemTest::encode,
                StopSignal.of(UUID.randomUUID()),
                () -> Long.MAX_VALUE);
        reader.start();
        return reader;
    }

    private static void poll(LaneReader reader, ReaderContext context) {
        try {
            reader.pollNext(context);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void acknowledge(RawClient client, long epoch) throws IOException {
        client.send(new Subscribe(1, epoch, 0, 1, 1, TailPolicy.KEEP, List.of()));
        client.send(new Grant(1, 0));
        client.send(TestFeed.ack(client.expectIntact()));
    }

    @Test
    void theReaderGoesOnWithoutIt() throws IOException {
        feed = new TestFeed(TestDataset.create(directory.resolve("data"), 1, 50, 40), "{\"batch_size\":8,\"lanes\":1}");
        try (NodeLease lease = feed.start();
                RawClient bad = RawClient.connect(lease.address());
                RawClient good = RawClient.connect(lease.address())) {
            bad.join(RawClient.hello());
            good.join(LedgerInputTest.grouped("good"));
            ReaderContext failed = new ReaderContext();
            LaneReader first = reader(failed);
            acknowledge(bad, UNWRITABLE);
            acknowledge(good, 0);
            Waiting.until(() -> {
                poll(first, failed);
                return failed.emitted().size() == 2;
            });
            assertThatThrownBy(() -> {
                        // EPOCH_END may come before it.
                        bad.expect(EpochEnd.class);
                        bad.expect(Durable.class);
                    })
                    .hasMessageContainingAll("internal", "ledger");
            first.close();

            ReaderContext restarted = new ReaderContext();
            LaneReader second = reader(restarted);
            Waiting.until(() -> {
                poll(second, restarted);
                return restarted.emitted().size() == 2;
            });
            second.snapshotState(1);
            second.notifyCheckpointComplete(1);
            // Two threads send these frames.
            boolean isAtEnd = false;
            boolean isDurable = false;
            while (!isAtEnd || !isDurable) {
                Frame frame = good.expect(Frame.class);
                isAtEnd |= frame instanceof EpochEnd;
                isDurable |= frame.equals(new Durable(1));
            }
            second.close();
        }
    }
}
