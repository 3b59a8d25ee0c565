package dev.stoker.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.feed.EmbeddedFeed;
import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.Stores;
import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.HdfsCluster;
import dev.stoker.storage.hadoop.S3Server;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Datasets and samples on a real HDFS and a real S3 server. */
@Timeout(300)
class RemoteStoresITCase {

    private static final String[] PACKING = {"--chunk-size", "8kb", "--payload", "image", "--parallelism", "2"};

    @TempDir
    static Path directory;

    private static String s3;
    private static String hdfs;
    private static Map<String, byte[]> tree;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() throws IOException {
        HadoopSettings.use(S3Server.shared().settings());
        s3 = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
        hdfs = HdfsCluster.shared().uri() + "/" + UUID.randomUUID();
        tree = new TreeMap<>();
        Random random = new Random(5);
        for (int i = 0; i < 60; i++) {
            byte[] bytes = new byte[1 + random.nextInt(1500)];
            random.nextBytes(bytes);
            tree.put("c" + i % 3 + (i % 2 == 0 ? "/deep/" : "/") + i + ".jpg", bytes);
        }
        tree.put("c0/large one.jpg", new byte[100_000]);
        write(local("raw"), tree);
        write(s3 + "/raw", tree);
        write(hdfs + "/raw", tree);
    }

    @AfterAll
    static void clear() {
        HadoopSettings.clear();
    }

    private static String local(String name) {
        return directory.resolve(name).toString();
    }

    private static void write(String location, Map<String, byte[]> files) throws IOException {
        try (ObjectStore store = Stores.open(location)) {
            for (Map.Entry<String, byte[]> file : files.entrySet()) {
                store.createIfAbsent(file.getKey(), file.getValue());
            }
        }
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private void ingest(String source, String target, String... options) {
        List<String> args = new ArrayList<>(List.of("ingest", source, target));
        args.addAll(List.of(PACKING));
        args.addAll(List.of(options));
        assertThat(stoker(args.toArray(new String[0])))
                .as(() -> out + "\n" + err)
                .isZero();
    }

    private static Map<String, String> expected(Function<String, String> text) {
        Map<String, String> expected = new TreeMap<>();
        tree.forEach((key, bytes) ->
                expected.put(key, text.apply(key) + " image=" + HexFormat.of().formatHex(bytes)));
        return expected;
    }

    private static String parent(String key) {
        String folder = key.substring(0, key.lastIndexOf('/'));
        return folder.substring(folder.lastIndexOf('/') + 1);
    }

    @Test
    @Tag("full-stores")
    void compactsWhereTheDatasetLies() throws IOException {
        for (String location : List.of(s3, hdfs)) {
            String dataset = location + "/crumbs";
            ingest(local("raw"), dataset, "--label-from", "parent-dir");
            Map<String, String> samples = Contents.of(dataset);

            assertThat(stoker("compact", dataset, "--chunk-size", "32kb", "--json"))
                    .as(() -> out + "\n" + err)
                    .isZero();
            assertThat(out.toString()).contains("\"version\":2,");
            assertThat(Contents.of(dataset)).isEqualTo(samples);
            assertThat(stoker("verify", dataset)).isZero();
            assertThat(stoker("verify", dataset + "@1")).isZero();
            assertThat(stoker("gc", dataset, "--older-than", "0")).isZero();
            assertThat(out.toString()).contains("nothing to delete");
        }
    }

    @Test
    @Tag("full-stores")
    void packsFromAnyFileSystemIntoAnyOther() throws IOException {
        ingest(local("raw"), s3 + "/packed", "--label-from", "parent-dir");
        assertThat(Contents.of(s3 + "/packed")).isEqualTo(expected(key -> "train label=" + parent(key)));

        String lines = tree.keySet().stream()
                .map(key -> key + ",l" + key.length() + "\n")
                .collect(Collectors.joining());
        write(s3 + "/tables", Map.of("labels.csv", lines.getBytes(UTF_8)));
        ingest(s3 + "/raw", hdfs + "/packed", "--label-from", "csv:" + s3 + "/tables/labels.csv", "--parallelism", "1");
        assertThat(Contents.of(hdfs + "/packed")).isEqualTo(expected(key -> "train label=l" + key.length()));

        Map<String, byte[]> captions = new TreeMap<>();
        tree.keySet().forEach(key -> captions.put(key.replace(".jpg", ".txt"), ("caption of " + key).getBytes(UTF_8)));
        Map<String, byte[]> both = new TreeMap<>(captions);
        both.putAll(tree);
        write(hdfs + "/captioned", both);
        ingest(hdfs + "/captioned", local("packed"), "--sidecar", ".txt=caption:utf8", "--split-from", "top-dir");
        assertThat(Contents.of(local("packed")))
                .isEqualTo(expected(key -> key.substring(0, 2) + " caption=caption of " + key));

        for (String location : List.of(s3 + "/packed", hdfs + "/packed", local("packed"))) {
            assertThat(stoker("verify", location)).as(out::toString).isZero();
        }
    }

    @Test
    @Tag("full-stores")
    void packsRowsOfPartitionedTreesAndPatternsOfAnyStore() throws IOException {
        ingest(local("raw"), local("images"), "--label-from", "parent-dir");
        Map<String, byte[]> tables = new TreeMap<>();
        for (int year = 2025; year <= 2026; year++) {
            String where = year == 2025 ? "label <> 'deep'" : "label = 'deep'";
            String target = local("exported") + year;
            assertThat(stoker("export", local("images"), target, "--format", "parquet", "--where", where))
                    .as(err::toString)
                    .isZero();
            Path file = Path.of(target, "train-00000-of-00001.parquet");
            tables.put("year=" + year + "/rows.parquet", Files.readAllBytes(file));
        }
        Map<String, String> all = expected(
                key -> "train label=" + parent(key) + " year=" + (parent(key).equals("deep") ? 2026 : 2025));
        for (String location : List.of(s3, hdfs)) {
            write(location + "/partitioned", tables);
            String target = location + "/rows";
            ingest(location + "/partitioned", target, "--key=key", "--label=label", "--type=year=utf8");
            assertThat(Contents.of(target)).isEqualTo(all);
        }
        ingest(hdfs + "/partitioned/year=202[67]/*.parquet", local("some"), "--key", "key");
        assertThat(Contents.of(local("some")).keySet())
                .isNotEmpty()
                .allMatch(key -> parent(key).equals("deep"));
    }

    @Test
    void appendsToADatasetOnS3() throws IOException {
        String target = s3 + "/appended";
        String id = "00000000-0000-4000-8000-000000000001";
        ingest(s3 + "/raw", target, "--ingest-id", id);
        ingest(s3 + "/raw", target, "--ingest-id", id);
        assertThat(stoker("ingest", s3 + "/raw", target, "--append")).isEqualTo(1);
        assertThat(err.toString()).contains("a sample with the key", "already");
        write(hdfs + "/more", Map.of("c9/new.jpg", new byte[5000]));
        ingest(hdfs + "/more", target, "--append");

        assertThat(stoker("log", target, "--json")).isZero();
        assertThat(Json.PLAIN.readTree(out.toString())).hasSize(2);
        assertThat(Contents.of(target)).hasSize(tree.size() + 1);
        assertThat(stoker("info", target + "@1", "--json")).isZero();
        assertThat(Json.PLAIN.readTree(out.toString()).path("samples").asInt()).isEqualTo(tree.size());
        assertThat(stoker("show", target, "--n", "2")).isZero();
        assertThat(out.toString()).contains("2 of " + (tree.size() + 1) + " samples");
    }

    /** Every batch of an epoch by its number, as delivered by a feed over the dataset. */
    private Map<Long, List<String>> consume(String location, String name) throws Exception {
        FeedPlan plan = FeedPlan.of(FeedOptions.parse(new String[] {
            location,
            "--name=" + name,
            "--port=0",
            "--batch-size=7",
            "--lanes=3",
            "--seed=9",
            "--shuffle-window=20 kb",
            "--checkpoint-interval=200 ms",
            "--ui=off"
        }));
        Map<Long, List<String>> batches = new TreeMap<>();
        try (EmbeddedFeed feed = EmbeddedFeed.start(plan)) {
            String address = feed.awaitReady(Duration.ofMinutes(2));
            for (int rank = 0; rank < 2; rank++) {
                try (FeedClient client = FeedClient.of(address)
                        .rank(rank, 2)
                        .ranks(r -> r.run(1))
                        .epochs(1)
                        .open()) {
                    for (Batch batch : client.epoch()) {
                        List<String> messages = new ArrayList<>();
                        for (ByteBuffer message : batch.messages()) {
                            byte[] bytes = new byte[message.remaining()];
                            message.duplicate().get(bytes);
                            messages.add(HexFormat.of().formatHex(bytes));
                        }
                        assertThat(batches.put(batch.number(), messages)).isNull();
                        batch.close();
                    }
                }
            }
        }
        assertThat(stoker("audit", name, "--epochs", "1"))
                .as(() -> out + "\n" + err)
                .isZero();
        return batches;
    }

    @Test
    @Tag("full-stores")
    void feedsTheSameBytesFromAnyStore() throws Exception {
        ingest(s3 + "/raw", s3 + "/fed", "--label-from", "parent-dir");
        String key = tree.keySet().iterator().next();
        write(s3 + "/tables", Map.of("update.csv", ("key,label\n\"" + key + "\",another\n").getBytes(UTF_8)));
        assertThat(stoker("update", s3 + "/fed", s3 + "/tables/update.csv", "--yes"))
                .as(err::toString)
                .isZero();
        assertThat(Contents.of(s3 + "/fed").get(key)).contains("label=another");
        Contents.copy(s3 + "/fed", hdfs + "/fed");
        Contents.copy(s3 + "/fed", local("fed"));

        Map<Long, List<String>> batches = consume(local("fed"), "local-fed");
        assertThat(batches).hasSize(10);
        assertThat(consume(s3 + "/fed", "s3-fed")).isEqualTo(batches);
        assertThat(consume(hdfs + "/fed", "hdfs-fed")).isEqualTo(batches);

        // The ledgers, and the signs that they must be there, are in the datasets' own stores.
        for (String location : List.of(s3 + "/fed", hdfs + "/fed")) {
            try (ObjectStore store = Stores.open(location)) {
                assertThat(store.list("_stoker/feeds/").toList())
                        .isNotEmpty()
                        .allMatch(object -> object.name()
                                .matches(".*/(ledger/part-[0-9a-f-]{36}\\.avro"
                                        + "|delivered-[0-9a-f-]{36}-0-[0-9a-f-]{36}\\.json)"))
                        .anyMatch(object -> object.name().contains("/delivered-"));
            }
        }
    }

    @Test
    void looksAfterADatasetOnS3() throws Exception {
        String target = s3 + "/kept";
        ingest(local("raw"), target);
        try (ObjectStore store = Stores.open(target)) {
            String chunk =
                    ChunkNames.path(Dataset.open(store).snapshot().table().id(2));
            byte[] good = store.readAll(chunk, Integer.MAX_VALUE);
            byte[] flipped = good.clone();
            flipped[good.length / 2] ^= 4;
            store.delete(chunk);
            store.createIfAbsent(chunk, flipped);
            assertThat(stoker("verify", target)).isEqualTo(1);
            assertThat(out.toString()).contains("chunk 2: row ");
            store.delete(chunk);
            store.createIfAbsent(chunk, good);

            String log = String.format("_stoker/log/%020d.avro", 1);
            assertThat(store.delete(log)).isTrue();
            assertThat(stoker("recover", target, "--yes")).isZero();
            assertThat(out.toString()).contains("recovered");
            assertThat(stoker("verify", target)).isZero();

            ObjectWriter abandoned =
                    store.write(ChunkNames.path(UUID.fromString("01900000-0000-7000-8000-0000000000aa")));
            for (int i = 0; i < 70; i++) {
                abandoned.write(ByteBuffer.allocate(1 << 20));
            }
            Waiting.until(() -> !store.listUnfinished("").toList().isEmpty());
            store.createIfAbsent("chunks/ab/01900000-0000-7000-8000-0000000000ab.arrow", new byte[10]);
            assertThat(stoker("gc", target, "--older-than", "0")).isZero();
            assertThat(out.toString()).contains("would delete 2 files", "unfinished ");
            assertThat(stoker("gc", target, "--older-than", "0", "--yes")).isZero();
            assertThat(store.listUnfinished("").toList()).isEmpty();
            assertThat(stoker("verify", target)).isZero();
            assertThat(Contents.of(target)).hasSize(tree.size());
        }
    }

    @Test
    @Tag("full-stores")
    void saysWhatIsWrongWithALocation() throws IOException {
        assertThat(stoker("info", s3 + "/raw")).isEqualTo(1);
        assertThat(err.toString()).contains(s3 + "/raw").contains("is not a Stoker dataset");
        assertThat(stoker("info", "s3a://no-such-bucket-here/x")).isEqualTo(1);
        assertThat(err.toString()).contains("no-such-bucket-here").doesNotContain("\n\tat ");
        assertThat(stoker("info", "s4://bucket/x")).isEqualTo(1);
        assertThat(err.toString()).contains("s4", "s3a");
        assertThat(stoker("info", "s3a://bucket/a b")).isEqualTo(2);
        assertThat(err.toString()).contains("s3a://bucket/a b is not a URI", "%20");
        assertThat(stoker("info", "hdfs://no-such-host.invalid/x")).isEqualTo(1);
        assertThat(err.toString()).contains("unknown host no-such-host.invalid");
        assertThat(stoker("info", s3)).isEqualTo(1);
        assertThat(stoker("ingest", s3 + "/nothing", s3 + "/x")).isEqualTo(2);
        assertThat(err.toString()).contains("the source " + s3 + "/nothing does not exist");
        assertThat(stoker("ingest", s3 + "/raw", s3 + "/raw/packed")).isEqualTo(2);
        assertThat(err.toString()).contains("is inside the source");
        assertThat(stoker("ingest", s3 + "/raw", s3.replace("s3a:", "s3:") + "/raw"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("the target is the source");
        assertThat(stoker("ingest", s3 + "/raw", hdfs + "/raw")).isEqualTo(2);
        assertThat(err.toString()).contains("is not a dataset and contains");
        assertThat(stoker("feed", s3 + "/raw")).isEqualTo(1);
        assertThat(err.toString()).contains(s3 + "/raw");
        assertThat(stoker("audit", "--ledger", s3 + "/none", "--dataset", s3 + "/raw"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("there is no ledger at " + s3 + "/none");
    }
}
