package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A feeder on the trainer's machine: its socket, and payload out of its files. */
@Timeout(120)
class NearFeederTest {
    private static final FakeStream STREAM = FakeStream.of(4, 40, 37, 29, 44);
    private static final List<String> EXPECTED = STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0);

    /** The path of a socket is limited to about a hundred characters, so it is not below the build's directory. */
    private Path directory;

    private FakeFeeder feeder;

    @BeforeEach
    void start() throws IOException {
        directory = Files.createTempDirectory(
                Path.of("/tmp"),
                "stoker-near",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        feeder = new FakeFeeder(STREAM);
    }

    @AfterEach
    void stop() throws IOException {
        feeder.close();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private FeedClient open(String transport) {
        return FeedClient.of(feeder.address())
                .environment(Map.of("STOKER_TRANSPORT", transport))
                .bufferBytes(5 * 4096)
                .open();
    }

    private long openFiles() throws IOException {
        long count = 0;
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                try {
                    count += Files.readSymbolicLink(descriptor).startsWith(directory) ? 1 : 0;
                } catch (IOException e) {
                    // This listing had opened the descriptor, and has closed it.
                }
            }
        }
        return count;
    }

    @Test
    void theBatchesAreTheSameByEveryWay() throws IOException {
        feeder.near(directory).localFiles = Optional.of(directory);
        for (String transport : List.of("tcp", "unix", "local-reads", "auto", "")) {
            try (FeedClient feed = open(transport)) {
                assertThat(read(feed)).as(transport).isEqualTo(EXPECTED);
                FeedStats stats = feed.stats();
                assertThat(stats.connections()).isEqualTo(1);
                assertThat(stats.unixConnections()).isEqualTo(transport.equals("tcp") ? 0 : 1);
                boolean isLocal = !transport.equals("tcp") && !transport.equals("unix");
                assertThat(stats.localReadBytes()).isEqualTo(isLocal ? stats.bytes() : 0);
                assertThat(stats.bytes()).isPositive();
                assertThat(stats.reconnects()).isZero();
                List<Hello> hellos = List.copyOf(feeder.hellos);
                Hello last = hellos.get(hellos.size() - 1);
                assertThat(last.reading().localFiles() > 0).isEqualTo(isLocal);
                assertThat(last.reading().localReadsFrom())
                        .isEqualTo(isLocal && !transport.equals("local-reads") ? 16 << 10 : 0);
            }
        }
        assertThatThrownBy(() -> open("pigeon"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("STOKER_TRANSPORT='pigeon' is not one of auto, tcp, unix, local-reads");
    }

    @Test
    void aFeedsFileNamesTheSocketAtOnce() throws IOException {
        feeder.near(directory);
        UnixAddress place = feeder.map().unix().get(feeder.address());
        Path feeds = Files.createDirectories(directory.resolve("home/feeds"));
        Files.writeString(
                feeds.resolve("fake.json"),
                "{\"addresses\":[\"" + feeder.address() + "\"],\"unix\":{\"" + feeder.address() + "\":{\"host\":\""
                        + place.host() + "\",\"path\":\"" + place.path() + "\"}}}");
        Map<String, String> environment =
                Map.of("STOKER_HOME", feeds.getParent().toString());
        try (FeedClient feed = FeedClient.of("fake").environment(environment).open()) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
        }
        assertThat(feeder.hellos).hasSize(1);
        assertThat(feeder.nearSessions).isEqualTo(1);
        Files.delete(feeds.resolve("fake.json"));
        Files.delete(feeds);
        Files.delete(feeds.getParent());
    }

    @Test
    void aSocketMayBeNamedItself() throws IOException {
        feeder.near(directory);
        try (FeedClient feed = FeedClient.of("unix:" + directory.resolve("s"))
                .environment(Map.of())
                .open()) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            assertThat(feed.stats().unixConnections()).isEqualTo(1);
        }
        assertThat(feeder.nearSessions).isEqualTo(1);
    }

    @Test
    void aSocketThatNobodyListensAtIsLeftForTheAddress() throws IOException {
        feeder.near(directory);
        LaneMap map = feeder.map();
        feeder.close();
        feeder.start();
        feeder.publish(map);
        assertThat(directory.resolve("s")).exists();
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            assertThat(feed.stats().unixConnections()).isZero();
        }
    }

    @Test
    void aSocketWhereOthersMayGoIsNotTrusted() throws IOException {
        feeder.near(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-x--x"));
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
        }
        assertThat(feeder.nearSessions).isZero();
        String host = feeder.map().unix().get(feeder.address()).host();
        String path = directory.resolve("s").toString();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        assertThat(LocalTransport.isUsable(new UnixAddress(host, path))).isTrue();
        assertThat(LocalTransport.isUsable(new UnixAddress("another", path))).isFalse();
        assertThat(LocalTransport.isUsable(new UnixAddress(host, directory.toString())))
                .isFalse();
        assertThat(LocalTransport.isUsable(new UnixAddress(host, path + "x"))).isFalse();
    }

    @Test
    void afterACrashOfTheFeederItsAddressWillDo() throws IOException {
        feeder.near(directory);
        try (FeedClient feed = open("auto")) {
            Iteration epoch = feed.epoch();
            List<String> batches = new ArrayList<>(List.of(FakeStream.text(epoch.next())));
            feeder.kill();
            feeder.start();
            while (epoch.hasNext()) {
                batches.add(FakeStream.text(epoch.next()));
            }
            assertThat(batches).isEqualTo(EXPECTED);
            assertThat(feed.stats().unixConnections()).isZero();
        }
    }

    @Test
    void filesAreReleasedAndLetGo() throws IOException {
        feeder.near(directory).localFiles = Optional.of(directory);
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            assertThat(feeder.filesTold).isEqualTo(4);
            assertThat(openFiles()).isEqualTo(4);
            assertThat(feeder.references).isGreaterThan(32);
            Waiting.until(() -> feeder.released >= feeder.references - 15);
            assertThat(feeder.released).isLessThanOrEqualTo(feeder.references);
        }
        assertThat(openFiles()).isZero();
    }

    @Test
    void bothKindsOfFramesAreTakenAtAnyTime() throws IOException {
        feeder.near(directory).localFiles = Optional.of(directory);
        for (int piece = 3; piece < 40; piece += 3) {
            feeder.faults.add(new FakeFeeder.Planned(FakeFeeder.Fault.WHOLE, piece));
        }
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            assertThat(feed.stats().localReadBytes())
                    .isPositive()
                    .isLessThan(feed.stats().bytes());
            assertThat(feed.stats().corruptPieces()).isZero();
        }
        assertThat(feeder.faults).isEmpty();
    }

    @Test
    void filesThatAreOthersHereComeOverTheConnection() throws IOException {
        feeder.near(directory).localFiles = Optional.of(directory);
        feeder.isElsewhere = true;
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            FeedStats stats = feed.stats();
            assertThat(stats.localReadBytes()).isZero();
            assertThat(stats.reconnects()).isEqualTo(1);
            assertThat(stats.unixConnections()).isEqualTo(1);
        }
        assertThat(feeder.hellos.stream().map(hello -> hello.reading().localFiles() > 0))
                .containsExactly(false, true, false);
    }

    @Test
    void filesThatAreCutShortAreNoEndOfTheProcess() throws IOException {
        feeder.near(directory).localFiles = Optional.of(directory);
        feeder.cutsFrom = 10;
        try (FeedClient feed = open("auto")) {
            assertThat(read(feed)).isEqualTo(EXPECTED);
            assertThat(feeder.filesTold).isEqualTo(4);
            assertThat(feed.stats().corruptPieces()).isBetween(4L, 20L);
            assertThat(feed.stats().reconnects()).isEqualTo(1);
        }
        assertThat(feeder.nacks).isNotEmpty();
    }
}
