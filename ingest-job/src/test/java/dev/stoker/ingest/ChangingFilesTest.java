package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestFailedException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What happens to files that are not, when they are read, as they were when they were listed. */
@Timeout(120)
class ChangingFilesTest {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = TestClusters.withTwoSlots();

    private static final String ODD = "a/odd.jpg";

    @TempDir
    private Path directory;

    private Path source;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        for (int i = 0; i < 20; i++) {
            Trees.file(source, "a/" + i + ".jpg", "sample " + i);
        }
        Trees.file(source, ODD, "as listed");
    }

    private IngestResult ingest(SampleFiles files, String... options) throws IOException, InterruptedException {
        return Ingests.run(files, source, directory.resolve("target"), options);
    }

    private Map<String, byte[]> packed() throws IOException {
        return Packed.read(directory.resolve("target")).bytes("image");
    }

    private static SampleFiles beforeOpening(BeforeOpening action) {
        return path -> {
            if (path.endsWith(ODD)) {
                action.run(Path.of(path));
            }
            return SampleFiles.LOCAL.open(path);
        };
    }

    /** What happens to a file between listing and reading. */
    private interface BeforeOpening extends Serializable {
        void run(Path file) throws IOException;
    }

    @Test
    void leavesOutAFileThatHasVanished() throws Exception {
        IngestResult result = ingest(beforeOpening(Files::deleteIfExists), "--payload", "image");

        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.VANISHED, 1L));
        assertThat(result.examples()).isEqualTo(Map.of(FileSkip.VANISHED, ODD));
        assertThat(packed()).hasSize(20).doesNotContainKey(ODD);
    }

    @Test
    void packsAFileThatHasGrownAsItIs() throws Exception {
        IngestResult result = ingest(
                beforeOpening(file -> Files.writeString(file, "longer than it was listed")), "--payload", "image");

        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.CHANGED, 1L));
        assertThat(packed()).hasSize(21);
        assertThat(packed().get(ODD)).asString().isEqualTo("longer than it was listed");
    }

    @Test
    void packsAFileThatHasShrunkAsItIs() throws Exception {
        IngestResult result = ingest(beforeOpening(file -> Files.writeString(file, "short")), "--payload", "image");

        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.CHANGED, 1L));
        assertThat(packed().get(ODD)).asString().isEqualTo("short");
        assertThat(packed().get("a/7.jpg")).asString().isEqualTo("sample 7");
    }

    @Test
    void failsOnAFileThatIsWrittenToWhileItIsRead() throws Exception {
        SampleFiles files = path -> path.endsWith(ODD) ? new Growing(Path.of(path)) : SampleFiles.LOCAL.open(path);

        assertThatThrownBy(() -> ingest(files, "--payload", "image"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining(ODD)
                .hasMessageContaining("being written while it is read");
        assertThat(Packed.latestVersion(directory.resolve("target"))).isZero();
    }

    @Test
    void failsOnAnUnreadableFileNamingIt() throws Exception {
        assertThatThrownBy(() -> ingest(
                        beforeOpening(file -> {
                            throw new AccessDeniedException(file.toString());
                        }),
                        "--payload",
                        "image"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("Cannot read " + source.resolve(ODD) + ": permission denied")
                .hasMessageContaining("--on-error skip")
                .hasMessageContaining("--ingest-id")
                .hasMessageNotContaining("\n");
        assertThat(Packed.latestVersion(directory.resolve("target"))).isZero();
    }

    @Test
    void countsAnUnreadableFileWhenAsked() throws Exception {
        IngestResult result = ingest(
                beforeOpening(file -> {
                    throw new AccessDeniedException(file.toString());
                }),
                "--payload",
                "image",
                "--on-error",
                "skip");

        assertThat(result.skipped()).isEqualTo(Map.of(FileSkip.UNREADABLE, 1L));
        assertThat(packed()).hasSize(20);
    }

    @Test
    void refusesToCommitNothing() {
        SampleFiles none = path -> {
            throw new NoSuchFileException(path);
        };

        assertThatThrownBy(() -> ingest(none))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("No samples to commit");
    }

    /** A file to which someone appends each time it is read. */
    private static final class Growing implements SeekableByteChannel {

        private final Path file;
        private final SeekableByteChannel channel;

        Growing(Path file) throws IOException {
            this.file = file;
            channel = Files.newByteChannel(file);
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            Files.writeString(file, "more", StandardOpenOption.APPEND);
            return channel.read(target);
        }

        @Override
        public int write(ByteBuffer bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long position() throws IOException {
            return channel.position();
        }

        @Override
        public SeekableByteChannel position(long position) throws IOException {
            return channel.position(position);
        }

        @Override
        public long size() throws IOException {
            return channel.size();
        }

        @Override
        public SeekableByteChannel truncate(long size) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
