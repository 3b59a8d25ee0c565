package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.ack.AckTable;
import dev.stoker.feeder.node.security.Right;
import dev.stoker.feeder.node.security.TokenRights;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Bye;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameDecoder;
import dev.stoker.schemas.protocol.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Nack;
import dev.stoker.schemas.protocol.Ping;
import dev.stoker.schemas.protocol.Pong;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Release;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One trainer's connection. Its reader thread, which runs {@link #run}, handles what the trainer says; a second thread, the
 * {@link Sender}, writes. Either ends the session for both.
 */
final class Session implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Session.class);
    private static final int READ_BYTES = 16 << 10;

    /** Most files that a trainer is told of at a time. */
    private static final int MAX_FILES = 8192;

    private final FeedServer server;
    private final long number;
    private final Wire channel;
    private final FrameDecoder decoder;
    private final Hello hello;
    private final byte[] rest;
    private final Outbox outbox = new Outbox();
    private final StallClock clock = new StallClock();
    private final AckTable.SessionReceipts receipts;
    private final DamagedPieces damaged = new DamagedPieces();

    /** Set once the trainer was admitted; read by other threads for messages only. */
    private volatile Identity identity;

    private TokenRights rights;
    private StreamState stream;
    private Group group;
    private GroupOrder order;
    /** The only epoch of this session, where the stream follows its dataset. */
    private OptionalLong only = OptionalLong.empty();

    private Subscription subscription;
    private SessionLedger ledger;
    private SessionWatch watch;
    private Sender sender;

    private final Leases leases = new Leases();
    /** Files that the trainer may be told of at a time; 0 if it takes payload over the connection. */
    private int handover;

    Session(FeedServer server, long number, Wire channel, FrameDecoder decoder, Hello hello, byte[] rest) {
        this.server = server;
        this.number = number;
        this.channel = channel;
        this.decoder = decoder;
        this.hello = hello;
        this.rest = rest;
        this.receipts = server.acks().session(outbox::durable, this::makeReconnect, this::refuseReceipts);
    }

    /** Serves the trainer until one side ends; closes the connection. */
    @Override
    public void run() {
        Thread sending = null;
        try {
            admit();
            sending = startSender();
            read();
        } catch (ProtocolException e) {
            LOG.info("Session {} ({}) ends: {} {}", number, this, e.code(), e.getMessage());
            outbox.end(ErrorMessage.of(e));
        } catch (IOException | InterruptedException e) {
            LOG.debug("Session {} ({}) lost its connection", number, this, e);
            outbox.end(null);
        } catch (RuntimeException | Error e) {
            LOG.error("Session {} ({}) failed", number, this, e);
            outbox.end(new ErrorMessage(ErrorCode.INTERNAL, "the feeder failed, see its log: " + e));
        } finally {
            outbox.end(null);
            if (sending == null) {
                sending = startSender();
            }
            drain();
            join(sending);
            leave();
        }
    }

    private void admit() throws IOException, InterruptedException {
        rights = server.rights(hello);
        stream = server.stream(hello.stream());
        Group joining = stream.group(hello.group());
        if (joining.isDisplacing(hello)) {
            rights.require(Right.ADMINISTER, "taking the place of a connected trainer by run " + hello.run());
        }
        long version = stream.version(hello);
        only = stream.follows() ? hello.epoch() : OptionalLong.empty();
        OptionalLong read = stream.follows() ? only : OptionalLong.of(0);
        Group.Joined joined = joining.join(hello, this, stream.at(version), read, System.currentTimeMillis());
        group = joining;
        order = joined.order();
        identity = joined.identity();
        joined.displaced()
                .ifPresent(old -> old.end(
                        ErrorCode.FENCED,
                        "a newer connection speaks for " + identity + "; this one is closed for good"));
        ledger = new SessionLedger(identity, this::order, receipts);
        watch = group.watch(hello, identity);
        watch.connected();
        decoder.welcomed();
        handover = handoverFiles();
        Welcome welcome = server.welcome(stream, order, identity, number).withHandover(handover);
        welcome = stream.follows() ? welcome.following(only) : welcome;
        outbox.add(rights.includes(Right.ACKNOWLEDGE) ? welcome : welcome.forReadingOnly());
        LOG.info(
                "Session {}: {}{} from {} ({})",
                number,
                identity,
                only.isPresent() ? ", epoch " + only.getAsLong() + " of version " + version : "",
                channel.socket().getRemoteAddress(),
                hello.client());
    }

    /** Files are handed over to trainers of this machine, of chunks that are files of this machine. */
    private int handoverFiles() throws IOException {
        boolean near = FeedServer.isUnix(channel.socket());
        return near && stream.stream().source().hasFiles() ? Math.min(hello.handover(), MAX_FILES) : 0;
    }

    int handover() {
        return handover;
    }

    /** Bytes of payload a row from which a reference is worth it to the trainer. */
    int handoverFrom() {
        return hello.handoverFrom();
    }

    /** The only epoch that may be subscribed to, if there is but one. */
    OptionalLong only() {
        return only;
    }

    Leases leases() {
        return leases;
    }

    private Thread startSender() {
        sender = new Sender(server, this, channel, outbox, clock, order, stream);
        Thread thread = new Thread(sender, "stoker-send-" + number);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void read() throws IOException, InterruptedException {
        ByteBuffer in = ByteBuffer.allocate(READ_BYTES);
        handleAll(ByteBuffer.wrap(rest));
        while (!outbox.isEnded()) {
            in.clear();
            if (channel.read(in) < 0) {
                throw new IOException("the trainer closed the connection");
            }
            handleAll(in.flip());
        }
    }

    private void handleAll(ByteBuffer in) throws IOException, InterruptedException {
        while (in.hasRemaining() && !outbox.isEnded()) {
            Optional<Frame> frame = decoder.next(in);
            if (frame.isPresent()) {
                handle(frame.get());
            }
        }
    }

    private void handle(Frame frame) throws IOException, InterruptedException {
        if (frame instanceof Grant grant) {
            outbox.grant(grant);
        } else if (frame instanceof Ack ack) {
            acknowledge(ack);
        } else if (frame instanceof Subscribe subscribe) {
            subscribe(subscribe);
        } else if (frame instanceof Release release) {
            leases.release(release.references());
        } else if (frame instanceof Nack nack) {
            damaged(nack);
        } else if (frame instanceof Stats stats) {
            watch.told(stats);
        } else if (frame instanceof Ping ping) {
            outbox.add(new Pong(ping.opaque()));
            sender.answer();
        } else if (frame instanceof Bye) {
            outbox.end(null);
        } else if (frame instanceof ErrorMessage error) {
            LOG.info("Session {} ({}) was ended by the trainer: {} {}", number, this, error.code(), error.message());
            outbox.end(null);
        }
    }

    private void subscribe(Subscribe asked) throws ProtocolException {
        if (stream.follows() && only.isEmpty()) {
            throw new ProtocolException(
                    ErrorCode.UNSUPPORTED_PROTOCOL,
                    "stream " + stream.stream().name() + " follows its dataset, and this trainer did not say in HELLO"
                            + " which epoch it reads");
        }
        if (only.isPresent() && asked.epoch() != only.getAsLong()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "SUBSCRIBE: epoch " + asked.epoch() + ": this session is of epoch " + only.getAsLong()
                            + " alone; say HELLO anew for another");
        }
        subscription = Subscription.of(asked, order, identity);
        damaged.clear();
        if (rights.includes(Right.ACKNOWLEDGE)) {
            group.fix();
            // Without receipts a subscription would be a gap in the ledger, and the feed would wait for its end.
            ledger.asked(asked);
        }
        if (asked.count() > 0) {
            watch.at(asked.epoch(), asked.first());
        }
        outbox.subscribe(subscription);
    }

    private GroupOrder order(long epoch) throws ProtocolException {
        boolean here = !stream.follows() || (only.isPresent() && only.getAsLong() == epoch);
        return here ? order : stream.begun(identity.group(), epoch, order.spec());
    }

    private void acknowledge(Ack ack) throws ProtocolException {
        rights.require(Right.ACKNOWLEDGE, "ACK");
        ledger.check(ack);
        clock.acknowledged(System.nanoTime(), ack.count());
        if (ack.count() > 0) {
            watch.consumed(ack.epoch(), greatest(ack));
        }
        ledger.acknowledged(ack);
    }

    private static long greatest(Ack ack) {
        long greatest = 0;
        for (int i = 0; i < ack.count(); i++) {
            greatest = Math.max(greatest, ack.number(i));
        }
        return greatest;
    }

    private void damaged(Nack nack) throws ProtocolException {
        if (subscription == null || nack.subscription() != subscription.id()) {
            return;
        }
        if (nack.epoch() != subscription.asked().epoch()
                || !subscription.asked().covers(nack.number())) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "NACK: number " + nack.number() + " of epoch " + nack.epoch() + " was not asked for");
        }
        server.counters().nacks.increment();
        LOG.warn("Session {} ({}): number {} piece {} arrived damaged", number, this, nack.number(), nack.piece());
        damaged.add(nack);
        if (!outbox.nack(nack)) {
            throw damaged.tooMany();
        }
    }

    /** Ends the session from outside; returns at once. */
    void end(ErrorCode code, String why) {
        outbox.end(new ErrorMessage(code, why));
        server.closeLater(channel);
    }

    private void makeReconnect() {
        end(
                ErrorCode.SHUTTING_DOWN,
                "receipts found no room for a while; connect again and repeat what is not durable");
    }

    private void refuseReceipts() {
        end(
                ErrorCode.INTERNAL,
                "what this trainer asked for or acknowledged cannot be written to the ledger and was dropped; see the"
                        + " feeder's log");
    }

    /** Tells the trainer who serves which lane. */
    void tell(StreamState of, LaneMap map) {
        if (identity != null && of == stream) {
            outbox.laneMap(map.forLanes(order.order().lanes()));
        }
    }

    long durable() {
        return receipts.durable();
    }

    /** What others may know of this session; null before it was admitted. */
    SessionWatch watch() {
        return watch;
    }

    StallClock clock() {
        return clock;
    }

    /** After the end: reads and forgets what the peer still sends, so that the farewell is not lost to a reset. */
    private void drain() {
        server.closeLater(channel);
        ByteBuffer in = ByteBuffer.allocate(READ_BYTES);
        try (channel) {
            int bytes;
            do {
                bytes = channel.read(in.clear());
            } while (bytes >= 0);
        } catch (IOException e) {
            LOG.debug("Session {} is closed", number, e);
        }
    }

    private static void join(Thread sending) {
        if (sending == null) {
            return;
        }
        boolean interrupted = false;
        while (sending.isAlive()) {
            try {
                sending.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void leave() {
        leases.close();
        receipts.end();
        if (watch != null) {
            watch.left();
        }
        if (group != null) {
            group.leave(hello, this);
        }
        server.left(this);
    }

    @Override
    public String toString() {
        Identity known = identity;
        return known == null ? hello.client() : known.toString();
    }
}
