package dev.stoker.ingest.pack.read;

import dev.stoker.storage.SourceTree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of a chunk from a slow source into memory of a bounded size: many at a time, in the order in which
 * they are packed. For the packing thread; the reads run on a pool.
 */
public final class ReadAhead implements SourceReads {

    /** Memory for files that are being read, or were read and are not packed yet. */
    static final long MAX_BYTES = 16L << 20;
    /**
     * The packing thread reads larger files directly into the chunk: their transfer takes longer than the wait for the
     * first byte.
     */
    static final long MAX_FILE_BYTES = 4L << 20;

    /** A file that is being read; its value is empty if the file differs from the listing. */
    private record Fetch(String key, long bytes, Future<Optional<byte[]>> content) {}

    private final SourceTree source;
    private final ExecutorService pool;
    private final int most;
    private final Deque<Wanted> wanted = new ArrayDeque<>();
    private final Deque<Fetch> fetches = new ArrayDeque<>();
    private final Map<String, Fetch> byKey = new HashMap<>();
    private long bytes;

    /**
     * @param source of the files
     * @param pool runs the reads
     * @param most files that are being read or held at a time
     */
    public ReadAhead(SourceTree source, ExecutorService pool, int most) {
        this.source = source;
        this.pool = pool;
        this.most = most;
    }

    @Override
    public void begin(List<Wanted> files) {
        end();
        for (Wanted file : files) {
            if (file.length() <= MAX_FILE_BYTES) {
                wanted.add(file);
            }
        }
        advance();
    }

    private void advance() {
        while (!wanted.isEmpty()
                && fetches.size() < most
                && bytes + wanted.peek().length() <= MAX_BYTES) {
            Wanted next = wanted.remove();
            Fetch fetch = new Fetch(next.key(), next.length(), pool.submit(() -> read(next)));
            fetches.add(fetch);
            byKey.put(fetch.key(), fetch);
            bytes += fetch.bytes();
        }
    }

    private Optional<byte[]> read(Wanted file) throws IOException {
        // Reading one byte more than listed detects a file that has grown.
        ByteBuffer room = ByteBuffer.allocate((int) file.length() + 1);
        source.read(file.key(), 0, room);
        return room.position() == file.length() ? Optional.of(room.array()) : Optional.empty();
    }

    @Override
    public SeekableByteChannel open(String key, long listedLength) throws IOException {
        Fetch fetch = take(key);
        if (fetch == null) {
            return new Direct(key);
        }
        Optional<byte[]> content;
        try {
            content = fetch.content().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClosedByInterruptException();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IOException(String.valueOf(e.getCause()), e.getCause());
        }
        return content.isPresent() ? new Content(content.get(), fetch.bytes()) : new Direct(key);
    }

    /**
     * Returns the fetch of a file. Earlier announced files will not be requested, because their samples were left out.
     */
    @SuppressWarnings("ReferenceEquality") // Each fetch is one object.
    private @Nullable Fetch take(String key) {
        Fetch wantedOne = byKey.get(key);
        if (wantedOne == null) {
            return null;
        }
        Fetch fetch;
        do {
            fetch = fetches.remove();
            byKey.remove(fetch.key(), fetch);
            bytes -= fetch.bytes();
            if (fetch != wantedOne) {
                fetch.content().cancel(false);
            }
        } while (fetch != wantedOne);
        advance();
        return fetch;
    }

    @Override
    public void end() {
        fetches.forEach(fetch -> fetch.content().cancel(false));
        fetches.clear();
        byKey.clear();
        wanted.clear();
        bytes = 0;
    }

    /** A file that has been read. */
    private static final class Content extends ReadOnlyChannel {

        private final ByteBuffer content;

        Content(byte[] array, long length) {
            content = ByteBuffer.wrap(array, 0, (int) length);
        }

        @Override
        public int read(ByteBuffer target) {
            if (!content.hasRemaining()) {
                return -1;
            }
            int length = Math.min(target.remaining(), content.remaining());
            target.put(content.slice(content.position(), length));
            content.position(content.position() + length);
            return length;
        }

        @Override
        public long position() {
            return content.position();
        }

        @Override
        public long size() {
            return content.limit();
        }
    }

    /** A file in its present state. */
    private final class Direct extends ReadOnlyChannel {

        private final String key;
        private long position;

        Direct(String key) {
            this.key = key;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            int read = source.read(key, position, target);
            position += read;
            return read == 0 ? -1 : read;
        }

        @Override
        public long position() {
            return position;
        }

        @Override
        public long size() throws IOException {
            return source.find(key)
                    .orElseThrow(() -> new NoSuchFileException(key))
                    .length();
        }
    }
}
