package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Parts;
import dev.stoker.storage.retry.SlowReadGuard;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.functional.FutureIO;

/**
 * Reads from an object store with one request for each read. If possible, the first attempt of a call bypasses S3A
 * ({@link SignedGets}); otherwise it uses a stream of S3A. The stream is told that the object ends at the end of the
 * read. It therefore sends no request for the length, and requests exactly these bytes.
 */
final class RequestReader implements ObjectReader {

    /** Minimum length of signed reads. Smaller reads are rare. */
    private static final int SIGNED_FROM = 64 << 10;

    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final SlowReadGuard guard;
    private final Optional<SignedGets> gets;

    RequestReader(HadoopObjectStore.Connection connection) {
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.guard = StoreConfiguration.slowReads(connection.configuration());
        this.gets = SignedGets.of(connection);
    }

    private FSDataInputStream open(String name, long end) throws IOException {
        try {
            return FutureIO.awaitFuture(fileSystem
                    .openFile(paths.path(name))
                    .optLong("fs.option.openfile.length", end)
                    .opt("fs.option.openfile.read.policy", "whole-file, sequential")
                    .build());
        } catch (CompletionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(new ExecutionException(e));
        }
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        boolean isSigned =
                gets.isPresent() && length >= SIGNED_FROM && CallScope.current().requests() == 0;
        if (isSigned && gets.get().read(name, offset, length, sink, guard)) {
            return;
        }
        try (FSDataInputStream in = open(name, offset + length)) {
            in.seek(offset);
            Parts.copy(in, offset, length, sink, guard);
        }
        if (isSigned) {
            gets.get().countRefusal();
        }
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        byte[] buffer = new byte[(int) Math.min(Math.max(limitBytes, 1), 64 << 10)];
        SlowReadGuard.Watch watch = guard.new Watch();
        // One byte more, to detect an object beyond the limit.
        try (FSDataInputStream in = open(name, limitBytes + 1)) {
            for (int read; (read = in.read(buffer, 0, buffer.length)) >= 0; ) {
                content.write(buffer, 0, read);
                watch.got(read);
            }
        }
        byte[] bytes = content.toByteArray();
        return bytes.length > limitBytes ? Arrays.copyOf(bytes, (int) limitBytes) : bytes;
    }

    @Override
    public void forget(String name) {}

    @Override
    public void close() {
        gets.ifPresent(SignedGets::close);
    }
}
