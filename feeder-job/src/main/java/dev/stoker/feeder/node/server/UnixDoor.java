package dev.stoker.feeder.node.server;

import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Unix-domain socket beside a server's TCP port, in a directory of its own that only this user may enter:
 *
 * <pre>
 * stoker-&lt;pid&gt;-&lt;start&gt;-&lt;random&gt;/s      the socket
 * stoker-&lt;pid&gt;-&lt;start&gt;-&lt;random&gt;/lock   locked as long as the process lives
 * </pre>
 *
 * <p>Directories that nobody locks were left behind by a crash; the next server to start removes them. A machine on which the
 * socket cannot be made is served over TCP alone.
 */
final class UnixDoor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnixDoor.class);
    private static final String PREFIX = "stoker-";
    /** What {@link #own} and a random number make; other things of this name are somebody else's. */
    private static final Pattern NAME = Pattern.compile("stoker-\\d+-[0-9a-z]+-\\d+");

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    /** Below this age a directory may be one that is just being made. */
    private static final Duration LEAST_AGE = Duration.ofSeconds(60);

    private final Path directory;
    private final FileChannel lock;
    private final ServerSocketChannel socket;
    private final UnixAddress address;

    private UnixDoor(Path directory, FileChannel lock, ServerSocketChannel socket, UnixAddress address) {
        this.directory = directory;
        this.lock = lock;
        this.socket = socket;
        this.address = address;
    }

    /** Opens a socket below the first of the usual places where that works; empty if it works nowhere. */
    static Optional<UnixDoor> open() {
        Set<Path> places = new LinkedHashSet<>();
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            places.add(Path.of(runtime));
        }
        places.add(Path.of(System.getProperty("java.io.tmpdir")));
        places.add(Path.of("/tmp"));
        return open(List.copyOf(places));
    }

    static Optional<UnixDoor> open(List<Path> places) {
        if (!FileSystems.getDefault().supportedFileAttributeViews().contains("posix") || !Files.isReadable(BOOT_ID)) {
            return Optional.empty();
        }
        List<String> reasons = new ArrayList<>();
        for (Path place : places) {
            try {
                sweep(place);
                return Optional.of(openIn(place.toAbsolutePath()));
            } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
                reasons.add(place + ": " + e);
            }
        }
        LOG.info("No Unix-domain socket, trainers of this machine come over TCP: {}", reasons);
        return Optional.empty();
    }

    private static UnixDoor openIn(Path place) throws IOException {
        String host = Files.readString(BOOT_ID).strip();
        Path directory = Files.createTempDirectory(
                place, own(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        FileChannel lock = null;
        ServerSocketChannel socket = null;
        try {
            lock = FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            if (lock.tryLock() == null) {
                throw new IOException(directory + " is locked by another process");
            }
            UnixAddress address = new UnixAddress(host, directory.resolve("s").toString());
            socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            socket.bind(UnixDomainSocketAddress.of(address.path()), 1024);
            return new UnixDoor(directory, lock, socket, address);
        } catch (IOException | RuntimeException e) {
            closeQuietly(socket);
            closeQuietly(lock);
            remove(directory);
            throw e;
        }
    }

    /** How this process's directories begin: a number of a process alone is used again, in containers at once. */
    private static String own() {
        ProcessHandle process = ProcessHandle.current();
        long started = process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        return PREFIX + process.pid() + "-" + Long.toString(started, 36) + "-";
    }

    /** Removes what processes left behind that have crashed. */
    private static void sweep(Path place) throws IOException {
        String own = own();
        Instant young = Instant.now().minus(LEAST_AGE);
        try (DirectoryStream<Path> found = Files.newDirectoryStream(place, PREFIX + "*")) {
            for (Path directory : found) {
                // Closing a second descriptor of a lock's file would give up this process's own lock.
                String name = directory.getFileName().toString();
                if (name.startsWith(own)
                        || !NAME.matcher(name).matches()
                        || !Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                    continue;
                }
                try {
                    if (Files.getLastModifiedTime(directory).toInstant().isBefore(young) && isLeft(directory)) {
                        remove(directory);
                    }
                } catch (IOException e) {
                    LOG.debug("{} is left as it is", directory, e);
                }
            }
        }
    }

    private static boolean isLeft(Path directory) throws IOException {
        Path lock = directory.resolve("lock");
        if (!Files.exists(lock)) {
            return true;
        }
        try (FileChannel file = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock held = file.tryLock()) {
            return held != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    private static void remove(Path directory) {
        for (Path path : List.of(directory.resolve("s"), directory.resolve("lock"), directory)) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOG.debug("{} stays", path, e);
            }
        }
    }

    /** Bound and listening. */
    ServerSocketChannel socket() {
        return socket;
    }

    /** What trainers are told. */
    UnixAddress address() {
        return address;
    }

    /** Closes the socket and removes it. */
    @Override
    public void close() {
        closeQuietly(socket);
        remove(directory);
        closeQuietly(lock);
    }

    private static void closeQuietly(AutoCloseable closeable) {
        if (closeable != null) {
            try {
                closeable.close();
            } catch (Exception e) {
                LOG.debug("A socket did not close cleanly", e);
            }
        }
    }
}
