package dev.stoker.server.session.accept;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The directory of a Unix-domain socket: its permissions and its removal. */
@Timeout(60)
class UnixListenerTest {
    private Path place;

    @BeforeEach
    void makePlace() throws IOException {
        // The path of a socket must be short. The path of the build directory can be too long.
        place = Files.createTempDirectory(Path.of("/tmp"), "door");
    }

    @AfterEach
    void removePlace() throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        }
    }

    private List<Path> inPlace() throws IOException {
        try (Stream<Path> all = Files.list(place)) {
            return all.toList();
        }
    }

    @Test
    void onlyItsUserMayEnterAndNothingStays() throws Exception {
        try (UnixListener listener = UnixListener.open(List.of(place)).orElseThrow()) {
            Path socket = Path.of(listener.address().path());
            assertThat(socket.getParent().getParent()).isEqualTo(place);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket.getParent())))
                    .isEqualTo("rwx------");
            assertThat(listener.address().host())
                    .isEqualTo(Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                            .strip());
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                assertThat(client.isConnected()).isTrue();
            }
        }
        assertThat(inPlace()).isEmpty();
    }

    @Test
    void longPathsGoToTheNextPlace() throws Exception {
        Path deep = Files.createDirectory(place.resolve("d".repeat(80)));
        try (UnixListener listener = UnixListener.open(List.of(deep, place)).orElseThrow()) {
            assertThat(Path.of(listener.address().path()).getParent().getParent())
                    .isEqualTo(place);
        }
        try (Stream<Path> left = Files.list(deep)) {
            assertThat(left).isEmpty();
        }
        assertThat(UnixListener.open(List.of(deep, place.resolve("absent")))).isEmpty();
    }

    @Test
    void whatACrashLeftIsRemovedAndWhatLivesStays() throws Exception {
        Path left = PrivateFiles.createDirectory(place.resolve("stoker-1-0-17"));
        Files.createFile(left.resolve("lock"));
        Files.createFile(left.resolve("s"));
        Path young = PrivateFiles.createDirectory(place.resolve("stoker-1-0-18"));
        Path foreign = Files.createDirectory(place.resolve("stoker-benchmark"));
        Path locked = place.resolve("stoker-1-0-19");
        Process holder = hold(PrivateFiles.createDirectory(locked).resolve("lock"));
        UnixListener own = UnixListener.open(List.of(place)).orElseThrow();
        Path mine = Path.of(own.address().path()).getParent();
        assertThat(left).doesNotExist();
        for (Path old : List.of(foreign, locked, mine)) {
            Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
        }
        try (UnixListener next = UnixListener.open(List.of(place)).orElseThrow()) {
            assertThat(inPlace())
                    .containsExactlyInAnyOrder(
                            young,
                            foreign,
                            locked,
                            mine,
                            Path.of(next.address().path()).getParent());
        } finally {
            holder.destroyForcibly().waitFor();
            own.close();
        }
        // The process has ended, which released its lock.
        Files.setLastModifiedTime(locked, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
        UnixListener.open(List.of(place)).orElseThrow().close();
        assertThat(inPlace()).containsExactlyInAnyOrder(young, foreign);
    }

    /** Another process that holds the lock. */
    private static Process hold(Path lock) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path source = Files.writeString(lock.resolveSibling("Hold.java"), """
                import java.nio.channels.FileChannel;
                import java.nio.file.Path;
                import java.nio.file.StandardOpenOption;
                class Hold {
                    public static void main(String[] path) throws Exception {
                        FileChannel file = FileChannel.open(
                                Path.of(path[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                        file.lock();
                        System.out.println("held");
                        System.in.read();
                    }
                }
                """);
        Process process = new ProcessBuilder(java, source.toString(), lock.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        InputStream said = process.getInputStream();
        assertThat(said.read()).isEqualTo('h');
        Files.delete(source);
        return process;
    }
}
