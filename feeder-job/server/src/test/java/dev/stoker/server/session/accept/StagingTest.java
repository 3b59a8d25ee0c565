package dev.stoker.server.session.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StagingTest {
    @TempDir
    Path directory;

    private Staging open(boolean isFile) throws IOException {
        Staging staging = Staging.open(isFile ? directory : directory.resolve("absent"));
        assertThat(staging.medium()).isInstanceOf(isFile ? StagingFile.class : StagingPipe.class);
        return staging;
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void takesAllPartsInOrderAndNeverMoreThanAskedFor(boolean isFile) throws Exception {
        byte[] whole = bytes(1_000_000);
        ByteBuffer[] parts = new ByteBuffer[4];
        int[] ends = {300, 300, 500_001, whole.length};
        for (int i = 0, begin = 0; i < parts.length; begin = ends[i++]) {
            parts[i] = ByteBuffer.allocateDirect(ends[i] - begin)
                    .put(whole, begin, ends[i] - begin)
                    .flip();
        }
        ByteBuffer got = ByteBuffer.allocate(whole.length);
        int most = 3 * 16_367;
        try (Staging staging = open(isFile)) {
            for (int from = 0; from < parts.length; ) {
                ByteBuffer taken = staging.take(parts, from, parts.length - from, most);
                assertThat(taken.remaining()).isBetween(1, most);
                got.put(taken);
                while (from < parts.length && !parts[from].hasRemaining()) {
                    from++;
                }
            }
        }
        assertThat(got.array()).isEqualTo(whole);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aTruncatedFileIsAnErrorOfTheCopy(boolean isFile) throws Exception {
        Path path = directory.resolve("chunk");
        Files.write(path, bytes(100_000));
        MappedByteBuffer mapped;
        try (FileChannel channel = FileChannel.open(path)) {
            mapped = channel.map(MapMode.READ_ONLY, 0, 100_000);
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(8192);
        }
        ByteBuffer[] parts = {mapped.slice(8192, 50_000)};
        try (Staging staging = open(isFile)) {
            assertThatThrownBy(() -> staging.take(parts, 0, 1, Staging.BYTES)).isInstanceOf(IOException.class);
            // The error concerns these parts only.
            ByteBuffer[] sound = {mapped.slice(0, 8192)};
            assertThat(staging.take(sound, 0, 1, Staging.BYTES).remaining()).isEqualTo(8192);
        }
    }

    @Test
    void theFileHasNoNameWhileItIsInUse() throws Exception {
        try (Staging staging = open(true);
                var files = Files.list(directory)) {
            assertThat(staging.medium()).isNotNull();
            assertThat(files).isEmpty();
        }
    }
}
