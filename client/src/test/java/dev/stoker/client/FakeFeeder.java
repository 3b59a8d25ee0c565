package dev.stoker.client;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.DeliveredPiece;
import dev.stoker.schemas.order.Delivery;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.Durable;
import dev.stoker.schemas.protocol.EpochEnd;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameDecoder;
import dev.stoker.schemas.protocol.Frames;
import dev.stoker.schemas.protocol.Grant;
import dev.stoker.schemas.protocol.HandoverFile;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Nack;
import dev.stoker.schemas.protocol.Ping;
import dev.stoker.schemas.protocol.Pong;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Release;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.UnixAddress;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
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

/** A feeder with the real protocol and made-up data, one thread for each connection, that does what it is told wrong. */
final class FakeFeeder implements AutoCloseable {
    /** What goes wrong, once. */
    enum Fault {
        /** The connection ends within a piece. */
        CUT,
        /** A bit of a message flips. */
        FLIP,
        /** A bit of the number in a header flips, which the checksum covers. */
        FLIP_HEADER,
        /** A piece comes twice. */
        TWICE,
        /** The piece is left out. */
        LEAVE_OUT,
        /** The piece is sent whole although it could be handed over. */
        WHOLE
    }

    /** A fault at the piece of that number, counted from now over all connections. */
    record Planned(Fault fault, int piece) {}

    final Queue<Planned> faults = new ConcurrentLinkedQueue<>();
    /** {@code epoch number piece} of everything acknowledged. */
    final Set<String> receipts = ConcurrentHashMap.newKeySet();

    final Queue<Hello> hellos = new ConcurrentLinkedQueue<>();
    final Queue<Nack> nacks = new ConcurrentLinkedQueue<>();
    volatile FakeStream stream;
    /** Answers HELLO with it. */
    volatile Optional<ErrorMessage> refusal = Optional.empty();
    /** Says nothing any more, but goes on listening. */
    volatile boolean isSilent;
    /** Receipts are called durable at once. */
    volatile boolean isDurable = true;
    /** Sends everything in a wrong order. */
    volatile boolean isConfused;
    /** Faults befall what is sent again, too. */
    volatile boolean isAlwaysDamaged;

    /** Also takes payload over by reference where a client offers that; the files lie here. */
    volatile Optional<Path> handedFiles = Optional.empty();

    /** Its files are others here. */
    volatile boolean isElsewhere;
    /** Its files have been cut short when a client reads them. */
    volatile boolean isCut;

    /** Says no word of STATS in WELCOME. */
    volatile boolean isOld;
    /** Microseconds of origin, disk and feeder that it speaks of, and takes, for the piece of that number, counted as for faults. */
    final Map<Integer, long[]> delays = new ConcurrentHashMap<>();

    final Queue<Stats> stats = new ConcurrentLinkedQueue<>();
    volatile long released;
    volatile int references;
    volatile int filesTold;
    /** Of clients that have come by the Unix-domain socket. */
    volatile int nearSessions;

    volatile int subscriptions;
    volatile int ackFrames;
    private final Optional<SSLContext> tls;
    private boolean wantsCertificates;
    private ServerSocketChannel near;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private volatile LaneMap map;
    private volatile ServerSocket socket;
    private volatile int pieces;
    private int port;

    FakeFeeder(FakeStream stream) {
        this(stream, Optional.empty(), false);
    }

    /** @param wantsCertificates of clients, signed by one that the context trusts */
    FakeFeeder(FakeStream stream, Optional<SSLContext> tls, boolean wantsCertificates) {
        this.stream = stream;
        this.tls = tls;
        this.wantsCertificates = wantsCertificates;
        start();
        map = new LaneMap(
                1, 1, List.of(address()), java.util.Collections.nCopies(stream.laneRows().length, List.of(0)));
    }

    /** Some feeders of one feed: lane l is served by feeder l mod n first, then by the others. */
    static List<FakeFeeder> several(FakeStream stream, int count) {
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

    String address() {
        return "127.0.0.1:" + port;
    }

    /** Listens, on the same port as before. */
    void start() {
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

    /** A client that dials the closed port may hold it for a moment. */
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
                Session session = new Session(socket.getInputStream(), socket.getOutputStream(), socket, false);
                begin(session, !server.isClosed());
            } catch (IOException e) {
                if (server.isClosed()) {
                    return;
                }
            }
        }
    }

    /** A connection may be accepted a moment after the socket was closed. */
    private synchronized void begin(Session session, boolean isOpen) {
        if (!isOpen) {
            session.close();
            return;
        }
        sessions.add(session);
        Thread thread = new Thread(session, "fake-session-" + port);
        thread.setDaemon(true);
        thread.start();
    }

    /** Also listens on a Unix-domain socket in a directory, and says so in its lane map. */
    FakeFeeder near(Path directory) throws IOException {
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
                        new Session(Channels.newInputStream(socket), Channels.newOutputStream(socket), socket, true),
                        server.isOpen());
            } catch (IOException e) {
                return;
            }
        }
    }

    LaneMap map() {
        return map;
    }

    /** As if it were killed. */
    synchronized void kill() {
        try {
            socket.close();
            if (near != null) {
                near.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        sessions.forEach(Session::close);
        sessions.clear();
    }

    /** Sends a newer lane map to everyone. */
    void publish(LaneMap newer) {
        map = newer;
        sessions.forEach(session -> session.send(newer));
    }

    int served() {
        return pieces;
    }

    @Override
    public void close() {
        kill();
    }

    private final class Session implements Runnable {
        private final InputStream in;
        private final OutputStream out;
        private final Closeable client;
        private final boolean isNear;
        private boolean hasStats;
        private int handover;
        private final Set<String> told = ConcurrentHashMap.newKeySet();
        private Subscribe subscription;
        private long granted = -1;
        private long index;
        private long acknowledged;
        private long rows;
        private boolean ended;

        Session(InputStream in, OutputStream out, Closeable client, boolean isNear) {
            this.in = in;
            this.out = out;
            this.client = client;
            this.isNear = isNear;
        }

        @Override
        public void run() {
            FrameDecoder decoder = FrameDecoder.forServer();
            byte[] bytes = new byte[8192];
            try {
                for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                    ByteBuffer arrived = ByteBuffer.wrap(bytes, 0, count);
                    for (Optional<Frame> frame = decoder.next(arrived);
                            frame.isPresent();
                            frame = decoder.next(arrived)) {
                        if (!isSilent) {
                            handle(decoder, frame.get());
                        }
                    }
                }
            } catch (ProtocolException e) {
                send(ErrorMessage.of(e));
            } catch (IOException e) {
                // The client or the test has ended it.
            } finally {
                close();
                sessions.remove(this);
            }
        }

        private void handle(FrameDecoder decoder, Frame frame) throws IOException {
            switch (frame.type()) {
                case HELLO -> {
                    hellos.add((Hello) frame);
                    if (refusal.isPresent()) {
                        send(refusal.get());
                        close();
                        return;
                    }
                    decoder.welcomed();
                    int offered = isNear ? ((Hello) frame).handover() : 0;
                    handover = handedFiles.isPresent() ? Math.min(offered, 1000) : 0;
                    send(stream.welcome(map, !isOld).withHandover(handover));
                }
                case STATS -> {
                    hasStats = true;
                    stats.add((Stats) frame);
                }
                case RELEASE -> released = ((Release) frame).references();
                case SUBSCRIBE -> {
                    subscription = (Subscribe) frame;
                    subscriptions++;
                    granted = -1;
                    index = 0;
                    rows = 0;
                    ended = false;
                    pump();
                }
                case GRANT -> {
                    Grant grant = (Grant) frame;
                    if (subscription != null && grant.subscription() == subscription.subscription()) {
                        granted = Math.max(granted, grant.through());
                        pump();
                    }
                }
                case ACK -> {
                    Ack ack = (Ack) frame;
                    ackFrames++;
                    ack.entries()
                            .forEach(entry -> receipts.add(ack.epoch() + " " + entry.number() + " " + entry.piece()));
                    acknowledged += ack.count();
                    if (isDurable) {
                        send(new Durable(acknowledged));
                    }
                }
                case NACK -> {
                    Nack nack = (Nack) frame;
                    nacks.add(nack);
                    again(nack);
                }
                case PING -> send(new Pong(((Ping) frame).opaque()));
                default -> {}
            }
        }

        private void pump() throws IOException {
            while (index < subscription.count() && number() <= granted) {
                List<DeliveredPiece> planned = planned(number());
                for (int piece = 0; piece < planned.size(); piece++) {
                    if (isMine(planned.get(piece))) {
                        rows += planned.get(piece).rows();
                        send(planned, piece, number(), true);
                    }
                }
                index++;
            }
            if (index == subscription.count() && !ended) {
                ended = true;
                send(new EpochEnd(subscription.subscription(), subscription.epoch(), index, rows));
            }
        }

        private void again(Nack nack) throws IOException {
            List<DeliveredPiece> planned = planned(nack.number());
            send(planned, nack.piece(), nack.number(), false);
        }

        private long number() {
            return subscription.first() + index * subscription.stride();
        }

        private List<DeliveredPiece> planned(long number) {
            return Delivery.batch(stream.numbering(subscription.epoch()), subscription.tail(), number)
                    .pieces();
        }

        private boolean isMine(DeliveredPiece piece) {
            return subscription.lanes().isEmpty() || subscription.lanes().contains(piece.lane());
        }

        private void send(List<DeliveredPiece> planned, int piece, long number, boolean isFirstTime)
                throws IOException {
            DeliveredPiece which = planned.get(piece);
            ByteBuffer message = stream.message(which);
            BatchIdentity identity = new BatchIdentity(
                    FEED_TAG,
                    new Fingerprint(stream.fingerprint()).tag(),
                    subscription.epoch(),
                    isConfused ? which.lane() + 1 : which.lane(),
                    number,
                    piece,
                    planned.size(),
                    which.rows(),
                    0,
                    which.repeated());
            BatchHeader header =
                    BatchHeader.of(identity, subscription.subscription(), message.remaining(), Crc32cs.of(message));
            ByteBuffer frame = ByteBuffer.allocate(BatchHeader.BYTES + message.remaining());
            header.put(frame);
            frame.put(message);
            byte[] bytes = frame.array();
            long[] cost = isFirstTime ? delays.get(pieces) : null;
            if (cost != null) {
                LockSupport.parkNanos((cost[0] + cost[1] + cost[2]) * 1000);
            }
            Optional<Fault> fault = isFirstTime || isAlwaysDamaged ? next() : Optional.empty();
            if (fault.filter(Fault.LEAVE_OUT::equals).isPresent()) {
                return;
            }
            if (fault.filter(Fault.FLIP::equals).isPresent()) {
                bytes[BatchHeader.BYTES + 100] ^= 4;
            }
            if (fault.filter(Fault.FLIP_HEADER::equals).isPresent()) {
                bytes[33] ^= 4;
            }
            if (fault.filter(Fault.CUT::equals).isPresent()) {
                write(java.util.Arrays.copyOf(bytes, 90));
                close();
                throw new IOException("cut");
            }
            if (handover > 0 && isFirstTime && fault.isEmpty()) {
                refer(header, message.flip());
            } else {
                write(bytes);
            }
            if (cost != null && hasStats) {
                send(new Delay(
                        subscription.subscription(), subscription.epoch(), number, piece, cost[0], cost[1], cost[2]));
            }
            if (fault.filter(Fault.TWICE::equals).isPresent()) {
                write(bytes);
            }
        }

        /** Sends where the message lies: its first half in the frame, then some zeros if it has them there, the rest in a file. */
        private void refer(BatchHeader header, ByteBuffer message) throws IOException {
            String name = header.identity().lane() + "";
            Path file = handedFiles.orElseThrow().resolve(name);
            long number = header.identity().lane();
            int length = message.remaining();
            int half = length / 2;
            long at;
            synchronized (FakeFeeder.this) {
                if (!Files.exists(file)) {
                    Files.write(file, new byte[1 << 20]);
                }
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    // Overwritten only after 200 others.
                    at = references % 200 * 4096L;
                    channel.write(message.duplicate().position(half), at);
                }
            }
            if (told.add(name)) {
                filesTold++;
                Map<String, Object> found = Files.readAttributes(file, "unix:dev,ino");
                long inode = (Long) found.get("ino") + (isElsewhere ? 1 : 0);
                send(new HandoverFile(number, (Long) found.get("dev"), inode, 1 << 20, file.toString()));
            }
            if (isCut) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(1);
                }
            }
            int zeros = 0;
            while (zeros < 63 && half + zeros < length && message.get(length - 1 - zeros) == 0) {
                zeros++;
            }
            List<BatchRef.Slice> slices = new ArrayList<>();
            slices.add(new BatchRef.Slice(number, length - half - zeros, at));
            if (zeros > 0) {
                slices.add(new BatchRef.Slice(BatchRef.ZEROS, zeros, 0));
            }
            references++;
            send(new BatchRef(header, message.duplicate().limit(half), slices));
        }

        private Optional<Fault> next() {
            int count = pieces++;
            Planned planned = faults.peek();
            if (planned != null && planned.piece() <= count) {
                faults.poll();
                return Optional.of(planned.fault());
            }
            return Optional.empty();
        }

        void send(Frame frame) {
            try {
                ByteBuffer bytes = Frames.encode(frame);
                write(java.util.Arrays.copyOf(bytes.array(), bytes.limit()));
            } catch (IOException e) {
                close();
            }
        }

        private synchronized void write(byte[] bytes) throws IOException {
            if (!isSilent) {
                out.write(bytes);
                out.flush();
            }
        }

        void close() {
            try {
                client.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final long FEED_TAG = FakeStream.FEED.getMostSignificantBits();
}
