package dev.stoker.client.transport;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** How the client reaches feeders on this machine: over Unix-domain sockets or TCP, with or without local reads. */
public enum LocalTransport {
    /** Unix-domain sockets, with local reads for large rows. */
    AUTO,
    /** Unix-domain sockets, with local reads for rows of any size. */
    LOCAL_READS,
    /** Unix-domain sockets, without local reads. */
    UNIX,
    /** TCP, as for remote feeders. */
    TCP;

    /** The payload bytes of a row from which local reads cost less than receiving; the same as in Python. */
    private static final int LEAST_LOCAL = 16 << 10;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final int KIND = 0170000;
    private static final int SOCKET = 0140000;
    private static final int OTHERS = 077;

    /** Reads the setting {@code STOKER_TRANSPORT}. */
    public static LocalTransport of(Map<String, String> environment) {
        String text = environment.getOrDefault("STOKER_TRANSPORT", "");
        return switch (text) {
            case "", "auto" -> AUTO;
            case "local-reads" -> LOCAL_READS;
            case "unix" -> UNIX;
            case "tcp" -> TCP;
            default ->
                throw new IllegalArgumentException(
                        "STOKER_TRANSPORT='" + text + "' is not one of auto, tcp, unix, local-reads");
        };
    }

    /** Whether local reads are allowed. */
    public boolean readsLocally() {
        return this == AUTO || this == LOCAL_READS;
    }

    /** The payload bytes of a row from which local reads are used. */
    public int leastLocal() {
        return this == LOCAL_READS ? 0 : LEAST_LOCAL;
    }

    /** Whether a socket is on this machine, in a place where only this user could have created it. */
    public static boolean isUsable(UnixAddress place) {
        if (!hostId().filter(place.host()::equals).isPresent()) {
            return false;
        }
        try {
            Path path = Path.of(place.path());
            Map<String, Object> directory = Files.readAttributes(path.getParent(), "unix:mode,uid");
            int mode = (Integer) Files.getAttribute(path, "unix:mode");
            // The owner of this entry is the user of the process.
            Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            return user.equals(directory.get("uid"))
                    && ((Integer) Objects.requireNonNull(directory.get("mode")) & OTHERS) == 0
                    && (mode & KIND) == SOCKET;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    public static Optional<String> hostId() {
        try {
            return Optional.of(Files.readString(BOOT_ID).strip()).filter(id -> !id.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
