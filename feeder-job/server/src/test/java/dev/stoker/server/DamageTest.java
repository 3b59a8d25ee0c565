package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.server.feed.OnCorrupt;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage at a mapped origin, as a trainer sees it that checks every checksum and answers NACK. */
class DamageTest {
    @TempDir
    Path directory;

    private TestFeed feed;
    private long subscriptions;

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 3, 60, 5, 6);
        feed = new TestFeed(dataset, "{\"batch_size\":4,\"lanes\":1}");
    }

    /** What an epoch came to. */
    private record Outcome(int rows, int skipped, int nacks, String error) {}

    /**
     * Reads an epoch; every batch that is taken must be right, or the rows that it says it left out must be missing.
     */
    private Outcome readEpoch(RawClient client) throws IOException {
        return readEpoch(client, 0);
    }

    private Outcome readEpoch(RawClient client, long epoch) throws IOException {
        long subscription = ++subscriptions;
        long batches = feed.streamOrder.size().batches();
        client.send(new Subscribe(subscription, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
        client.send(new Grant(subscription, batches));
        int rows = 0;
        int skipped = 0;
        int nacks = 0;
        boolean ended = false;
        Set<String> open = new HashSet<>();
        while (!ended || !open.isEmpty()) {
            Frame frame = client.receive();
            if (frame instanceof EpochEnd) {
                ended = true;
            } else if (frame instanceof ErrorMessage error) {
                return new Outcome(rows, skipped, nacks, error.code() + ": " + error.message());
            } else if (frame instanceof Batch batch) {
                BatchIdentity id = batch.header().identity();
                String name = id.number() + "." + id.piece();
                if (!batch.isIntact()) {
                    nacks++;
                    open.add(name);
                    client.send(new Nack(subscription, id.epoch(), id.number(), id.piece(), 0));
                    continue;
                }
                open.remove(name);
                rows += (int) id.rows();
                skipped += (int) id.skipped();
                if (id.skipped() == 0) {
                    feed.verify(batch, TailPolicy.KEEP);
                } else {
                    verifySkipped(batch);
                }
            }
        }
        return new Outcome(rows, skipped, nacks, null);
    }

    /** Requires that the batch contains the rows of the piece in order, without the skipped rows. */
    private void verifySkipped(Batch batch) {
        BatchIdentity id = batch.header().identity();
        List<TestDataset.Sample> all = feed.samples(
                id.epoch(),
                feed.batch(id.epoch(), id.number(), TailPolicy.KEEP).pieces().get(id.piece()));
        assertThat(id.rows() + id.skipped()).isEqualTo(all.size());
        for (int mask = 0; mask < 1 << all.size(); mask++) {
            if (Integer.bitCount(mask) == id.rows()) {
                List<TestDataset.Sample> some = new ArrayList<>();
                for (int i = 0; i < all.size(); i++) {
                    if ((mask >> i & 1) != 0) {
                        some.add(all.get(i));
                    }
                }
                if (NaiveBatch.of(some, feed.classes).equals(batch.message())) {
                    return;
                }
            }
        }
        throw new AssertionError("no " + id.rows() + " rows of " + all + " make the message of " + id);
    }

    private static void flip(Path file, int bit) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(bit / 8);
            int value = bytes.read();
            bytes.seek(bit / 8);
            bytes.write(value ^ 1 << bit % 8);
        }
    }

    private ChunkHead head(int ordinal) throws IOException {
        byte[] bytes = Files.readAllBytes(feed.dataset.file(ordinal));
        return ChunkHead.parse(
                ByteBuffer.wrap(bytes, 0, (int) feed.dataset.summary(ordinal).headLength())
                        .slice()
                        .order(ByteOrder.LITTLE_ENDIAN),
                bytes.length,
                "chunk");
    }

    private static RawClient joined(NodeLease node) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(RawClient.hello());
        return client;
    }

    private int headBits() {
        return Math.toIntExact(feed.dataset.summary(0).headLength() * 8);
    }

    @Test
    void noFlippedBitOfAHeadIsEverUsed() throws IOException {
        feed.onCorrupt = OnCorrupt.SKIP;
        Path file = feed.dataset.file(0);
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            for (int bit : Cells.drawn(IntStream.range(0, headBits()).boxed()).toList()) {
                flip(file, bit);
                // Each round reads another epoch. Its window was not opened before the bit was flipped.
                assertThat(readEpoch(client, 2L * bit)).as("bit %d", bit).isEqualTo(new Outcome(6, 5, 0, null));
                flip(file, bit);
            }
            assertThat(readEpoch(client, 2L * headBits())).isEqualTo(new Outcome(11, 0, 0, null));
        }
    }

    /** The bits of payload, which a feed reads. It reads neither padding nor the footer. */
    private BitSet payloadBits() throws IOException {
        ChunkHead head = head(0);
        BitSet bits = new BitSet();
        for (int row = 0; row < head.rows(); row++) {
            int from = head.payloadPosition(2, row) * 8;
            bits.set(from, from + head.payloadLength(2, row) * 8);
        }
        assertThat(bits.cardinality())
                .isEqualTo(feed.dataset.samples(0).stream()
                        .mapToInt(s -> s.image().length * 8)
                        .sum());
        return bits;
    }

    @Test
    void noFlippedBitOfAChunkIsEverDelivered() throws IOException {
        Path file = feed.dataset.file(0);
        int bits = Math.toIntExact(Files.size(file) * 8);
        BitSet payload = payloadBits();
        // Bits of the head are all alike to a feed that fails, and another test tries them all.
        List<Integer> tried = Cells.drawn(
                        IntStream.range(0, bits)
                                .filter(bit -> bit >= headBits() || bit % 61 == 0)
                                .boxed(),
                        bit -> bit < headBits(),
                        payload::get)
                .toList();
        int corrupt = 0;
        try (NodeLease node = feed.start()) {
            RawClient client = joined(node);
            for (int bit : tried) {
                flip(file, bit);
                Outcome outcome = readEpoch(client, 2L * bit);
                if (bit >= headBits() && !payload.get(bit)) {
                    assertThat(outcome).as("bit %d", bit).isEqualTo(new Outcome(11, 0, 0, null));
                } else {
                    corrupt++;
                    assertThat(outcome.error())
                            .as("bit %d", bit)
                            .startsWith("corrupt: ")
                            .contains(file.getFileName().toString());
                    assertThat(outcome.nacks()).isEqualTo(bit < headBits() ? 0 : 1);
                    client.close();
                    client = joined(node);
                }
                flip(file, bit);
            }
            client.close();
            // A window opened ahead may have met a damaged head as well.
            assertThat(node.metrics().corrupt()).isGreaterThanOrEqualTo(corrupt);
        }
    }

    @Test
    void damageFoundAfterTheChunkWasMappedAndItsHeadReadIsNamed() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client)).isEqualTo(new Outcome(11, 0, 0, null));
            int row = largestImage(0);
            flip(feed.dataset.file(0), head(0).payloadPosition(2, row) * 8 + 3);
            Outcome outcome = readEpoch(client);
            assertThat(outcome.error())
                    .startsWith("corrupt: ")
                    .contains("c0/r" + row)
                    .contains("row " + row)
                    .contains(feed.dataset.file(0).getFileName().toString());
            assertThat(outcome.nacks()).isEqualTo(1);
            assertThat(node.metrics().nacks()).isEqualTo(1);
            assertThat(node.metrics().corrupt()).isEqualTo(1);
        }
    }

    private int largestImage(int ordinal) {
        List<TestDataset.Sample> samples = feed.dataset.samples(ordinal);
        int largest = 0;
        for (int row = 1; row < samples.size(); row++) {
            if (samples.get(row).image().length > samples.get(largest).image().length) {
                largest = row;
            }
        }
        return largest;
    }

    @Test
    void damageThatHealsIsSentAgainAndNotHeldAgainstTheOrigin() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(new Subscribe(1, 0, 0, 1, 2, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 0));
            Batch first = client.expectIntact();
            client.send(new Nack(1, 0, 0, 0, 12345));
            Batch again = client.expectIntact();
            assertThat(again).isEqualTo(first);
            client.send(new Grant(1, 1));
            feed.verify(client.expectIntact(), TailPolicy.KEEP);
            assertThat(node.metrics().refetches()).isEqualTo(1);
            assertThat(node.metrics().corrupt()).isZero();
        }
    }

    @Test
    void aPieceThatArrivesDamagedTwiceEndsTheSession() throws IOException {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(new Subscribe(1, 0, 0, 1, 2, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 0));
            client.expectIntact();
            client.send(new Nack(1, 0, 0, 0, 12345));
            client.expectIntact();
            client.send(new Nack(1, 0, 0, 0, 12345));
            assertThatThrownBy(() -> client.expect(Batch.class))
                    .hasMessageContaining("corrupt")
                    .hasMessageContaining("network");
        }
    }

    @Test
    void skipLeavesOutTheRowSaysSoAndRenumbersNothing() throws IOException {
        feed.onCorrupt = OnCorrupt.SKIP;
        int row = largestImage(1);
        flip(feed.dataset.file(1), head(1).payloadPosition(2, row) * 8);
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client)).isEqualTo(new Outcome(10, 1, 1, null));
            assertThat(readEpoch(client)).as("known by then").isEqualTo(new Outcome(10, 1, 0, null));
            assertThat(node.metrics().corrupt()).isEqualTo(1);
        }
    }

    @Test
    void skipLeavesOutAllRowsOfAChunkWhoseHeadIsDamaged() throws IOException {
        feed.onCorrupt = OnCorrupt.SKIP;
        flip(feed.dataset.file(0), 400);
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client)).isEqualTo(new Outcome(6, 5, 0, null));
        }
    }

    @Test
    void aMappedFileThatIsTruncatedEndsInATypedErrorAndNotTheProcess() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("big"), 3, 40_000, 20, 20);
        feed = new TestFeed(dataset, "{\"batch_size\":8,\"lanes\":1}");
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client).error()).isNull();
            try (RandomAccessFile file = new RandomAccessFile(dataset.file(0).toFile(), "rw")) {
                file.setLength(8192);
            }
            Outcome outcome = readEpoch(client);
            assertThat(outcome.error())
                    .startsWith("corrupt: ")
                    .contains(dataset.file(0).getFileName().toString());
            assertThat(outcome.nacks()).isPositive();
        }
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client).error()).as("before it is mapped").startsWith("corrupt: ");
        }
    }

    @Test
    void skipGoesOnWithoutATruncatedFile() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("big"), 3, 40_000, 20, 20);
        feed = new TestFeed(dataset, "{\"batch_size\":8,\"lanes\":1}");
        feed.onCorrupt = OnCorrupt.SKIP;
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client).error()).isNull();
            long head = dataset.summary(0).headLength();
            try (RandomAccessFile file = new RandomAccessFile(dataset.file(0).toFile(), "rw")) {
                file.setLength(head);
            }
            Outcome outcome = readEpoch(client);
            assertThat(outcome.error()).isNull();
            assertThat(outcome.rows()).isEqualTo(20);
            assertThat(outcome.skipped()).isEqualTo(20);
        }
    }

    @Test
    void aMissingChunkIsAnUnavailableOrigin() throws IOException {
        Files.delete(feed.dataset.file(1));
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(readEpoch(client).error())
                    .startsWith("origin_unavailable: ")
                    .contains(feed.dataset.file(1).getFileName().toString());
        }
    }
}
