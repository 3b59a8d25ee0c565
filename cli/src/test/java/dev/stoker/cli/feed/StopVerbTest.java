package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.registry.StopRequest;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code stoker stop} of a feed on a cluster, whose coordinator the test plays. */
@Timeout(60)
class StopVerbTest {
    private static final long FIRST_START = 1_000;
    private static final long SECOND_START = 2_000;

    private final String name = "stop-" + System.nanoTime();
    private final UUID id = UUID.randomUUID();
    private ServerSocket feeder;

    @BeforeEach
    void listen() throws IOException {
        feeder = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread answering = new Thread(this::answer, "feeder-that-answers");
        answering.setDaemon(true);
        answering.start();
    }

    /** Says to everyone what a probe wants to hear. */
    private void answer() {
        ByteBuffer refusal = Frames.encode(new ErrorMessage(ErrorCode.UNSUPPORTED_PROTOCOL, "only a test"));
        byte[] bytes = new byte[refusal.remaining()];
        refusal.get(bytes);
        while (!feeder.isClosed()) {
            try (Socket probe = feeder.accept()) {
                probe.getOutputStream().write(bytes);
                probe.shutdownOutput();
                probe.getInputStream().readAllBytes();
            } catch (IOException e) {
                // The probe has gone, or the test is over.
            }
        }
    }

    @AfterEach
    void remove() throws IOException {
        feeder.close();
        Files.deleteIfExists(StokerHome.feedFile(name));
        Files.deleteIfExists(StokerHome.feedFile(name).resolveSibling(name + ".lock"));
    }

    private void publish(long startedMs, String more) throws IOException {
        Path file = StokerHome.feedFile(name);
        Files.createDirectories(file.getParent());
        Path next = Files.writeString(
                file.resolveSibling(name + ".next"),
                "{\"name\":\"" + name + "\",\"id\":\"" + id + "\",\"started_ms\":" + startedMs
                        + ",\"addresses\":[\"127.0.0.1:" + feeder.getLocalPort() + "\"]" + more + "}");
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void awaitRequest(long startedMs) throws IOException {
        while (!StopRequest.isThere(name, id, startedMs)) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void followsACoordinatorThatTakesOver() throws Exception {
        publish(FIRST_START, "");
        StringWriter said = new StringWriter();
        CompletableFuture<Integer> stop = CompletableFuture.supplyAsync(() -> {
            PrintWriter out = new PrintWriter(said, true);
            return Stoker.run(List.of("stop", name, "--timeout", "50s"), out, out);
        });
        awaitRequest(FIRST_START);
        publish(SECOND_START, "");
        awaitRequest(SECOND_START);
        publish(SECOND_START, ",\"ended_ms\":1");
        assertThat(stop.get()).as(said.toString()).isZero();
        assertThat(StopRequest.isThere(name, id, SECOND_START)).isFalse();
    }

    private String failureOfStop(String timeout) {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        assertThat(Stoker.run(List.of("stop", name, "--timeout", timeout), out, out))
                .isPositive();
        return said.toString();
    }

    @Test
    void saysThatTheJobManagerHasNotReadTheRequest() throws Exception {
        publish(FIRST_START, "");
        try (FeedLock lock = FeedLock.tryTake(name, "job").orElseThrow()) {
            assertThat(lock).isNotNull();
            assertThat(failureOfStop("1s"))
                    .contains("within 1 s: its JobManager has not read the request, because it is busy", "--timeout");
        }
        assertThat(StopRequest.isThere(name, id, FIRST_START)).isFalse();
    }

    @Test
    void saysThatTheJobManagerIsGone() throws Exception {
        publish(FIRST_START, "");
        assertThat(failureOfStop("1s"))
                .contains("feed " + name + " has no JobManager", "stoker stop " + name, "heartbeat.timeout");
        assertThat(StopRequest.isThere(name, id, FIRST_START)).isFalse();
        assertThat(failureOfStop("60")).contains("option --timeout: 60: give a unit, for example 60 s");
    }

    @Test
    void saysThatTheJobHasNotFinishedAfterARequest() throws Exception {
        publish(FIRST_START, "");
        CompletableFuture<String> stop = CompletableFuture.supplyAsync(() -> failureOfStop("5s"));
        awaitRequest(FIRST_START);
        StopRequest.withdraw(name);
        assertThat(stop.get())
                .contains("has accepted the request, but the job \"stoker feed " + name + "\" has not finished")
                .contains("checkpoint", "stoker stop " + name, "flink cancel");
    }
}
