package dev.stoker.client;

import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** How feeders on this machine are reached: whose Unix-domain socket may be used, and whether payload is read from their files. */
enum Nearby {
    /** Over their Unix-domain sockets, payload of large rows from their files. */
    AUTO,
    /** Over their Unix-domain sockets, payload from their files whatever the size of rows. */
    HANDOVER,
    /** Over their Unix-domain sockets, payload too. */
    UNIX,
    /** As if they were far away. */
    TCP;

    /** Bytes of payload a row from which it is cheaper to find it in the files than to receive it; as in Python. */
    private static final int LEAST_HANDED = 16 << 10;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final int KIND = 0170000;
    private static final int SOCKET = 0140000;
    private static final int OTHERS = 077;

    /** As {@code STOKER_TRANSPORT} says. */
    static Nearby of(Map<String, String> environment) {
        String text = environment.getOrDefault("STOKER_TRANSPORT", "");
        return switch (text) {
            case "", "auto" -> AUTO;
            case "handover" -> HANDOVER;
            case "unix" -> UNIX;
            case "tcp" -> TCP;
            default ->
                throw new IllegalArgumentException(
                        "STOKER_TRANSPORT='" + text + "' is none of auto, tcp, unix, handover");
        };
    }

    /** Whether payload may be taken from files that a feeder names. */
    boolean handsOver() {
        return this == AUTO || this == HANDOVER;
    }

    /** Bytes of payload a row from which it is to be. */
    int leastHanded() {
        return this == HANDOVER ? 0 : LEAST_HANDED;
    }

    /** Whether a socket is on this machine, and lies where nobody but this user could have put it. */
    static boolean isUsable(UnixAddress place) {
        if (!hostId().filter(place.host()::equals).isPresent()) {
            return false;
        }
        try {
            Path path = Path.of(place.path());
            Map<String, Object> directory = Files.readAttributes(path.getParent(), "unix:mode,uid");
            int mode = (Integer) Files.getAttribute(path, "unix:mode");
            // The owner of this entry is the user that the process runs as.
            Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            return directory.get("uid").equals(user)
                    && ((Integer) directory.get("mode") & OTHERS) == 0
                    && (mode & KIND) == SOCKET;
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    static Optional<String> hostId() {
        try {
            return Optional.of(Files.readString(BOOT_ID).strip()).filter(id -> !id.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
