package dev.stoker.feeder.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FeedLockTest {
    private static final String JOB = "645877b2aa0c4d5fb1c0000000000001";

    private final String name = "locked-" + System.nanoTime();
    private final Path file = StokerHome.feedFile(name).resolveSibling(name + ".lock");
    private String ownProcess = "";

    /** A feed of a command in the same JVM may have run before. */
    @BeforeEach
    void isACluster() {
        ownProcess = System.getProperty(StokerHome.OWN_PROCESS, "");
        System.clearProperty(StokerHome.OWN_PROCESS);
    }

    @AfterEach
    void remove() throws IOException {
        if (!ownProcess.isEmpty()) {
            System.setProperty(StokerHome.OWN_PROCESS, ownProcess);
        }
        Files.deleteIfExists(file);
    }

    private JobClaim claim(String job) {
        return new JobClaim(name, Map.of("<job_id>", job));
    }

    /** Whether another process would find the file locked. */
    private boolean isLocked() throws IOException {
        Object inode = Files.getAttribute(file, "unix:ino");
        return Files.readString(Path.of("/proc/locks")).contains(":" + inode + " ");
    }

    @Test
    void aFeedOfACommandRefusesASecondOneAndKeepsItsLock() throws IOException {
        try (FeedLock first = FeedLock.take(name)) {
            assertThat(first).isNotNull();
            assertThatThrownBy(() -> FeedLock.take(name))
                    .isInstanceOf(FeedRunningException.class)
                    .hasMessage("a feed " + name + " is already running (pid "
                            + ProcessHandle.current().pid() + "); stop it with stoker stop " + name
                            + ", or give another name with --name NAME");
            assertThatThrownBy(claim(JOB)::make).isInstanceOf(FeedRunningException.class);
            assertThat(isLocked()).isTrue();
        }
        assertThat(isLocked()).isFalse();
        FeedLock.take(name).close();
    }

    @Test
    void aJobRefusesACommandAndAnotherJobAndTheErrorNamesIt() throws IOException {
        try (JobClaim first = claim(JOB)) {
            first.make();
            first.make();
            assertThatThrownBy(() -> FeedLock.take(name))
                    .isInstanceOf(FeedRunningException.class)
                    .hasMessageContaining("on a Flink cluster (job " + JOB + "); stop it with stoker stop " + name);
            assertThatThrownBy(() -> FeedLock.requireFree(name)).isInstanceOf(FeedRunningException.class);
            try (JobClaim other = claim("0000000000000000000000000000000f")) {
                assertThatThrownBy(other::make).hasMessageContaining("(job " + JOB + ")");
            }
            assertThat(isLocked()).isTrue();
        }
        FeedLock.requireFree(name);
        assertThat(isLocked()).isFalse();
    }

    /** As when another JobManager takes over from one that is suspended. */
    @Test
    void anotherCoordinatorOfTheSameJobIsNoSecondFeed() throws IOException {
        try (JobClaim suspended = claim(JOB);
                JobClaim next = claim(JOB)) {
            suspended.make();
            next.make();
        }
        try (JobClaim unknown = new JobClaim(name, Map.of());
                JobClaim other = new JobClaim(name, Map.of())) {
            unknown.make();
            assertThatThrownBy(other::make).isInstanceOf(FeedRunningException.class);
        }
    }

    @Test
    void aLockFileOfAKilledFeedIsTaken() throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "{\"pid\":4711,\"job\":\"" + JOB + "\",\"more\":\"of a longer text\"}");
        try (FeedLock lock = FeedLock.take(name)) {
            assertThat(lock).isNotNull();
            assertThat(file)
                    .content()
                    .isEqualTo("{\"pid\":" + ProcessHandle.current().pid() + "}");
        }
    }
}
