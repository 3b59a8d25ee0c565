package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.running.FeedFile;
import dev.stoker.connectors.kafka.KafkaBroker;
import dev.stoker.flink.embedded.ListeningSockets.Socket;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Holds every command to the sockets that {@code docs/security.md} lists. */
@Timeout(500)
class SocketsITCase {

    private static final String TRAINERS = "trainers' port";
    private static final String PAGE = "page";
    private static final String UNIX = "Unix-domain socket";
    private static final String OTHERS = "all others";
    /** Verbs that start Flink or listen; the others end at once. {@link SqlITCase} has a test of {@code sql}. */
    private static final Set<String> LONG = Set.of("ingest", "sync", "export", "feed", "run", "sql", "browse");

    @TempDir
    private Path directory;

    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 3, 100, 9, 8, 7, 11);
    }

    /** What the page allows, by the commands of its table. */
    private static Map<String, Set<String>> allowed() throws IOException {
        Map<String, Set<String>> allowed = new HashMap<>();
        List<String> lines = Files.readAllLines(Path.of("..", "..", "docs", "security.md"));
        int at = lines.indexOf("| command | listens on |") + 2;
        assertThat(at).as("the table of sockets in docs/security.md").isGreaterThan(2);
        for (; lines.get(at).startsWith("|"); at++) {
            String[] cells = lines.get(at).split("\\|");
            Set<String> sockets = Arrays.stream(cells[2].strip().split(", "))
                    .filter(socket -> !socket.equals("nothing"))
                    .collect(Collectors.toSet());
            for (String command : cells[1].strip().split(", ")) {
                allowed.put(command.replaceAll("`|stoker ", ""), sockets);
            }
        }
        return allowed;
    }

    /** Names a process's sockets as the page does. An unknown socket keeps its address, so that the test fails. */
    private static Set<String> named(Set<Socket> sockets, String trainers, String page) {
        Set<String> names = new TreeSet<>();
        for (Socket socket : sockets) {
            String address = socket.address();
            if (socket.kind().equals("tcp") && address.equals(trainers)) {
                names.add(TRAINERS);
            } else if (socket.kind().equals("tcp") && page.contains("http://" + address)) {
                names.add(PAGE);
            } else if (socket.kind().equals("unix")
                    && isPrivate(Path.of(address).getParent())) {
                names.add(UNIX);
            } else {
                names.add(socket.toString());
            }
        }
        return names;
    }

    private static boolean isPrivate(Path directory) {
        try {
            return Files.getPosixFilePermissions(directory).equals(PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void feedAndRunListenAsDocumented() throws Exception {
        try (StokerProcess feed = StokerProcess.start(
                        directory, "feed", dataset.path().toString(), "--name=sockets-feed", "--port=0", "--ui=0")
                .await("watch it at")) {
            assertThat(named(feed.sockets(), FeedFile.require("sockets-feed").addresses(), feed.output()))
                    .isEqualTo(allowed().get("feed"));
        }
        try (StokerProcess run = StokerProcess.start(
                        directory,
                        "run",
                        dataset.path().toString(),
                        "--name=sockets-run",
                        "--ui=0",
                        "--",
                        "sh",
                        "-c",
                        "echo training; while :; do sleep 0.1; done")
                .await("training")) {
            assertThat(named(run.sockets(), FeedFile.require("sockets-run").addresses(), run.output()))
                    .isEqualTo(allowed().get("run"));
        }
    }

    @Test
    @Tag("full-programs")
    void browseListensAsDocumented() throws Exception {
        try (StokerProcess browse = StokerProcess.start(
                        directory, "browse", dataset.path().toString(), "--port=0")
                .await("Ctrl-C")) {
            Socket socket = browse.sockets().iterator().next();
            assertThat(browse.sockets()).hasSize(1);
            assertThat(socket.isLocal()).isTrue();
            assertThat(browse.output()).contains("http://" + socket.address() + "/");
            assertThat(allowed().get("browse")).containsExactly("browser's page");
            browse.signal("INT");
            assertThat(browse.code()).as(browse.output()).isZero();
        }
    }

    @Test
    @Tag("full-programs")
    void ingestsAndExportsListenAsDocumented() throws Exception {
        Path source = Files.createDirectories(directory.resolve("source/a"));
        for (int i = 0; i < 3000; i++) {
            Files.write(source.resolve(i + ".bin"), new byte[] {1, 2, 3});
        }
        String packed = directory.resolve("packed").toString();
        listensAsDocumented(
                "ingest", round -> List.of(source.getParent().toString(), packed + round, "--label-from=parent-dir"));
        listensAsDocumented(
                "export",
                round -> List.of(
                        packed + "0",
                        directory.resolve("exported" + round).toString(),
                        "--format=files",
                        "--columns=key,data"));
    }

    private void listensAsDocumented(String verb, IntFunction<List<String>> arguments) throws Exception {
        int samples = 0;
        for (int round = 0; samples == 0; round++) {
            assertThat(round).as(verb + "s without a thread of a task").isLessThan(5);
            String[] args = Stream.concat(Stream.of(verb), arguments.apply(round).stream())
                    .toArray(String[]::new);
            try (StokerProcess process = StokerProcess.start(directory, args)) {
                while (process.isAlive()) {
                    Set<String> threads = process.threads();
                    Set<Socket> sockets = process.sockets();
                    assertThat(sockets).allMatch(Socket::isLocal);
                    if (threads.stream().anyMatch(name -> name.startsWith("Source: ") || name.startsWith("pack ("))) {
                        samples++;
                        assertThat(named(sockets, "", "")).isEqualTo(allowed().get(verb));
                    }
                }
                assertThat(process.code()).as(process.output()).isZero();
            }
        }
    }

    @Test
    @Tag("full-programs")
    void commandsWithTopicsListenAsDocumented() throws Exception {
        try (KafkaBroker broker = KafkaBroker.start(directory.resolve("broker"));
                Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
            admin.createTopics(List.of(new NewTopic("samples", 1, (short) 1), new NewTopic("batches", 2, (short) 1)))
                    .all()
                    .get();
            try (StokerProcess ingest = StokerProcess.start(
                    directory,
                    "ingest",
                    "kafka://" + broker.bootstrap() + "/samples",
                    directory.resolve("of-topic").toString(),
                    "--value=raw")) {
                ingest.awaitThread("Source: ");
                assertThat(named(ingest.sockets(), "", "")).isEqualTo(allowed().get("ingest"));
            }
            try (StokerProcess feed = StokerProcess.start(
                            directory,
                            "feed",
                            dataset.path().toString(),
                            "--name=sockets-topic",
                            "--to=kafka",
                            "--bootstrap=" + broker.bootstrap(),
                            "--topic=batches",
                            "--lanes=2",
                            "--world-size=1",
                            "--epochs=1000000")
                    .await("in Python:")) {
                assertThat(named(feed.sockets(), "", "")).isEqualTo(allowed().get("feed --to kafka"));
            }
        }
    }

    /** Each of the other commands, from its first moment to its last. */
    @Test
    @Tag("full-programs")
    void otherCommandsListenNowhere() throws Exception {
        assertThat(allowed().get(OTHERS)).isEmpty();
        String data = dataset.path().toString();
        String cache = Files.createDirectories(directory.resolve("cache")).toString();
        Map<String, List<String>> commands = new HashMap<>();
        commands.put("info", List.of(data));
        commands.put("show", List.of(data));
        commands.put("log", List.of(data));
        commands.put("ls", List.of(data));
        commands.put("stat", List.of(data, "key"));
        commands.put("get", List.of(data, "key"));
        commands.put("mount", List.of(data, directory.resolve("absent").toString()));
        commands.put("unmount", List.of(directory.resolve("absent").toString()));
        commands.put("cat", List.of(data, "key"));
        commands.put("index", List.of(data));
        commands.put("tag", List.of(data));
        commands.put("diff", List.of(data, "1"));
        commands.put("delete", List.of(data, "key"));
        commands.put(
                "update",
                List.of(
                        data,
                        Files.writeString(directory.resolve("update.csv"), "key,score\nnosuch,1\n")
                                .toString(),
                        "--missing",
                        "ignore"));
        commands.put("expire", List.of(data, "--keep-last", "1"));
        commands.put("verify", List.of(data));
        commands.put("ps", List.of());
        commands.put("top", List.of("--once", "sockets-other"));
        commands.put("wait", List.of("sockets-other"));
        commands.put("audit", List.of("sockets-other"));
        commands.put("why", List.of("--feed", "sockets-other", "--step", "0"));
        commands.put("compact", List.of(data, "--yes"));
        commands.put("gc", List.of(data, "--yes"));
        commands.put("copy", List.of(data, directory.resolve("copied").toString()));
        commands.put("mirror", List.of(data, directory.resolve("mirrored").toString()));
        commands.put("cache", List.of("ls", cache));
        commands.put("recover", List.of(data));
        commands.put("rebuild", List.of(data));
        commands.put("stop", List.of("sockets-other"));
        commands.put("bench", List.of("storage", cache, "--size=1m", "--block-size=4k", "--seconds=0.1"));
        commands.put("completion", List.of("bash"));
        commands.put("man", List.of(directory.resolve("man").toString()));

        CommandLine all = new CommandLine(CommandLine.Model.CommandSpec.create());
        Verbs.addTo(all, List.of(), List.of());
        Set<String> verbs = new HashSet<>(all.getSubcommands().keySet());
        verbs.removeAll(LONG);
        assertThat(commands.keySet()).isEqualTo(verbs);

        try (StokerProcess feed = StokerProcess.start(directory, "feed", data, "--name=sockets-other", "--port=0")
                .await("ready at")) {
            // Stopping the feed comes last.
            for (String verb : commands.keySet().stream()
                    .sorted((a, b) -> Boolean.compare(a.equals("stop"), b.equals("stop")))
                    .toList()) {
                String[] args = Stream.concat(Stream.of(verb), commands.get(verb).stream())
                        .toArray(String[]::new);
                try (StokerProcess process = StokerProcess.start(directory, args)) {
                    while (process.isAlive()) {
                        assertThat(process.sockets()).as(verb).isEmpty();
                    }
                }
            }
            assertThat(feed.code()).isZero();
        }
    }
}
