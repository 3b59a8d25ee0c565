package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tiers keep in files, in memory as on a disk, is read there by trainers of the machine. */
@Timeout(100)
class MemoryFilesTest {
    @TempDir
    Path directory;

    private FarFeed far;

    @BeforeEach
    void makeDataset() throws IOException {
        far = new FarFeed(directory.resolve("data"));
    }

    /** A trainer that reads payload itself, one batch after the other. */
    private final class Trainer implements AutoCloseable {
        final AnnouncedFiles files = new AnnouncedFiles();
        private final RawClient client;
        int references;
        /** Of the last epoch. */
        int read;

        int sent;
        int damaged;

        Trainer(NodeLease node) throws IOException {
            client = RawClient.connect(node.unix().orElseThrow());
            Welcome welcome = client.join(RawClient.hello().withLocalReads(100));
            assertThat(welcome.session().localFiles()).isEqualTo(100);
        }

        /** Reads an epoch and compares every byte; what came damaged is asked for again. */
        void read(long epoch) throws IOException {
            long batches = far.feed.streamOrder.size().batches();
            sent = 0;
            damaged = 0;
            int before = references;
            client.send(new Subscribe(epoch + 1, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
            for (long m = 0; m < batches; m++) {
                client.send(new Grant(epoch + 1, m));
                for (int left = far.feed
                                .batch(epoch, m, TailPolicy.KEEP)
                                .pieces()
                                .size();
                        left > 0; ) {
                    Frame frame = client.receive();
                    if (frame instanceof FileAnnouncement file) {
                        files.learn(file);
                    } else if (frame instanceof BatchRef ref) {
                        references++;
                        left -= take(epoch, files.resolve(ref));
                        client.send(new Release(references));
                    } else if (frame instanceof Batch batch) {
                        sent++;
                        left -= take(epoch, batch);
                    } else if (frame instanceof ErrorMessage error) {
                        throw new RawClient.Ended(error);
                    }
                }
            }
            read = references - before;
        }

        private int take(long epoch, Batch batch) throws IOException {
            if (batch.isIntact()) {
                far.feed.verify(batch, TailPolicy.KEEP);
                return 1;
            }
            damaged++;
            BatchIdentity id = batch.header().identity();
            client.send(new Nack(epoch + 1, epoch, id.number(), id.piece(), 0));
            return 0;
        }

        List<Path> chunks() {
            return files.known.values().stream()
                    .map(file -> Path.of(file.path()))
                    .distinct()
                    .toList();
        }

        @Override
        public void close() throws IOException {
            client.close();
        }
    }

    private static void awaitPlaced(NodeLease node, String tier) {
        Waiting.until(() -> FarFeed.tier(node, tier).cache().orElseThrow().loads() == FarFeed.CHUNKS);
    }

    /** The directory in which the feeder keeps a chunk. */
    private static Path space(Path chunk) {
        return chunk.getParent().getParent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "disk"})
    void laterEpochsAreReadLocallyByteForByte(String tier) throws Exception {
        TierSpec spec = TierSpec.parse(
                tier.equals("memory")
                        ? "memory:" + far.bytes + "b"
                        : "disk:" + directory.resolve("cache") + ":" + far.bytes + "b");
        Path space;
        try (NodeLease node = far.start(TierOptions.of(spec));
                Trainer trainer = new Trainer(node)) {
            trainer.read(0);
            awaitPlaced(node, tier);
            assertThat(FarFeed.tier(node, tier).used()).isEqualTo(far.bytes);
            for (long epoch = 1; epoch < 3; epoch++) {
                trainer.read(epoch);
                assertThat(trainer.read).as("pieces by reference").isPositive();
                assertThat(trainer.sent).as("pieces over the socket").isZero();
                assertThat(trainer.damaged).isZero();
            }
            assertThat(trainer.chunks()).hasSize(FarFeed.CHUNKS);
            space = space(trainer.chunks().get(0));
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes);
            Waiting.until(() -> FarFeed.tier(node, "chunks in use").used() == 0);
            if (tier.equals("memory")) {
                assertThat(Files.getFileStore(space).type()).isEqualTo("tmpfs");
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(space)))
                        .isEqualTo("rwx------");
            }
        }
        assertThat(space).as("the feed has ended").doesNotExist();
    }

    @Test
    void damageOfAFileInMemoryIsAskedForAgainAndHealed() throws Exception {
        try (NodeLease node = far.start(TierOptions.of(TierSpec.parse("memory:" + far.bytes + "b")));
                Trainer trainer = new Trainer(node)) {
            trainer.read(0);
            awaitPlaced(node, "memory");
            trainer.read(1);
            Path file = trainer.chunks().get(0);
            byte[] good = Files.readAllBytes(file);
            int from = good.length * 2 / 3;
            byte[] bad = new byte[good.length / 6];
            for (int i = 0; i < bad.length; i++) {
                bad[i] = (byte) ~good[from + i];
            }
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
                out.write(ByteBuffer.wrap(bad), from);
            }
            trainer.read(2);
            assertThat(trainer.damaged).as("pieces that came damaged").isPositive();
            Waiting.until(
                    () -> FarFeed.tier(node, "memory").cache().orElseThrow().loads() == FarFeed.CHUNKS + 1);
            trainer.read(3);
            assertThat(trainer.damaged).isZero();
            assertThat(trainer.sent).isZero();
            assertThat(Files.readAllBytes(file)).isEqualTo(good);
            assertThat(node.metrics().corrupt()).isZero();
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes + good.length);
        }
    }
}
