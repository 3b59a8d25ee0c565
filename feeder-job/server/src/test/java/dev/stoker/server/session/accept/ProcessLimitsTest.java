package dev.stoker.server.session.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessLimitsTest {
    @TempDir
    Path root;

    /** A process of user 1000 with 20 threads and 30 files. */
    @BeforeEach
    void makeProcess() throws IOException {
        put("proc/sys/kernel/threads-max", "100000");
        put("proc/self/status", "Name:\tjava\nUid:\t1000\t1000\t1000\t1000\n");
        put("proc/self/cgroup", "");
        limits("unlimited", "1048576");
        for (int i = 0; i < 20; i++) {
            put("proc/self/task/" + i, "");
        }
        for (int i = 0; i < 30; i++) {
            put("proc/self/fd/" + i, "");
        }
    }

    private void put(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void limits(String processes, String files) throws IOException {
        put("proc/self/limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max cpu time              unlimited            unlimited            seconds
                Max processes             %-20s 96365                processes
                Max open files            %-20s 1048576              files
                """.formatted(processes, files));
    }

    private ProcessLimits read() {
        return ProcessLimits.read(root.resolve("proc"), root.resolve("cgroup"));
    }

    @Test
    void saysNothingWhereThereIsRoom() {
        assertThat(read().warning(1024)).isEmpty();
        assertThatCode(() -> read().judge(1023)).doesNotThrowAnyException();
    }

    @Test
    void countsTwoThreadsASessionAgainstTheLimitOfTheUser() throws IOException {
        limits("330", "1048576");
        assertThat(read().sessions()).isEqualTo((330 - 20 - 32) / 2);
        assertThat(read().warning(1024).orElseThrow())
                .contains(
                        "--max-sessions is 1024",
                        "room for 139 trainers",
                        "ulimit -u) allows 330, of which 20 are used");
        assertThat(read().warning(139)).isEmpty();
        assertThatCode(() -> read().judge(138)).doesNotThrowAnyException();
        assertThatThrownBy(() -> read().judge(139))
                .hasMessageContaining("139 trainers")
                .hasMessageContaining("ulimit -u");
    }

    @Test
    void theLimitOfTheUserDoesNotBindRoot() throws IOException {
        limits("330", "1048576");
        put("proc/self/status", "Uid:\t0\t0\t0\t0\n");
        assertThat(read().warning(1024)).isEmpty();
    }

    @Test
    void countsOneFileASession() throws IOException {
        limits("unlimited", "1024");
        assertThat(read().warning(1024).orElseThrow())
                .contains("room for 930 trainers", "ulimit -n) allows 1024, of which 30 are used");
    }

    @Test
    void theTightestControlGroupCounts() throws IOException {
        put("proc/self/cgroup", "0::/pod/container\n");
        put("cgroup/pod/pids.max", "400");
        put("cgroup/pod/pids.current", "100");
        put("cgroup/pod/container/pids.max", "max");
        assertThat(read().warning(1024).orElseThrow())
                .contains("room for 134 trainers", "pod/pids.max allows 400, of which 100 are used");
        put("cgroup/pod/container/pids.max", "60");
        put("cgroup/pod/container/pids.current", "50");
        assertThat(read().sessions()).as("at least one").isEqualTo(1);
    }

    @Test
    void readsTheControllerOfProcessesInVersionOne() throws IOException {
        put("proc/self/cgroup", "8:pids:/job\n4:memory:/other\n");
        put("cgroup/pids/job/pids.max", "232");
        put("cgroup/pids/job/pids.current", "100");
        put("cgroup/memory/other/pids.max", "1");
        assertThat(read().sessions()).isEqualTo(50);
    }

    @Test
    void aContainerSeesItsOwnGroupAtTheRoot() throws IOException {
        put("proc/self/cgroup", "0::/outside/of/the/container\n");
        put("cgroup/pids.max", "232");
        put("cgroup/pids.current", "100");
        assertThat(read().sessions()).isEqualTo(50);
    }
}
