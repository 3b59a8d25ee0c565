package dev.stoker.flink.embedded;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The sockets on which a process waits for others, as Linux lists them in {@code /proc}. */
public final class ListeningSockets {

    private static final String LISTENS = "0A";
    private static final int ACCEPTS = 0x10000;

    /**
     * A socket.
     *
     * @param kind {@code tcp}, {@code udp} or {@code unix}
     * @param address host and port, or a path. The path of an abstract Unix-domain socket begins with {@code @}
     */
    public record Socket(String kind, String address) implements Comparable<Socket> {

        /** Whether only this machine reaches it. */
        public boolean isLocal() {
            return kind.equals("unix") || address.startsWith("127.") || address.startsWith("::1:");
        }

        @Override
        public int compareTo(Socket other) {
            return (kind + address).compareTo(other.kind + other.address);
        }
    }

    private ListeningSockets() {}

    /** Lists the sockets of a process; none if the process has ended. */
    public static Set<Socket> of(long pid) throws IOException {
        Set<String> own = inodes(pid);
        Set<Socket> found = new TreeSet<>();
        for (String kind : List.of("tcp", "udp")) {
            for (String family : List.of("", "6")) {
                for (String[] fields : table(pid, kind + family)) {
                    boolean waits = kind.equals("tcp") ? fields[3].equals(LISTENS) : fields[2].endsWith(":0000");
                    if (waits && own.contains(fields[9])) {
                        found.add(new Socket(kind, address(fields[1])));
                    }
                }
            }
        }
        for (String[] fields : table(pid, "unix")) {
            if ((Integer.parseUnsignedInt(fields[3], 16) & ACCEPTS) != 0 && own.contains(fields[6])) {
                found.add(new Socket("unix", fields.length > 7 ? fields[7] : ""));
            }
        }
        return found;
    }

    private static Set<String> inodes(long pid) throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
            for (Path file : files) {
                String target = target(file);
                if (target.startsWith("socket:[")) {
                    inodes.add(target.substring("socket:[".length(), target.length() - 1));
                }
            }
        } catch (NoSuchFileException | AccessDeniedException | DirectoryIteratorException e) {
            // It ended meanwhile.
        }
        return inodes;
    }

    private static String target(Path file) throws IOException {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private static List<String[]> table(long pid, String name) throws IOException {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/net/" + name)).stream()
                    .skip(1)
                    .map(line -> line.strip().split(" +"))
                    .toList();
        } catch (IOException e) {
            // An ended process has a directory until its parent reads the exit code, but no network.
            if (inodes(pid).isEmpty()) {
                return List.of();
            }
            throw e;
        }
    }

    /** The kernel prints each 32-bit word of an address in the machine's byte order, which is little-endian here. */
    private static String address(String hex) throws UnknownHostException {
        int colon = hex.indexOf(':');
        byte[] bytes = new byte[colon / 2];
        for (int i = 0; i < bytes.length; i++) {
            int at = (i & ~3) + 3 - (i & 3);
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * at, 2 * at + 2), 16);
        }
        InetAddress address = InetAddress.getByAddress(bytes);
        String text = address.isLoopbackAddress() && bytes.length == 16 && !(address instanceof Inet4Address)
                ? "::1"
                : address.getHostAddress();
        return text + ":" + Integer.parseInt(hex.substring(colon + 1), 16);
    }
}
