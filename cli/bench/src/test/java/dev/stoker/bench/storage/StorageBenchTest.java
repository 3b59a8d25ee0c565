package dev.stoker.bench.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.bench.measure.Progress;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StorageBenchTest {

    private static final List<Integer> BLOCKS = List.of(1 << 10, 64 << 10);
    private static final StorageOptions SMALL =
            new StorageOptions(1 << 20, BLOCKS, List.of(1, 3), 2, Duration.ofMillis(100));

    private static final Path MEMORY = Path.of("/dev/shm");

    @TempDir
    private Path directory;

    private final List<String> said = new ArrayList<>();

    private Progress stoppedAt(Predicate<String> when) {
        return new Progress() {
            @Override
            public void doing(String what) {
                said.add(what);
            }

            @Override
            public boolean isStopped() {
                return said.stream().anyMatch(when);
            }
        };
    }

    private StorageResult run(StorageOptions options, Predicate<String> stop) throws Exception {
        return new StorageBench(directory.toString(), options, stoppedAt(stop)).run();
    }

    @Test
    void measuresEachCellAndLeavesNothing() throws Exception {
        StorageResult result = run(SMALL, what -> false);
        assertThat(directory).isEmptyDirectory();
        // tmpfs and some others have no cold reads.
        int caches = (int) result.reads().stream()
                .map(read -> read.of().cache())
                .distinct()
                .count();
        assertThat(result.reads()).hasSize(caches * 2 * 2 * 2);
        assertThat(result.reads()).allSatisfy(read -> {
            assertThat(read.bytesPerSecond().min()).isPositive();
            assertThat(read.p50Nanos()).isPositive().isLessThanOrEqualTo(read.p99Nanos());
        });
        assertThat(result.reads()).extracting(read -> read.of().cache()).contains(ReadCase.Cache.WARM);
        assertThat(result.metadata())
                .extracting(StorageResult.Metadata::operation)
                .contains("create", "length", "list (objects)", "delete");
        assertThat(result.writeRate()).isPositive();
        assertThat(result.files().bytes()).isEqualTo(1 << 20);
    }

    @Test
    void roundsForWhichTheTimeDidNotSufficeAreTold() throws Exception {
        StorageOptions none = new StorageOptions(1 << 20, BLOCKS, List.of(1), 3, Duration.ofNanos(1));
        assertThat(run(none, what -> false).notes()).contains("the time sufficed for 1 of 3 rounds");
        // A round for which there is no time does not read the files, and measures no metadata.
        assertThat(said).filteredOn(what -> what.contains("page cache")).hasSize(1);
        assertThat(said).noneMatch(what -> what.startsWith("round 2"));
    }

    @Test
    void warmReadsAreOfFilesThatFitInMemory() throws Exception {
        int size = (64 << 20) + 1024;
        StorageOptions one = new StorageOptions(size, List.of(1 << 10), List.of(1), 1, Duration.ofNanos(1));
        String target = directory.toString();
        StorageResult result =
                new StorageBench(target, one, stoppedAt(what -> false), new Limits(size - 1, size)).run();
        assertThat(result.notes()).anyMatch(note -> note.startsWith("warm: only the first 1 of 2 files, which fit"));
        assertThat(result.reads()).extracting(read -> read.of().cache()).contains(ReadCase.Cache.WARM);
        assertThat(new StorageBench(target, one, stoppedAt(what -> false), new Limits(size, size))
                        .run()
                        .notes())
                .anyMatch(note -> note.startsWith("warm: all files were read before"));
    }

    @Test
    void readsWhoseBuffersDoNotFitAreNotMeasured() throws Exception {
        Limits limits = new Limits(1 << 20, 2 * (64 << 10));
        StorageResult result = new StorageBench(directory.toString(), SMALL, stoppedAt(what -> false), limits).run();
        assertThat(result.reads())
                .extracting(read -> read.of().blockBytes() + " x " + read.of().depth())
                .contains((64 << 10) + " x 1", "1024 x 3")
                .doesNotContain((64 << 10) + " x 3");
        assertThat(result.notes()).anyMatch(note -> note.startsWith("64 KiB, 3 at a time: not measured"));
    }

    @Test
    void aFileHasABlockOfEachSize() throws Exception {
        int block = 65 << 20;
        StorageOptions large = new StorageOptions(block, List.of(block), List.of(1), 1, Duration.ofNanos(1));
        StorageResult result = run(large, what -> false);
        assertThat(result.files().count()).isOne();
        assertThat(result.reads()).isNotEmpty();
        assertThat(result.notes()).noneMatch(note -> note.startsWith("no file has a block"));
    }

    @Test
    void aStopWhileItWritesOrReadsLeavesNothing() throws Exception {
        Files.writeString(directory.resolve("other"), "stays");
        for (String when : List.of("writing", "round 1", "metadata")) {
            said.clear();
            StorageResult result = run(SMALL, what -> what.contains(when));
            assertThat(directory.toFile().list()).as(when).containsExactly("other");
            assertThat(result.metadata()).as(when).hasSizeLessThan(8);
        }
    }

    @Test
    void aMissingDirectoryAndAFullOneAreRefusedBeforeAnythingIsWritten() throws IOException {
        Path missing = directory.resolve("missing");
        assertThatThrownBy(() -> new StorageBench(missing.toString(), SMALL, stoppedAt(what -> false)).run())
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("there is no directory");
        long free = Files.getFileStore(directory).getUsableSpace();
        StorageOptions huge = new StorageOptions(free, BLOCKS, List.of(1), 1, Duration.ofSeconds(1));
        assertThatThrownBy(() -> run(huge, what -> false))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("use a smaller --size");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aFileIsNoTarget() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        assertThatThrownBy(() -> new StorageBench(file.toString(), SMALL, stoppedAt(what -> false)).run())
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("file is a file; expected a directory");
    }

    /** New kernels accept {@code O_DIRECT} on tmpfs, where no read is cold. */
    @Test
    void aFileSystemInMemoryHasNoColdReads() throws Exception {
        if (!hasMemoryFileSystem()) {
            return;
        }
        Path target = Files.createTempDirectory(MEMORY, "stoker-bench-test-");
        try {
            StorageResult result = new StorageBench(target.toString(), SMALL, stoppedAt(what -> false)).run();
            assertThat(result.reads()).extracting(read -> read.of().cache()).containsOnly(ReadCase.Cache.WARM);
            assertThat(result.notes()).anyMatch(note -> note.startsWith("cold: not measured"));
        } finally {
            Files.delete(target);
        }
    }

    private static boolean hasMemoryFileSystem() throws IOException {
        return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).type().equals("tmpfs");
    }

    @Test
    void allWrongOptionsAreToldTogether() {
        assertThatThrownBy(() -> new StorageOptions(10, List.of(0), List.of(0), 0, Duration.ZERO))
                .hasMessageContainingAll("--block-size", "--depth", "--rounds", "--seconds");
        assertThatThrownBy(() -> new StorageOptions(10, List.of(20), List.of(1), 1, Duration.ofSeconds(1)))
                .hasMessageContaining("--size");
        assertThatThrownBy(() -> new StorageOptions(1L << 40, List.of(1 << 30), List.of(64), 1, Duration.ofSeconds(1)))
                .hasMessageContaining("512 MiB of buffers");
    }
}
