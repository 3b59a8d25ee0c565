package dev.stoker.cli.redis;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.index.AddressHints.Place;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.testing.FreePort;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.embedded.RedisServer;

/** A real server: loaded, flushed, full of garbage, killed. The answers stay. */
class RedisAddressesTest {

    private static final List<String> KEYS = List.of("cat/1", "cat/2", "dog/3", "none", "cat/é\n\u0000");

    private final FaultyObjectStore store = new FaultyObjectStore(new InMemoryObjectStore(CLOCK));
    private final AtomicLong nanos = new AtomicLong();
    private Dataset dataset;
    private RedisServer server;
    private RedisClient client;
    private String url;
    private RedisAddresses places;

    @BeforeEach
    void start() throws IOException {
        dataset = Dataset.create(store, info());
        append(1, "cat/1", "cat/2");
        append(2, "dog/3", "cat/é\n\u0000");
        int port = FreePort.find();
        server = RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("save \"\"")
                .build();
        server.start();
        url = "redis://127.0.0.1:" + port;
        client = RedisClient.create("127.0.0.1", port);
        places = RedisAddresses.open(url, dataset.info().id(), nanos::get);
    }

    @AfterEach
    void stop() throws IOException {
        places.close();
        client.close();
        server.stop();
    }

    private void append(int number, String... keys) throws IOException {
        ChunkSummary chunk = write(store, id(number), "ingest-" + number, "train", keys);
        committer(dataset)
                .commit(VersionRequest.append(
                        "ingest-" + number, List.of(chunk), Map.of("label", List.of("cat", "dog")), Map.of()));
    }

    private RedisAddresses.Loaded load() throws IOException {
        return places.load(dataset, dataset.snapshot(), 2);
    }

    private String name(String key) {
        return "stoker:sample:" + dataset.info().id() + ":" + key;
    }

    /** The answers with the server, after they were compared with those of the index alone. */
    private List<Optional<SampleStat>> requireSameAnswers() throws IOException {
        SampleIndex alone = SampleIndex.open(dataset, dataset.snapshot());
        SampleIndex hinted = SampleIndex.open(dataset, dataset.snapshot(), places);
        List<Optional<SampleStat>> stats = hinted.stat(KEYS);
        assertThat(stats).isEqualTo(alone.stat(KEYS));
        for (int i = 0; i < KEYS.size(); i++) {
            assertThat(hinted.stat(KEYS.get(i))).isEqualTo(stats.get(i));
        }
        List<Optional<StoredSample>> samples = hinted.get(KEYS);
        List<Optional<StoredSample>> expected = alone.get(KEYS);
        for (int i = 0; i < KEYS.size(); i++) {
            assertThat(samples.get(i).map(StoredSample::stat))
                    .isEqualTo(expected.get(i).map(StoredSample::stat));
            assertThat(samples.get(i).map(sample -> sample.payload(1)))
                    .isEqualTo(expected.get(i).map(sample -> sample.payload(1)));
        }
        return stats;
    }

    @Test
    void answersLikeTheIndexAndIsAsked() throws IOException {
        assertThat(load()).isEqualTo(new RedisAddresses.Loaded(2, 2, 4));
        assertThat(client.get(name("dog/3"))).isEqualTo("1 0");
        assertThat(places.find(List.of("cat/2", "none")))
                .containsExactly(Optional.of(new Place(0, 1)), Optional.empty());
        assertThat(requireSameAnswers()).filteredOn(Optional::isEmpty).hasSize(1);

        // Only the chunk that the server names is read, though there is no index.
        SampleIndex hinted = SampleIndex.open(dataset, dataset.snapshot(), places);
        store.reset();
        assertThat(hinted.stat("dog/3")).isPresent();
        assertThat(store.calls())
                .allMatch(call -> call.name().contains(id(2).toString()))
                .isNotEmpty();
    }

    @Test
    void loadsOnlyNewChunksUnlessTheServerForgot() throws IOException {
        load();
        append(3, "cat/9");
        assertThat(load()).isEqualTo(new RedisAddresses.Loaded(3, 1, 1));
        assertThat(load()).isEqualTo(new RedisAddresses.Loaded(3, 0, 0));
        places.forget();
        assertThat(load()).isEqualTo(new RedisAddresses.Loaded(3, 3, 5));
        client.flushAll();
        assertThat(load().samples()).isEqualTo(5);
        for (String garbage : List.of("x", "-1", "9999999999999999999999")) {
            client.set("stoker:loaded:" + dataset.info().id(), garbage);
            assertThat(load().samples()).isEqualTo(5);
        }
        client.del("stoker:loaded:" + dataset.info().id());
        client.lpush("stoker:loaded:" + dataset.info().id(), "a list");
        assertThat(load().samples()).isEqualTo(5);
    }

    @Test
    void garbageChangesNoAnswer() throws IOException {
        load();
        Random random = new Random(3);
        List<String> garbage = List.of(
                "", "1", "0 0", "0 1", "1 0", "1 1", "0 7", "7 0", "9999999999 0", "0 999999999", "a b", "-1 0");
        for (int round = 0; round < 200; round++) {
            for (String key : KEYS) {
                byte[] value = garbage.get(random.nextInt(garbage.size())).getBytes(StandardCharsets.UTF_8);
                client.set(name(key).getBytes(StandardCharsets.UTF_8), value);
            }
            requireSameAnswers();
        }
        client.del(name("cat/1"));
        client.lpush(name("cat/1"), "0 0");
        requireSameAnswers();
        client.flushAll();
        requireSameAnswers();
    }

    @Test
    void aFullServerFailsTheLoadAndChangesNoAnswer() throws IOException {
        client.configSet("maxmemory", "1");
        client.configSet("maxmemory-policy", "noeviction");
        assertThatThrownBy(this::load)
                .isInstanceOf(StokerException.class)
                .hasMessageContaining(url + " stores nothing: OOM");
        requireSameAnswers();
    }

    @Test
    void aLoadOfWhichThePlacesAreRefusedIsNotRecorded() throws IOException {
        CommandArguments user =
                new CommandArguments(Protocol.Command.ACL).add("SETUSER").add("limited");
        client.executeCommand(user.add("on").add(">secret").add("+@all").add("~stoker:loaded:*"));
        String limited = url.replace("//", "//limited:secret@");
        try (RedisAddresses other = RedisAddresses.open(limited, dataset.info().id())) {
            assertThatThrownBy(() -> other.load(dataset, dataset.snapshot(), 1))
                    .isInstanceOf(StokerException.class)
                    .hasMessageContaining("NOPERM");
        }
        assertThat(load().samples()).isEqualTo(4);
    }

    @Test
    void aLoadIntoAServerThatLiesNamesIt() throws IOException {
        List<String> lies = List.of(":1\r\n", "*1\r\n".repeat(100_000), "$2147483647\r\n", "-MOVED x\r\n");
        for (String lie : lies) {
            try (HostileRedis hostile = new HostileRedis(HostileRedis.Answer.text(lie));
                    RedisAddresses other =
                            RedisAddresses.open(hostile.url(), dataset.info().id())) {
                try {
                    // It says OK to what is stored, and an integer where a version should be is garbage.
                    assertThat(other.load(dataset, dataset.snapshot(), 1).samples())
                            .isEqualTo(4);
                } catch (StokerException e) {
                    assertThat(e).hasMessageContaining(hostile.url() + " stores nothing: ");
                }
            }
        }
    }

    @Test
    void placesOfRemovedAndMovedSamplesAreNotBelieved() throws IOException {
        load();
        ChunkSummary chunk = write(store, id(5), "moved", "train", "cat/2", "cat/1");
        committer(dataset)
                .commit(VersionRequest.replace("moved", List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
        List<Optional<SampleStat>> stats = requireSameAnswers();
        assertThat(stats.get(0).orElseThrow().ordinal()).isEqualTo(2);
        assertThat(stats.get(2)).as("dog/3 is gone").isEmpty();
    }

    @Test
    void aKilledServerChangesNoAnswerAndIsAskedAgainLater() throws IOException {
        load();
        server.stop();
        requireSameAnswers();
        assertThat(places.find(KEYS)).containsOnly(Optional.empty());
        assertThatThrownBy(this::load).isInstanceOf(IOException.class).hasMessageContaining(url + " stores nothing: ");

        server.start();
        client.set(name("cat/1"), "0 0");
        assertThat(places.find(List.of("cat/1"))).as("not yet").containsExactly(Optional.empty());
        nanos.addAndGet(10_000_000_001L);
        assertThat(places.find(List.of("cat/1"))).containsExactly(Optional.of(new Place(0, 0)));
        requireSameAnswers();
    }

    @Test
    void takesPasswordAndDatabaseFromTheUrl() throws IOException {
        client.configSet("requirepass", "secret");
        assertThat(places.find(KEYS)).containsOnly(Optional.empty());
        String own = url.replace("//", "//:secret@") + "/3";
        try (RedisAddresses other = RedisAddresses.open(own, dataset.info().id())) {
            assertThat(other.load(dataset, dataset.snapshot(), 1).samples()).isEqualTo(4);
            assertThat(other.find(List.of("cat/1"))).containsExactly(Optional.of(new Place(0, 0)));
        }
        String wrong = url.replace("//", "//:wrong@");
        try (RedisAddresses other = RedisAddresses.open(wrong, dataset.info().id())) {
            assertThat(other.find(List.of("cat/1"))).containsExactly(Optional.empty());
            assertThatThrownBy(() -> other.load(dataset, dataset.snapshot(), 1))
                    .hasMessageContaining(url + " stores nothing: ")
                    .hasMessageNotContaining("wrong@");
        }
    }

    @Test
    void refusesUrlsOfOtherServers() {
        for (String wrong : List.of("http://x:1", "redis://x", "x:6379", "redis:// x")) {
            assertThatThrownBy(() -> RedisAddresses.open(wrong, dataset.info().id()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("URL of a Redis server");
        }
    }
}
