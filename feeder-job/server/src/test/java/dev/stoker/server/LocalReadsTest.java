package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.feed.ServerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A session on which the feeder sends the location of payload in files instead of the payload. */
@Timeout(60)
class LocalReadsTest {
    @TempDir
    Path folder;

    private TestFeed feed;

    @BeforeEach
    void makeFeed() throws IOException {
        feed = new TestFeed(
                TestDataset.create(folder.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10),
                "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5}");
    }

    private RawClient connect(NodeLease node) throws IOException {
        return RawClient.connect(node.unix().orElseThrow());
    }

    private double meanImage(Batch batch) {
        BatchIdentity id = batch.header().identity();
        DeliveredPiece piece =
                feed.batch(id.epoch(), id.number(), TailPolicy.PAD).pieces().get(id.piece());
        return feed.samples(id.epoch(), piece).stream()
                .mapToInt(sample -> sample.image().length)
                .average()
                .orElseThrow();
    }

    /** Reads an epoch, checks each batch, and returns the names of the pieces that came by reference. */
    private List<String> readAll(RawClient client, long batches, AnnouncedFiles files, int releaseEvery)
            throws IOException {
        return readAll(client, batches, files, releaseEvery, 0);
    }

    private List<String> readAll(RawClient client, long batches, AnnouncedFiles files, int releaseEvery, int leastRow)
            throws IOException {
        client.send(new Subscribe(1, 0, 0, 1, batches, TailPolicy.PAD, List.of()));
        client.send(new Grant(1, Long.MAX_VALUE));
        List<String> names = new ArrayList<>();
        while (true) {
            Frame frame = client.receive();
            if (frame instanceof FileAnnouncement file) {
                files.learn(file);
            } else if (frame instanceof BatchRef ref) {
                Batch batch = files.resolve(ref);
                assertThat(meanImage(batch)).isGreaterThanOrEqualTo(leastRow);
                feed.verify(batch, TailPolicy.PAD);
                BatchIdentity id = ref.header().identity();
                names.add(id.number() + "." + id.piece());
                if (releaseEvery > 0 && names.size() % releaseEvery == 0) {
                    client.send(new Release(names.size()));
                }
            } else if (frame instanceof Batch batch) {
                if (leastRow > 0) {
                    assertThat(meanImage(batch)).isLessThan(leastRow);
                }
                feed.verify(batch, TailPolicy.PAD);
            } else if (frame instanceof EpochEnd) {
                return names;
            } else if (frame instanceof ErrorMessage error) {
                throw new RawClient.Ended(error);
            }
        }
    }

    @Test
    void everyPieceIsReferredToAndGivesTheSameBytes() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = connect(node)) {
            Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
            assertThat(welcome.session().localFiles()).isEqualTo(100);
            AnnouncedFiles files = new AnnouncedFiles();
            List<String> names = readAll(client, welcome.size().batches(), files, 2);
            assertThat(names).hasSizeGreaterThanOrEqualTo((int) welcome.size().batches());
            assertThat(files.announced).as("each chunk once").isEqualTo(8);
        }
    }

    @Test
    void piecesOfSmallRowsAreSent() throws Exception {
        try (NodeLease node = feed.start()) {
            for (int leastRow : new int[] {150, 301}) {
                try (RawClient client = connect(node)) {
                    Welcome welcome = client.join(RawClient.hello().withLocalReads(100, leastRow));
                    assertThat(welcome.session().localFiles()).isEqualTo(100);
                    List<String> names = readAll(client, welcome.size().batches(), new AnnouncedFiles(), 2, leastRow);
                    if (leastRow == 150) {
                        assertThat(names).isNotEmpty().hasSizeLessThan((int)
                                welcome.size().batches());
                    } else {
                        assertThat(names).isEmpty();
                    }
                }
            }
        }
    }

    @Test
    void fewNumbersAreGivenAnewAndPiecesOfMoreChunksComeWhole() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = connect(node)) {
            Welcome welcome = client.join(RawClient.hello().withLocalReads(2));
            AnnouncedFiles files = new AnnouncedFiles();
            List<String> names = readAll(client, welcome.size().batches(), files, 1);
            assertThat(files.known.keySet()).isSubsetOf(0L, 1L);
            assertThat(files.announced).isGreaterThan(2);
            assertThat(names).isNotEmpty().hasSizeLessThan((int) welcome.size().batches() + 8);
        }
    }

    @Test
    void isNotAgreedWithThoseWhoDoNotAskOrComeOverTcp() throws Exception {
        try (NodeLease node = feed.start()) {
            try (RawClient client = connect(node)) {
                Welcome welcome = client.join(RawClient.hello());
                assertThat(welcome.session().localFiles()).isZero();
                assertThat(readAll(client, welcome.size().batches(), new AnnouncedFiles(), 0))
                        .isEmpty();
            }
            try (RawClient client = RawClient.connect(node.address())) {
                Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
                assertThat(welcome.session().localFiles()).isZero();
                assertThat(readAll(client, welcome.size().batches(), new AnnouncedFiles(), 0))
                        .isEmpty();
            }
        }
    }

    @Test
    void mappingsAreHeldUntilReleasedOrTheTrainerVanishes() throws Exception {
        ServerOptions options = TestFeed.options();
        try (NodeLease node = FeedNode.acquire(
                feed.spec(),
                options.withLimits(
                        options.maxSessions(), options.workingMemoryBytes(), 1, options.maxPendingReceipts()))) {
            try (RawClient client = connect(node)) {
                Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
                List<String> names = readAll(client, welcome.size().batches(), new AnnouncedFiles(), 0);
                assertThat(node.metrics().mappings()).as("held for the trainer").isEqualTo(8);
                client.send(new Release(names.size() - 1));
                Waiting.until(() -> node.metrics().mappings() < 8);
                assertThat(node.metrics().mappings()).isPositive();
                client.send(new Release(names.size()));
                Waiting.until(() -> node.metrics().mappings() <= 1);
            }
            try (RawClient client = connect(node)) {
                Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
                readAll(client, welcome.size().batches(), new AnnouncedFiles(), 0);
                assertThat(node.metrics().mappings()).isEqualTo(8);
            }
            Waiting.until(() -> node.metrics().mappings() <= 1);
        }
    }

    @Test
    void moreReleasedThanSentIsABadFrame() throws Exception {
        try (NodeLease node = feed.start()) {
            Set<String> codes = new HashSet<>();
            for (long wrong : new long[] {1, Long.MAX_VALUE}) {
                try (RawClient client = connect(node)) {
                    client.join(RawClient.hello().withLocalReads(100));
                    client.send(new Release(wrong));
                    assertThatThrownBy(() -> client.expect(Batch.class))
                            .isInstanceOfSatisfying(RawClient.Ended.class, e -> codes.add(e.code()));
                }
            }
            assertThat(codes).containsExactly("bad_frame");
        }
    }

    @Test
    void whatATrainerCannotReadRightlyComesWhole() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = connect(node)) {
            Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
            client.send(new Subscribe(1, 0, 0, 1, welcome.size().batches(), TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 0));
            client.expect(FileAnnouncement.class);
            Frame frame = client.receive();
            while (!(frame instanceof BatchRef)) {
                frame = client.receive();
            }
            BatchIdentity id = ((BatchRef) frame).header().identity();
            client.send(new Nack(1, 0, id.number(), id.piece(), 1));
            Batch again = client.expectIntact();
            assertThat(again.header().identity()).isEqualTo(id);
            feed.verify(again, TailPolicy.PAD);
        }
    }
}
