package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Unix-domain socket of a server, in addition to its TCP port. It is in a separate directory that only this user
 * can enter:
 *
 * <pre>
 * stoker-&lt;pid&gt;-&lt;start&gt;-&lt;random&gt;/s      the socket
 * stoker-&lt;pid&gt;-&lt;start&gt;-&lt;random&gt;/lock   locked as long as the process lives
 * </pre>
 *
 * <p>A directory whose lock file is not locked was left behind by a crash; the next server that starts removes it. If
 * the socket cannot be created, the machine is served over TCP only.
 */
final class UnixListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UnixListener.class);
    private static final String PREFIX = "stoker-";
    private static final String LOCK = "lock";
    /**
     * Matches the names that {@link #own} and a random number make. Directories with other names belong to somebody
     * else.
     */
    private static final Pattern NAME = Pattern.compile("stoker-\\d+-[0-9a-z]+-\\d+");

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    /** A directory without a lock that is younger than this may still be in creation. */
    private static final Duration LEAST_AGE = Duration.ofSeconds(60);

    private final Path directory;
    private final FileChannel lock;
    private final ServerSocketChannel socket;
    private final UnixAddress address;

    private UnixListener(Path directory, FileChannel lock, ServerSocketChannel socket, UnixAddress address) {
        this.directory = directory;
        this.lock = lock;
        this.socket = socket;
        this.address = address;
    }

    /** Opens a socket in the first of the usual directories that allows it; empty if none does. */
    static Optional<UnixListener> open() {
        Set<Path> places = new LinkedHashSet<>();
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            places.add(Path.of(runtime));
        }
        places.add(Path.of(System.getProperty("java.io.tmpdir")));
        places.add(Path.of("/tmp"));
        return open(List.copyOf(places));
    }

    static Optional<UnixListener> open(List<Path> places) {
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
        LOG.info("Cannot listen on a Unix-domain socket; trainers on this machine use TCP: {}", reasons);
        return Optional.empty();
    }

    private static UnixListener openIn(Path place) throws IOException {
        String host = Files.readString(BOOT_ID).strip();
        PrivateFiles.Claimed claimed = PrivateFiles.claimDirectory(place, own(), LOCK);
        Path directory = claimed.path();
        ServerSocketChannel socket = null;
        try {
            UnixAddress address = new UnixAddress(host, directory.resolve("s").toString());
            socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            socket.bind(UnixDomainSocketAddress.of(address.path()), 1024);
            return new UnixListener(directory, claimed.lock(), socket, address);
        } catch (IOException | RuntimeException e) {
            closeQuietly(socket);
            closeQuietly(claimed.lock());
            remove(directory);
            throw e;
        }
    }

    /**
     * Returns the prefix of this process's directories. The process id alone is not enough, because ids are reused,
     * especially in containers.
     */
    private static String own() {
        ProcessHandle process = ProcessHandle.current();
        long started = process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        return PREFIX + process.pid() + "-" + Long.toString(started, 36) + "-";
    }

    /** Removes the directories of crashed processes of this user. */
    private static void sweep(Path place) throws IOException {
        String own = own();
        PrivateFiles.removeLeft(
                place, name -> !name.startsWith(own) && NAME.matcher(name).matches(), LOCK, LEAST_AGE);
    }

    private static void remove(Path directory) {
        for (Path path : List.of(directory.resolve("s"), directory.resolve(LOCK), directory)) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOG.debug("{} stays", path, e);
            }
        }
    }

    /** Returns the socket, which is bound and listening. */
    ServerSocketChannel socket() {
        return socket;
    }

    /** Returns the address that trainers are told. */
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

    private static void closeQuietly(@Nullable AutoCloseable closeable) {
        if (closeable != null) {
            try {
                closeable.close();
            } catch (Exception e) {
                LOG.debug("A socket did not close cleanly", e);
            }
        }
    }
}
