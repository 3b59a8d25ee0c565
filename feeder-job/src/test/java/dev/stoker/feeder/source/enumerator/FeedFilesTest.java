package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.JobClaim;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.registry.StopRequest;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.server.TestDataset;
import dev.stoker.server.Waiting;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeedFilesTest {

    @TempDir
    private Path directory;

    private final Path file = StokerHome.feedFile("published-" + System.nanoTime());
    private FeedPlan plan;

    @BeforeEach
    void resolve() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
        String name = file.getFileName().toString().replace(".json", "");
        plan = FeedPlan.of(FeedOptions.parse(new String[] {dataset.path().toString(), "--name", name}));
    }

    @AfterEach
    void remove() throws IOException {
        Files.deleteIfExists(file);
    }

    private FeedFiles files() throws IOException {
        return new FeedFiles(plan, new JobClaim(plan.name(), Map.of()));
    }

    private static Map<String, LaneMap> at(String... addresses) {
        return Map.of("train", new LaneMap(1, 1, List.of(addresses), List.of()));
    }

    @Test
    void aFeedThatBeginsIsNamedWhenItIsWhole() throws IOException {
        FeedFiles files = files();
        files.publish(at("a:1"), List.of(), false);
        assertThat(file).doesNotExist();
        files.publish(at("a:1", "b:1"), List.of(), true);
        assertThat(file).content().contains("\"a:1\",\"b:1\"");
    }

    @Test
    void aFeedThatLostMachinesIsNamedWhereItIsLeft() throws IOException {
        FeedFiles files = files();
        files.publish(at("a:1", "b:1"), List.of(), true);
        files.publish(at("c:1"), List.of(), false);
        assertThat(file).content().contains("\"addresses\":[\"c:1\"]");
        // As after the loss of the coordinator itself.
        files().publish(at("d:1"), List.of(), false);
        assertThat(file).content().contains("\"addresses\":[\"d:1\"]");
    }

    @Test
    void aRequestToStopEndsTheFeedThatItNamesAndNoLaterOne() throws IOException {
        FeedFiles files = files();
        files.publish(at("a:1"), List.of(), true);
        assertThat(files.takeStopRequest()).isFalse();
        long startedMs = new JsonMapper()
                .readTree(Files.readAllBytes(file))
                .path("started_ms")
                .asLong();
        StopRequest.write(plan.name(), plan.id(), startedMs - 1);
        assertThat(files.takeStopRequest()).as("of an earlier start").isFalse();
        StopRequest.write(plan.name(), UUID.randomUUID(), startedMs);
        assertThat(files.takeStopRequest()).as("of another feed").isFalse();
        StopRequest.write(plan.name(), plan.id(), startedMs);
        assertThat(files.takeStopRequest()).isTrue();
        assertThat(files.takeStopRequest()).as("a second time").isFalse();
    }

    @Test
    void aCoordinatorThatTakesOverIsNotWithdrawnByTheOneBefore() throws Exception {
        FeedFiles before = files();
        before.publish(at("a:1"), List.of(), true);
        long started = System.currentTimeMillis();
        Waiting.until(() -> System.currentTimeMillis() > started);
        files().publish(at("b:1"), List.of(), true);
        before.withdraw(false);
        assertThat(file).content().contains("b:1").doesNotContain("closed_ms");
    }

    @Test
    void aCoordinatorThatClosesSaysThatTheFeedHasEndedOnlyIfItHas() throws IOException {
        FeedFiles files = files();
        files.publish(at("a:1"), List.of(), true);
        files.withdraw(false);
        assertThat(file).content().contains("a:1", "closed_ms").doesNotContain("ended_ms");
        files.withdraw(true);
        assertThat(file).content().contains("ended_ms");
        files().publish(at("b:1"), List.of(), false);
        assertThat(file).content().doesNotContain("b:1");
    }

    @Test
    void aFeedThatEndsUsesNoVersionAnyMore() throws IOException {
        try (ObjectStore store = Stores.open(plan.streams().get(0).path())) {
            VersionUses uses = new VersionUses(Dataset.open(store));
            uses.take(1, plan.id(), InstantSource.system(), "ada@host");
            uses.take(1, UUID.randomUUID(), InstantSource.system(), "another feed");
            files().withdraw(false);
            assertThat(uses.all()).hasSize(2);
            files().withdraw(true);
            assertThat(uses.all()).hasSize(1);
            uses.take(1, plan.id(), InstantSource.system(), "ada@host");
            files().release();
            assertThat(uses.all()).hasSize(1);
        }
    }

    @Test
    void whatIsPublishedLateDoesNotHideTheEnd() throws IOException {
        FeedFiles files = files();
        files.publish(at("a:1"), List.of(), true);
        files.withdraw(true);
        // A worker thread had this in its queue.
        files.publish(at("a:1"), List.of(), true);
        assertThat(file).content().contains("ended_ms");
    }

    @Test
    void aCoordinatorThatTookOverAndEndsAtOnceSaysSo() throws IOException {
        files().publish(at("a:1"), List.of(), true);
        FeedFiles after = files();
        after.withdraw(true);
        assertThat(file).content().contains("ended_ms");
    }

    @Test
    void aCoordinatorThatWasNeverPublishedLeavesNothing() throws IOException {
        FeedFiles files = files();
        files.withdraw(true);
        assertThat(file).doesNotExist();
    }

    @Test
    void aFeedThatNeverSaidThatItEndedGoesOn() throws IOException {
        FeedFiles first = files();
        assertThat(first.isGoingOn()).isFalse();
        first.publish(at("a:1"), List.of(), true);
        FeedFiles second = files();
        assertThat(second.isGoingOn()).as("after a kill").isTrue();
        second.publish(at("a:1"), List.of(), true);
        second.withdraw(true);
        assertThat(files().isGoingOn()).as("after its end").isFalse();
    }

    /** The classes of a job on a cluster: its own, and never those of the process, until they are unloaded. */
    private static final class JobClasses extends URLClassLoader {
        JobClasses() throws IOException {
            super(classpath(), FeedFilesTest.class.getClassLoader());
        }

        private static URL[] classpath() throws IOException {
            List<URL> all = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                all.add(Path.of(entry).toUri().toURL());
            }
            return all.toArray(URL[]::new);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith("dev.stoker.") && !name.startsWith("com.fasterxml.")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }

    /** A coordinator's life up to its end, for {@link JobClasses}. */
    static final class Life implements Function<String[], Callable<String>> {
        @Override
        public Callable<String> apply(String[] arguments) {
            try {
                FeedPlan plan = FeedPlan.of(FeedOptions.parse(arguments));
                FeedFiles files = new FeedFiles(plan, new JobClaim(plan.name(), Map.of()));
                files.publish(at("a:1"), List.of(), true);
                files.release();
                return () -> {
                    files.withdraw(true);
                    return "withdrawn";
                };
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void theEndIsPublishedAfterTheClassesOfTheJobWereUnloaded() throws Exception {
        JobClasses classes = new JobClasses();
        Constructor<?> constructor =
                Class.forName(Life.class.getName(), true, classes).getDeclaredConstructor();
        constructor.setAccessible(true);
        @SuppressWarnings("unchecked")
        Function<String[], Callable<String>> life = (Function<String[], Callable<String>>) constructor.newInstance();
        Callable<String> end = life.apply(new String[] {plan.streams().get(0).path(), "--name", plan.name()});
        classes.close();
        assertThat(end.call()).isEqualTo("withdrawn");
        assertThat(file).content().contains("ended_ms").doesNotContain("a:1");
    }
}
