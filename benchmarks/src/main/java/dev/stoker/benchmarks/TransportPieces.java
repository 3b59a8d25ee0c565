package dev.stoker.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The pieces of one session of {@link TransportBenchmark}: a frame prefix and small columns in a scratch buffer,
 * followed by samples as slices of mapped files. The samples are drawn at random from warm files, or sequentially from
 * a cold one. One thread at a time.
 */
final class TransportPieces {
    /** Length (without itself) and type of a frame. */
    static final int PREFIX_BYTES = 8;

    static final int DATA = 5;
    static final int PONG = 11;

    /** The approximate size of key, label, lengths and checksum of a sample. */
    private static final int SMALL_BYTES = 40;

    private final List<ByteBuffer> files;
    private final int samples;
    private final int sampleBytes;
    private final ByteBuffer scratch;
    private final SplittableRandom random;
    /** Offset in the only file of the next sample, or -1 to draw at random. */
    private int next;

    private TransportPieces(List<ByteBuffer> files, int samples, int sampleBytes, long seed, int next) {
        this.files = files;
        this.samples = samples;
        this.sampleBytes = sampleBytes;
        this.random = new SplittableRandom(seed);
        this.next = next;
        this.scratch =
                ByteBuffer.allocateDirect(PREFIX_BYTES + SMALL_BYTES * samples).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Pieces of samples at random places of warm files. */
    static TransportPieces warm(List<ByteBuffer> files, int samples, int sampleBytes, long seed) {
        return new TransportPieces(files, samples, sampleBytes, seed, -1);
    }

    /** Pieces of the samples of one file, in order, mapped again so that each page is touched for the first time. */
    static TransportPieces cold(Path file, int samples, int sampleBytes) throws IOException {
        return new TransportPieces(List.of(map(file)), samples, sampleBytes, 0, 0);
    }

    /** The next piece. Its first part is the scratch buffer, which the following piece reuses. */
    ByteBuffer[] next() {
        ByteBuffer[] parts = new ByteBuffer[samples + 1];
        scratch.clear()
                .putInt(0, scratch.capacity() - 4 + samples * sampleBytes)
                .putInt(4, DATA);
        for (int at = PREFIX_BYTES; at < scratch.capacity(); at += 8) {
            scratch.putLong(at, at);
        }
        parts[0] = scratch.duplicate();
        for (int i = 1; i <= samples; i++) {
            ByteBuffer file = files.get(next < 0 ? random.nextInt(files.size()) : 0);
            int last = file.capacity() - sampleBytes;
            int at = next < 0 ? random.nextInt(last) : next;
            if (next >= 0) {
                next = next + sampleBytes > last ? 0 : next + sampleBytes;
            }
            parts[i] = file.slice(at, sampleBytes);
        }
        return parts;
    }

    /** Bytes of each piece. */
    long bytes() {
        return scratch.capacity() + (long) samples * sampleBytes;
    }

    /** A frame that answers a PING. */
    static ByteBuffer pong(long opaque) {
        ByteBuffer frame = ByteBuffer.allocateDirect(PREFIX_BYTES + 8).order(ByteOrder.LITTLE_ENDIAN);
        return frame.putInt(12).putInt(PONG).putLong(opaque).flip();
    }

    /** All chunk files below a directory, mapped and in memory. */
    static List<ByteBuffer> mapAll(Path directory) throws IOException {
        List<ByteBuffer> files = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(directory)) {
            walk.filter(path -> path.toString().endsWith(".arrow")).sorted().forEach(path -> {
                try {
                    files.add(map(path).load());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return files;
    }

    private static MappedByteBuffer map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(Integer.MAX_VALUE, channel.size()));
        }
    }
}
