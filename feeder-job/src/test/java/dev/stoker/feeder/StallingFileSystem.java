package dev.stoker.feeder;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.fs.local.LocalRecoverableWriter;

/**
 * The local file system under another scheme, {@code stalling:///…}, whose writes hang if a test wants it. As on a
 * hard NFS mount, an interrupt does not end a call that hangs. Deletions do not hang: Flink begins no checkpoint while
 * two others wait for their deletion, and a test that counts failures would wait for ever.
 */
public final class StallingFileSystem extends LocalFileSystem {
    private static final Object LOCK = new Object();
    private static final AtomicInteger HANGING = new AtomicInteger();
    private static Predicate<Path> stalled = path -> false;

    /** Flink finds it by the scheme. */
    public static final class Factory implements FileSystemFactory {
        @Override
        public String getScheme() {
            return "stalling";
        }

        @Override
        public FileSystem create(URI location) {
            return new StallingFileSystem();
        }
    }

    /** Has writes to some paths hang, and lets go those to the others. */
    static void stall(Predicate<Path> paths) {
        synchronized (LOCK) {
            stalled = paths;
            LOCK.notifyAll();
        }
    }

    /** Returns the number of calls that hang now. */
    static int hanging() {
        return HANGING.get();
    }

    private static void pass(Path path) {
        boolean isInterrupted = false;
        synchronized (LOCK) {
            while (stalled.test(path)) {
                HANGING.incrementAndGet();
                try {
                    LOCK.wait();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                } finally {
                    HANGING.decrementAndGet();
                }
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public URI getUri() {
        return URI.create("stalling:///");
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
        pass(path);
        return super.create(path, mode);
    }

    /** Refuses recoverable writers, so that Flink writes all files of checkpoints with {@link #create}. */
    @Override
    public LocalRecoverableWriter createRecoverableWriter() {
        throw new UnsupportedOperationException("files are written at once");
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
        pass(path);
        return super.mkdirs(path);
    }
}
