package dev.stoker.cli.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.cli.TestRedis;
import dev.stoker.cli.redis.RedisAddresses;
import dev.stoker.flink.embedded.EmbeddedFlink;
import dev.stoker.flink.work.FlinkWorkers;
import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.AddressHints;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.ThreadWorkers;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.Serializable;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The tasks of a Flink job load the places of samples into a real Redis server. */
@Timeout(120)
@Tag("full-programs")
class RedisFlinkTest {

    /** Classes that the job jar does not have. */
    private static final List<String> ABSENT = List.of(
            "dev.stoker.cli.redis.", "redis.clients.", "org.apache.commons.pool2.", "com.google.gson.", "org.json.");

    @TempDir
    private Path directory;

    private TestRedis server;
    private String url;
    private TestDataset samples;
    private ObjectStore store;
    private Dataset dataset;

    @BeforeEach
    void start() throws IOException {
        samples = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4, 6, 3);
        store = Stores.open(samples.path().toString());
        dataset = Dataset.open(store);
        startServer();
    }

    private void startServer() throws IOException {
        server = TestRedis.start();
        url = server.url();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        store.close();
    }

    private FlinkWorkers workers() {
        Configuration settings = new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        return new FlinkWorkers(
                samples.path().toString(),
                "test",
                2,
                () -> EmbeddedFlink.environment(2, settings),
                (done, pieces) -> {});
    }

    private List<Optional<AddressHints.Place>> places(RedisAddresses places) throws IOException {
        return places.find(
                new ArrayList<>(Contents.of(samples.path().toString()).keySet()));
    }

    @Test
    void theTasksLoadWhatThreadsLoadAndLaterOnlyWhatIsNew() throws Exception {
        List<Optional<AddressHints.Place>> expected;
        try (RedisAddresses places = RedisAddresses.open(url, dataset.info().id())) {
            places.load(dataset, dataset.snapshot(), 1);
            expected = places(places);
            assertThat(expected).hasSize(18).allMatch(Optional::isPresent);
        }
        server.close();
        startServer();
        try (RedisAddresses places = RedisAddresses.open(url, dataset.info().id())) {
            assertThat(places(places)).noneMatch(Optional::isPresent);
            assertThat(places.load(dataset.snapshot(), workers())).isEqualTo(new RedisAddresses.Loaded(1, 4, 18));
            assertThat(places(places)).isEqualTo(expected);

            samples.append(7, 100, 2);

            assertThat(places.load(dataset.snapshot(), workers())).isEqualTo(new RedisAddresses.Loaded(2, 1, 2));
            assertThat(places(places)).hasSize(20).allMatch(Optional::isPresent);
            assertThat(places.load(dataset.snapshot(), workers())).isEqualTo(new RedisAddresses.Loaded(2, 0, 0));
        }
    }

    @Test
    void aDeadServerFailsTheJobWithItsMessage() throws Exception {
        try (RedisAddresses places = RedisAddresses.open(url, dataset.info().id())) {
            Workers dying = new Workers() {
                @Override
                public <R extends Serializable> void run(int pieces, PieceWork<R> work, Consumer<? super R> results)
                        throws IOException, InterruptedException {
                    server.close();
                    workers().run(pieces, work, results);
                }
            };

            assertThatThrownBy(() -> places.load(dataset.snapshot(), dying))
                    .isInstanceOf(StokerException.class)
                    .hasMessageContaining(url + " stores nothing");
        }
    }

    /** As in a TaskManager that has only the job jar and the jars of the command. */
    @Test
    void theJarsOfTheCommandSufficeForTheTasks() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (Path jar : RedisOption.jars()) {
            urls.add(jar.toUri().toURL());
        }
        ClassLoader jobJar = new ClassLoader(getClass().getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (ABSENT.stream().anyMatch(name::startsWith)) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name, resolve);
            }
        };
        try (URLClassLoader task = new URLClassLoader(urls.toArray(new URL[0]), jobJar)) {
            Class<?> type = task.loadClass("dev.stoker.cli.redis.RedisAddresses");
            assertThat(type).isNotEqualTo(RedisAddresses.class);
            Object places = type.getMethod("open", String.class, UUID.class)
                    .invoke(null, url, dataset.info().id());
            Object loaded = type.getMethod("load", Snapshot.class, Workers.class)
                    .invoke(places, dataset.snapshot(), new ThreadWorkers(store, Runnable::run, 1));
            assertThat(loaded).hasToString("Loaded[version=1, chunks=4, samples=18]");
            type.getMethod("close").invoke(places);
        }
        try (RedisAddresses places = RedisAddresses.open(url, dataset.info().id())) {
            assertThat(places(places)).allMatch(Optional::isPresent);
        }
    }
}
