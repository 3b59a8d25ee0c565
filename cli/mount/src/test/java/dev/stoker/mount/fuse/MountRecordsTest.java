package dev.stoker.mount.fuse;

import static dev.stoker.mount.Shell.ok;
import static dev.stoker.mount.Shell.run;
import static dev.stoker.mount.TestMount.images;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.mount.TestMount;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.LocalObjectStore;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills processes that serve a mount, and cleans up after them. */
@Timeout(120)
class MountRecordsTest {

    @TempDir
    private Path directory;

    private final List<String> progress = new ArrayList<>();
    private final List<Process> started = new ArrayList<>();
    private TestMount made;
    private Path point;
    private MountRecords records;

    @BeforeEach
    void create() throws IOException {
        made = new TestMount(new LocalObjectStore(directory.resolve("data")));
        made.append(images("cat/1"));
        point = Files.createDirectory(directory.resolve("a point")).toRealPath();
        records = new MountRecords(directory.resolve("records"));
    }

    @AfterEach
    void end() throws Exception {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
        if (MountPoints.at(point).isPresent()) {
            MountPoints.unmount(point);
        }
    }

    private Process mount() throws Exception {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "--add-opens=java.base/java.nio=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        MountingProcess.class.getName(),
                        directory.resolve("data").toString(),
                        point.toString(),
                        directory.resolve("records").toString())
                .redirectErrorStream(true)
                .redirectOutput(new File(directory.toFile(), "output"))
                .start();
        started.add(process);
        while (!output().contains("ready")) {
            assertThat(process.isAlive()).as(output()).isTrue();
        }
        return process;
    }

    private String output() throws IOException {
        return Files.readString(directory.resolve("output"), StandardCharsets.UTF_8);
    }

    private void kill() throws Exception {
        mount().destroyForcibly().waitFor();
        while (!run(directory, "ls 'a point'").output().contains("Transport endpoint is not connected")) {
            Thread.onSpinWait();
        }
        assertThat(new VersionUses(made.dataset()).all()).hasSize(1);
    }

    @Test
    @Tag("fuse")
    @Tag("full-programs")
    void cleansUpAfterAKilledProcess() throws Exception {
        kill();
        assertThat(records.unmount(point, progress::add)).isTrue();
        requireClean();
        assertThat(records.unmount(point, progress::add)).isFalse();
        assertThat(progress).isEmpty();
    }

    @Test
    @Tag("fuse")
    @Tag("full-programs")
    void mountsOverAMountWhoseProcessWasKilled() throws Exception {
        kill();
        assertThat(records.cleanDead(point, progress::add)).isTrue();
        requireClean();
        mount();
        assertThat(ok(point, "cat cat/1")).isEqualTo("image of cat/1");
        assertThat(records.cleanDead(point, progress::add)).isFalse();
        assertThat(records.unmount(point, progress::add)).isTrue();
        assertThat(ok(point, "ls")).isEmpty();
    }

    private void requireClean() throws Exception {
        assertThat(ok(point, "ls -A")).isEmpty();
        assertThat(new VersionUses(made.dataset()).all()).isEmpty();
        assertThat(ok(directory, "ls records")).isEmpty();
    }

    @Test
    void saysHowToEndTheUsesOfADatasetThatCannotBeOpened() throws IOException {
        UUID id = UUID.randomUUID();
        String gone = directory.resolve("gone").toString();
        // No process of this machine has started at this time.
        records.add(new MountRecords.Entry(id, point, endedProcess(), List.of(gone)));
        assertThat(records.unmount(point, progress::add)).isTrue();
        assertThat(progress).singleElement().asString().contains("stoker expire " + gone + " --end-feed " + id);
        assertThat(records.of(point)).hasSize(1);
    }

    private static String endedProcess() {
        String current = WriterProcess.current();
        return current.substring(0, current.lastIndexOf('/')) + "/1";
    }

    @Test
    void refusesToUnmountOtherFileSystems() {
        assertThatThrownBy(() -> records.unmount(Path.of("/proc"), progress::add))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("/proc is a mount of")
                .hasMessageContaining("not of Stoker");
    }
}
