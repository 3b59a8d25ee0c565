package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.schemas.testing.TestSeed;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.StreamSpec;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.Fault;
import dev.stoker.storage.hadoop.FaultProxy;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tiers with a real S3 server and a real HDFS as origins. */
@Timeout(300)
@Tag("full-stores")
class TieredStoreITCase {
    private static final int CHUNKS = 24;
    private static final int EPOCHS = 3;

    @TempDir
    static Path directory;

    private static FaultProxy proxy;
    private static TestDataset dataset;
    private static String s3;
    private static String hdfs;
    private static Map<String, String> expected;

    @BeforeAll
    static void start() throws Exception {
        proxy = FaultProxy.start(S3Server.shared().endpoint(), TestSeed.value());
        HadoopSettings.use(S3Server.settings(proxy.endpoint()));
        int[] rows = new int[CHUNKS];
        for (int i = 0; i < CHUNKS; i++) {
            rows[i] = 20 + i % 7;
        }
        dataset = TestDataset.create(directory.resolve("data"), 11, 4000, rows);
        s3 = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
        hdfs = HdfsCluster.shared().uri() + "/" + UUID.randomUUID();
        copy(s3);
        copy(hdfs);
        try (NodeLease node = feed(dataset.path().toString(), TierOptions.defaults())) {
            expected = read(node, EPOCHS);
        }
    }

    @AfterAll
    static void clear() throws IOException {
        HadoopSettings.clear();
        proxy.close();
    }

    private static void copy(String location) throws IOException {
        try (ObjectStore store = Stores.open(location);
                var files = Files.walk(dataset.path())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                store.createIfAbsent(dataset.path().relativize(file).toString(), Files.readAllBytes(file));
            }
        }
    }

    private static NodeLease feed(String location, TierOptions tiers) throws IOException {
        return FeedNode.acquire(
                new FeedSpec(
                        UUID.randomUUID(),
                        "far",
                        List.of(new StreamSpec("train", location, dataset.id(), dataset.version(), "train")),
                        "{\"batch_size\":7,\"lanes\":4,\"shuffle_window\":400000}",
                        List.of(),
                        OptionalLong.of(EPOCHS),
                        OnCorrupt.FAIL),
                ServerOptions.defaults()
                        .withPorts(PortRange.ANY)
                        .withLinger(Duration.ZERO)
                        .withTiers(tiers));
    }

    /** Epochs and numbers, and their bytes. */
    private static Map<String, String> read(NodeLease node, int epochs) throws Exception {
        Map<String, String> batches = new TreeMap<>();
        try (FeedClient client = FeedClient.of(node.address()).epochs(epochs).open()) {
            for (int epoch = 0; epoch < epochs; epoch++) {
                for (Batch batch : client.epoch()) {
                    StringBuilder bytes = new StringBuilder();
                    for (ByteBuffer message : batch.messages()) {
                        byte[] content = new byte[message.remaining()];
                        message.duplicate().get(content);
                        bytes.append(HexFormat.of().formatHex(content));
                    }
                    batches.put(epoch + "/" + batch.number(), bytes.toString());
                    batch.close();
                }
            }
        }
        return batches;
    }

    private static FeedStatus.Tier tier(NodeLease node, String name) {
        return node.tiers().stream()
                .filter(tier -> tier.name().startsWith(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void anS3ThatFailsATenthOfTheTimeIsReadOnceAndAskedNothingAfterwards() throws Exception {
        long half = dataset.summary(0).length() * CHUNKS / 2;
        TierOptions tiers = TierOptions.of(
                TierSpec.parse("memory:" + half + "b"), TierSpec.parse("disk:" + directory.resolve("tier") + ":1g"));
        try (NodeLease node = feed(s3, tiers)) {
            proxy.resetCounts();
            proxy.atRate(0.1, FaultProxy.Request::isObjectGet, Fault.slowDown())
                    .atRate(0.05, FaultProxy.Request::isObjectGet, new Fault.EndedEarly(0.5))
                    .atRate(0.05, FaultProxy.Request::isObjectGet, new Fault.OtherBytes(new byte[1 << 20]));
            Map<String, String> first = read(node, 1);
            assertThat(expected).containsAllEntriesOf(first);
            assertThat(proxy.requests())
                    .as("one a chunk, and what failed again")
                    .isBetween((long) CHUNKS, CHUNKS * 3L / 2);
            Waiting.until(() -> tier(node, "memory").cache().orElseThrow().loads()
                            + tier(node, "disk").cache().orElseThrow().loads()
                    == CHUNKS);
            proxy.heal();
            proxy.resetCounts();
            assertThat(read(node, EPOCHS)).isEqualTo(expected);
            assertThat(proxy.requests()).as("neither data nor metadata").isZero();
            assertThat(node.metrics().corrupt()).isZero();
        }
    }

    @Test
    void hdfsIsKeptInMemoryByItself() throws Exception {
        try (NodeLease node = feed(hdfs, TierOptions.defaults())) {
            assertThat(read(node, EPOCHS)).isEqualTo(expected);
            assertThat(node.metrics().originReads()).isEqualTo(CHUNKS);
            assertThat(tier(node, "memory").used()).isEqualTo(node.metrics().originBytes());
        }
    }
}
