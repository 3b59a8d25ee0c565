package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import dev.stoker.server.HonestTrainer;
import dev.stoker.server.HostileFrames;
import dev.stoker.server.RawClient;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Thousands of trainers that know the protocol and abuse it, over plain TCP and over TLS, beside two honest ones that
 * must not notice anything. The feeder has a small heap, its real sessions, its real table of receipts and the job's
 * real reader.
 */
@Timeout(3600)
class HostilePeersTest {
    private static final int THREADS = 4;
    private static final int SESSIONS = 500;
    /** What the small heap and a JVM take up. */
    private static final long ENOUGH_BYTES = 400L << 20;
    /** For the feeder to close a session that was ended, before the trainer does. */
    private static final int PATIENCE_MS = 200;

    @TempDir
    Path directory;

    private SmallFeeder feeder;

    @Test
    void honestTrainersDoNotNoticeHostileOnes(TestInfo test) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (SmallFeeder started = SmallFeeder.start(directory, "-Xmx64m");
                HonestTrainer plain =
                        new HonestTrainer(started.plainFeed(), started.plainAddress(), Optional.empty(), "honest");
                HonestTrainer secured = new HonestTrainer(
                        started.tlsFeed(), started.tlsAddress(), Optional.of(started.trusting()), "honest")) {
            feeder = started;
            SSLContext tls = started.trusting();
            try {
                Rounds.of(test).seconds(5).atLeast(SESSIONS).run(threads, THREADS, (random, round) -> {
                    session(random, (int) round, tls);
                    feeder.requireAlive();
                    plain.requireContent();
                    secured.requireContent();
                });
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + started.ending(), e);
            }
            plain.finish();
            secured.finish();
            try (HonestTrainer late =
                    new HonestTrainer(started.plainFeed(), started.plainAddress(), Optional.empty(), "honest-later")) {
                late.finish();
            }
            assertThat(started.residentBytes()).isLessThan(ENOUGH_BYTES);
            started.requireAlive();
        } finally {
            threads.shutdownNow();
        }
    }

    /** One session; whatever becomes of its connection is the hostile trainer's own affair. */
    private void session(Random random, int index, SSLContext tls) {
        byte[] bytes = HostileFrames.session(
                random, index, feeder.plainFeed().streamOrder.size().batches());
        // Some speak plain text where TLS is spoken, and the other way round.
        boolean isSecured = random.nextInt(5) == 0;
        boolean isMistaken = random.nextInt(50) == 0;
        String address = isSecured != isMistaken ? feeder.tlsAddress() : feeder.plainAddress();
        try (RawClient client = isSecured ? RawClient.connect(address, tls) : RawClient.connect(address)) {
            Socket socket = client.socket();
            socket.setSoTimeout(PATIENCE_MS);
            // Usually waits for the answer to HELLO. Sends the rest in pieces of random size.
            int at = 0;
            while (at < bytes.length) {
                int piece = Math.min(
                        bytes.length - at, random.nextInt(4) == 0 ? 1 + random.nextInt(40) : 1 + random.nextInt(4000));
                client.sendRaw(bytes, at, piece);
                at += piece;
            }
            switch (random.nextInt(3)) {
                case 0 -> socket.setSoLinger(true, 0);
                case 1 -> {
                    socket.shutdownOutput();
                    skip(socket);
                }
                default -> skip(socket);
            }
        } catch (IOException | UnsupportedOperationException e) {
            // Refused or cut, as it deserves.
        }
    }

    /** Reads until the feeder closes, or says nothing for a while. */
    private static void skip(Socket socket) throws IOException {
        byte[] bytes = new byte[1 << 14];
        try {
            int count;
            do {
                count = socket.getInputStream().read(bytes);
            } while (count >= 0);
        } catch (SocketTimeoutException e) {
            // It waits for more.
        }
    }
}
