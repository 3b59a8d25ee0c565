package dev.stoker.client;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/**
 * A feeder with the real protocol and generated data, one thread for each connection. It commits the faults that a test
 * requests.
 */
public final class FakeFeeder implements AutoCloseable {
    /** A fault that happens once. */
    public enum Fault {
        /** The connection ends within a piece. */
        CUT,
        /** A bit of a message flips. */
        FLIP,
        /** A bit of the number in a header flips, which the checksum covers. */
        FLIP_HEADER,
        /** A piece is sent twice. */
        TWICE,
        /** The piece is left out. */
        LEAVE_OUT,
        /** The piece is sent whole although it could be read locally. */
        WHOLE
    }

    /** A fault at the piece of that number, counted from now over all connections. */
    public record Planned(Fault fault, int piece) {}

    public final Queue<Planned> faults = new ConcurrentLinkedQueue<>();
    /** {@code epoch number piece} of everything acknowledged. */
    public final Set<String> receipts = ConcurrentHashMap.newKeySet();

    final Queue<Hello> hellos = new ConcurrentLinkedQueue<>();
    final Queue<Nack> nacks = new ConcurrentLinkedQueue<>();
    /** Subscriptions of trainers that said they have no number in the epoch. */
    final Queue<Subscribe> emptyShares = new ConcurrentLinkedQueue<>();

    volatile FakeStream stream;
    /** Answers HELLO with it. */
    volatile Optional<ErrorMessage> refusal = Optional.empty();
    /** Sends nothing any more, but continues to listen. */
    volatile boolean isSilent;
    /** Receipts are called durable at once. */
    volatile boolean isDurable = true;
    /** Sends everything in a wrong order. */
    volatile boolean isConfused;
    /** Applies faults to repeated pieces, too. */
    volatile boolean isAlwaysDamaged;

    /** Also offers local reads to clients that support them; the files are in this directory. */
    volatile Optional<Path> localFiles = Optional.empty();

    /** Its files are others here. */
    volatile boolean isElsewhere;
    /** From this reference on its files have been cut short when a client reads them. */
    volatile int cutsFrom = Integer.MAX_VALUE;

    /** Says no word of STATS in WELCOME. */
    volatile boolean isOld;
    /**
     * Microseconds of origin, disk and feeder that it speaks of, and takes, for the piece of that number, counted as
     * for faults.
     */
    final Map<Integer, long[]> delays = new ConcurrentHashMap<>();

    final Queue<Stats> stats = new ConcurrentLinkedQueue<>();
    volatile long released;
    volatile int references;
    volatile int filesTold;
    /** Clients that have connected over the Unix-domain socket. */
    volatile int nearSessions;

    volatile int subscriptions;
    volatile int ackFrames;
    private final Optional<SSLContext> tls;
    private boolean wantsCertificates;
    private ServerSocketChannel near;
    private final Set<FakeSession> sessions = ConcurrentHashMap.newKeySet();
    private volatile LaneMap map;
    private volatile ServerSocket socket;
    private volatile int pieces;
    private int port;

    public FakeFeeder(FakeStream stream) {
        this(stream, Optional.empty(), false);
    }

    /** @param wantsCertificates of clients, signed by one that the context trusts */
    public FakeFeeder(FakeStream stream, Optional<SSLContext> tls, boolean wantsCertificates) {
        this.stream = stream;
        this.tls = tls;
        this.wantsCertificates = wantsCertificates;
        start();
        map = new LaneMap(1, 1, List.of(address()), Collections.nCopies(stream.laneRows().length, List.of(0)));
    }

    /** Some feeders of one feed: lane l is served by feeder l mod n first, then by the others. */
    public static List<FakeFeeder> several(FakeStream stream, int count) {
        List<FakeFeeder> feeders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            feeders.add(new FakeFeeder(stream));
        }
        List<List<Integer>> lanes = new ArrayList<>();
        for (int lane = 0; lane < stream.laneRows().length; lane++) {
            List<Integer> preferred = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                preferred.add((lane + i) % count);
            }
            lanes.add(preferred);
        }
        LaneMap map =
                new LaneMap(1, 1, feeders.stream().map(FakeFeeder::address).toList(), lanes);
        feeders.forEach(feeder -> feeder.map = map);
        return feeders;
    }

    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Listens, on the same port as before. */
    public void start() {
        try {
            ServerSocket server = bound();
            socket = server;
            port = server.getLocalPort();
            Thread thread = new Thread(() -> accept(server), "fake-feeder-" + port);
            thread.setDaemon(true);
            thread.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A client that connects to the closed port may occupy it for a moment. */
    private ServerSocket bound() throws IOException {
        for (int attempt = 0; ; attempt++) {
            ServerSocket server = unbound();
            try {
                server.setReuseAddress(true);
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 50);
                return server;
            } catch (BindException e) {
                server.close();
                if (attempt == 1000) {
                    throw e;
                }
                LockSupport.parkNanos(5_000_000);
            }
        }
    }

    private ServerSocket unbound() throws IOException {
        if (tls.isEmpty()) {
            return new ServerSocket();
        }
        SSLServerSocket server =
                (SSLServerSocket) tls.get().getServerSocketFactory().createServerSocket();
        server.setNeedClientAuth(wantsCertificates);
        return server;
    }

    private void accept(ServerSocket server) {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                FakeSession session =
                        new FakeSession(this, socket.getInputStream(), socket.getOutputStream(), socket, false);
                begin(session, !server.isClosed());
            } catch (IOException e) {
                if (server.isClosed()) {
                    return;
                }
            }
        }
    }

    /** A connection may be accepted a moment after the socket was closed. */
    private synchronized void begin(FakeSession session, boolean isOpen) {
        if (!isOpen) {
            session.close();
            return;
        }
        sessions.add(session);
        Thread thread = new Thread(session, "fake-session-" + port);
        thread.setDaemon(true);
        thread.start();
    }

    /** Also listens on a Unix-domain socket in a directory, and names it in its lane map. */
    public FakeFeeder near(Path directory) throws IOException {
        Path path = directory.resolve("s");
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        near = server;
        Thread thread = new Thread(() -> acceptNear(server), "fake-feeder-near-" + port);
        thread.setDaemon(true);
        thread.start();
        String host =
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        map = new LaneMap(
                1, 2, map.addresses(), map.lanes(), Map.of(address(), new UnixAddress(host, path.toString())));
        return this;
    }

    private void acceptNear(ServerSocketChannel server) {
        while (server.isOpen()) {
            try {
                SocketChannel socket = server.accept();
                nearSessions++;
                begin(
                        new FakeSession(
                                this, Channels.newInputStream(socket), Channels.newOutputStream(socket), socket, true),
                        server.isOpen());
            } catch (IOException e) {
                return;
            }
        }
    }

    public LaneMap map() {
        return map;
    }

    /** As if it were killed. */
    public synchronized void kill() {
        try {
            socket.close();
            if (near != null) {
                near.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        sessions.forEach(FakeSession::close);
        sessions.clear();
    }

    /** Sends a newer lane map to everyone. */
    public void publish(LaneMap newer) {
        map = newer;
        sessions.forEach(session -> session.send(newer));
    }

    public int served() {
        return pieces;
    }

    /** The fault of the piece that is sent now. */
    public Optional<Fault> next() {
        int count = pieces++;
        Planned planned = faults.peek();
        if (planned != null && planned.piece() <= count) {
            faults.poll();
            return Optional.of(planned.fault());
        }
        return Optional.empty();
    }

    public void left(FakeSession session) {
        sessions.remove(session);
    }

    /** A client of this feeder that asks for nothing in particular. */
    public FeedClientBuilder client() {
        return FeedClient.of(address()).environment(Map.of());
    }

    @Override
    public void close() {
        kill();
    }
}
