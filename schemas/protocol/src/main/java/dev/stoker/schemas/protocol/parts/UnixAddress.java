package dev.stoker.schemas.protocol.parts;

/**
 * Identifies a Unix-domain socket on which a feeder listens in addition to its TCP address, for trainers on the same
 * machine.
 *
 * @param host identity of the machine, different for any two running kernels; on Linux the boot id
 * @param path path of the socket on that machine
 */
public record UnixAddress(String host, String path) {
    /** Longest path: {@code sun_path} has 108 bytes on Linux and 104 elsewhere. */
    public static final int MAX_PATH = 100;

    public UnixAddress {
        if (host.isEmpty() || host.length() > 64 || host.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IllegalArgumentException("unix: host is not 1 to 64 visible characters");
        }
        if (!path.startsWith("/") || path.length() > MAX_PATH || path.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("unix: expected an absolute path of at most " + MAX_PATH
                    + " characters without control characters");
        }
    }
}
