package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A feeder that may open few files, and has none left. */
@Timeout(100)
class DescriptorsTest {
    private static final int MAY_OPEN = 200;

    @TempDir
    Path directory;

    /** A feeder and its trainer in a process that has reached its limit of open files. */
    static final class Exhausted {
        private Exhausted() {}

        public static void main(String[] args) throws IOException {
            Path directory = Path.of(args[0]);
            loadClasses();
            // What fails the same way without a lack of descriptors opens the libraries that cannot be opened later.
            run(directory.resolve("vanished"), cache -> {
                try (var all = Files.walk(cache)) {
                    List<Path> found = new ArrayList<>(all.toList());
                    for (int i = found.size() - 1; i >= 0; i--) {
                        Files.delete(found.get(i));
                    }
                }
            });
            List<FileChannel> open = new ArrayList<>();
            String off = run(directory.resolve("exhausted"), cache -> {
                try {
                    while (open.size() < MAY_OPEN) {
                        open.add(FileChannel.open(Path.of("/dev/null")));
                    }
                } catch (IOException e) {
                    System.out.println("exhausted: " + e.getMessage());
                }
            });
            System.out.println("off: " + off);
            for (FileChannel channel : open) {
                channel.close();
            }
            System.out.println("done");
        }

        /** Loads the classes in directories, because each of them needs a descriptor. */
        private static void loadClasses() throws IOException {
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                Path root = Path.of(entry);
                if (!Files.isDirectory(root)) {
                    continue;
                }
                try (var files = Files.walk(root)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".class"))
                            .toList()) {
                        String name = root.relativize(file).toString().replace('/', '.');
                        try {
                            Class.forName(
                                    name.substring(0, name.length() - ".class".length()),
                                    false,
                                    Exhausted.class.getClassLoader());
                        } catch (ClassNotFoundException | LinkageError e) {
                            // The class needs a missing dependency. The test does not need the class.
                        }
                    }
                }
            }
        }

        private static String run(Path directory, Trouble trouble) throws IOException {
            FarFeed far = new FarFeed(directory.resolve("data"));
            Path cache = directory.resolve("cache");
            TierSpec disk = TierSpec.parse("disk:" + cache + ":" + far.bytes + "b");
            try (NodeLease node = far.start(TierOptions.of(disk));
                    RawClient client = RawClient.connect(node.address())) {
                client.join(RawClient.hello());
                trouble.begins(cache);
                // Every byte is compared.
                far.read(client, 0);
                client.expect(EpochEnd.class);
                far.read(client, 1);
                Waiting.until(() -> !off(node).isEmpty());
                return off(node);
            }
        }

        private static String off(NodeLease node) {
            return FarFeed.tier(node, "disk").cache().orElseThrow().off();
        }
    }

    /** What happens to a feeder that serves. */
    private interface Trouble {
        void begins(Path cache) throws IOException;
    }

    @Test
    void withoutDescriptorsATierSaysSoAndTheFeedGoesOn() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Path said = directory.resolve("said");
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n " + MAY_OPEN + " && exec \"$@\"",
                        "sh",
                        java.toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:-MaxFDLimit",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Exhausted.class.getName(),
                        directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            assertThat(Files.readString(said, StandardCharsets.UTF_8))
                    .containsPattern("exhausted: .*Too many open files")
                    .containsPattern("off: it cannot be written: .*Too many open files")
                    .contains("done");
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
