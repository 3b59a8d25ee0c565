package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Bye;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameDecoder;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Nack;
import dev.stoker.schemas.protocol.Ping;
import dev.stoker.schemas.protocol.Pong;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Release;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.security.Right;
import dev.stoker.server.security.TokenRights;
import dev.stoker.server.threads.Threads;
import dev.stoker.server.window.GroupOrder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One trainer's connection. Its reader thread, which runs {@link #run}, handles the trainer's frames; a second thread,
 * the {@link Sender}, writes. Either thread ends the session for both.
 */
final class Session implements Runnable, Occupant {
    private static final Logger LOG = LoggerFactory.getLogger(Session.class);
    private static final int READ_BYTES = 16 << 10;

    /** Frames that only a session with a place may send. */
    private static final Set<FrameType> WANTS_PLACE = EnumSet.of(
            FrameType.SELECT, FrameType.SUBSCRIBE, FrameType.GRANT, FrameType.ACK, FrameType.NACK, FrameType.RELEASE);

    /** Maximum number of files that a trainer knows at a time. */
    private static final int MAX_FILES = 8192;

    private final FeedServer server;
    private final long number;
    private final Wire channel;
    private final FrameDecoder decoder;
    private final Hello hello;
    private final byte[] rest;
    private final SendQueue sendQueue;
    private final StallClock clock = new StallClock();
    private final AckTable.SessionReceipts receipts;
    private final DamagedPieces damaged = new DamagedPieces();

    private final Pulse pulse;

    /** Set after the trainer was welcomed; other threads read it for messages only. */
    private volatile @Nullable Identity identity;

    private @Nullable TokenRights rights;
    private @Nullable FeedStream stream;
    /** Null for a session without a place, which only looks. */
    private @Nullable Group group;
    /** Whether the group counts this session. */
    private boolean entered;

    private boolean joined;
    private @Nullable GroupOrder order;
    /** The only epoch of this session, if the stream follows its dataset. */
    private OptionalLong only = OptionalLong.empty();

    private @Nullable Selection selection;
    private @Nullable Subscription subscription;
    private @Nullable SessionLedger ledger;
    private @Nullable SessionWatch watch;
    private @Nullable Sender sender;

    private final Leases leases = new Leases();
    /** Number of files that the trainer may know at a time; 0 if it takes payload over the connection. */
    private int handover;

    Session(FeedServer server, long number, Wire channel, FrameDecoder decoder, Hello hello, byte[] rest) {
        this.server = server;
        this.number = number;
        this.channel = channel;
        this.decoder = decoder;
        this.hello = hello;
        this.rest = rest;
        this.sendQueue = new SendQueue(server.threads().lock());
        this.pulse = new Pulse(server.threads()::nanoTime);
        this.receipts = server.acks().session(sendQueue::durable, this::makeReconnect, this::refuseReceipts);
    }

    /** Serves the trainer until one side ends, and closes the connection. */
    @Override
    public void run() {
        Threads.@Nullable Started sending = null;
        try {
            admit();
            sending = startSender();
            read();
        } catch (ProtocolException e) {
            if (e.code() == ErrorCode.PLACE_TAKEN) {
                // The trainer retries for a while, about once a second.
                LOG.debug("Session {} ({}) was refused: {}", number, this, e.getMessage());
            } else {
                LOG.info("Session {} ({}) ends: {} {}", number, this, e.code(), e.getMessage());
            }
            sendQueue.end(ErrorMessage.of(e));
        } catch (IOException | InterruptedException e) {
            LOG.debug("Session {} ({}) lost its connection", number, this, e);
            sendQueue.end(null);
        } catch (RuntimeException | Error e) {
            LOG.error("Session {} ({}) failed", number, this, e);
            sendQueue.end(new ErrorMessage(ErrorCode.INTERNAL, "the feeder failed, see its log: " + e));
        } finally {
            sendQueue.end(null);
            // Before anything that may take time: the next trainer must not wait until this session has sent its last
            // frame.
            vacate();
            end(sending);
        }
    }

    private void admit() throws IOException, InterruptedException {
        rights = server.rights(hello);
        stream = server.stream(hello.stream());
        // If each epoch has a separate version, a trainer that does not name an epoch can only look.
        if (hello.caller().look() || (stream.follows() && hello.epoch().isEmpty())) {
            look();
            return;
        }
        group = stream.groups().enter(hello.group());
        entered = true;
        if (group.isDisplacing(hello)) {
            rights.require(Right.ADMINISTER, "replacing a connected trainer by run " + hello.run());
        }
        // Before the version of an epoch is chosen, because the choice is permanent.
        group.check(hello);
        long version = stream.version(hello);
        only = stream.follows() ? hello.epoch() : OptionalLong.empty();
        Group.Joined place = group.join(
                hello,
                this,
                stream.at(version),
                only.orElse(0),
                server.threads().nowMs());
        joined = true;
        order = place.order();
        identity = place.identity();
        for (Occupant displaced : place.displaced()) {
            displaced.end(
                    ErrorCode.FENCED,
                    Claim.of(hello).who() + " has replaced this trainer in group " + hello.group()
                            + " of stream " + stream.stream().name()
                            + ": end this trainer, or let it read in another group (group=\"…\")");
        }
        selection = new Selection(order);
        ledger = new SessionLedger(identity, selection, this::order, receipts);
        watch = group.watch(hello, identity);
        watch.connected();
        decoder.welcomed();
        handover = handoverFiles();
        Welcome welcome = server.welcome(stream, order, identity, number).withHandover(handover);
        welcome = stream.follows() ? welcome.following(only) : welcome;
        sendQueue.add(rights.includes(Right.ACKNOWLEDGE) ? welcome : welcome.forReadingOnly());
        LOG.info(
                "Session {}: {}{} from {} ({})",
                number,
                identity,
                only.isPresent() ? ", epoch " + only.getAsLong() + " of version " + version : "",
                channel.peer(),
                hello.client());
    }

    /** Describes the stream to a client that takes no place. Leaves no state behind. */
    private void look() throws InterruptedException, ProtocolException {
        order = admitted(stream).look(hello);
        identity = Group.identity(admitted(stream).stream().name(), hello, hello.run());
        watch = new SessionWatch(identity, hello.client());
        watch.connected();
        decoder.welcomed();
        Welcome welcome = server.welcome(admitted(stream), order, identity, number);
        sendQueue.add(
                admitted(stream).follows() ? welcome.following(admitted(stream).begun(hello)) : welcome);
        LOG.debug("Session {}: {} observes ({})", number, identity, hello.client());
    }

    /** Returns whether the session was admitted for a look only. */
    boolean isLooking() {
        return hello.caller().look();
    }

    /**
     * Returns how many files the trainer may know. Files are handed over only to trainers of this machine, and only if
     * chunks are files of this machine.
     */
    private int handoverFiles() throws IOException {
        return channel.isUnix() && admitted(stream).stream().source().hasFiles()
                ? Math.min(hello.handover(), MAX_FILES)
                : 0;
    }

    /** Returns the number of the session, which is unique on this server. */
    long number() {
        return number;
    }

    int handover() {
        return handover;
    }

    /** Returns the bytes of payload per row from which a reference is worthwhile for the trainer. */
    int handoverFrom() {
        return hello.handoverFrom();
    }

    /** Returns the only epoch that may be subscribed to, if the session is limited to one. */
    OptionalLong only() {
        return only;
    }

    Leases leases() {
        return leases;
    }

    /** Returns a part of the session that its admission set. */
    private static <T> T admitted(@Nullable T part) {
        return Objects.requireNonNull(part, "the session was admitted");
    }

    private Threads.Started startSender() throws ProtocolException {
        sender = newSender();
        return server.start(sender, "stoker-send-" + number);
    }

    private Sender newSender() {
        return new Sender(server, this, channel, sendQueue, clock, order, stream);
    }

    /** Sends the farewell and leaves the group, even if other steps fail. */
    private void end(Threads.@Nullable Started sending) {
        try {
            sendQueue.end(null);
            if (sending == null) {
                // The farewell must not wait for a peer that does not read.
                server.closeLater(channel);
                newSender().run();
            }
            drain();
        } catch (RuntimeException | Error e) {
            LOG.error("Session {} ({}) failed while it ended", number, this, e);
        } finally {
            join(sending);
            leave();
        }
    }

    private void read() throws IOException, InterruptedException {
        ByteBuffer in = ByteBuffer.allocate(READ_BYTES);
        handleAll(ByteBuffer.wrap(rest));
        while (!sendQueue.isEnded()) {
            in.clear();
            if (channel.read(in) < 0) {
                throw new IOException("the trainer closed the connection");
            }
            pulse.heard();
            handleAll(in.flip());
        }
    }

    private void handleAll(ByteBuffer in) throws IOException, InterruptedException {
        while (in.hasRemaining() && !sendQueue.isEnded()) {
            Optional<Frame> frame = decoder.next(in);
            if (frame.isPresent()) {
                handle(frame.get());
            }
        }
    }

    private void handle(Frame frame) throws IOException, InterruptedException {
        if (!joined && WANTS_PLACE.contains(frame.type())) {
            throw new ProtocolException(
                    hello.caller().look() ? ErrorCode.BAD_FRAME : ErrorCode.UNSUPPORTED_PROTOCOL,
                    frame.type() + ": " + whyOnlyLooking());
        }
        if (frame instanceof Grant grant) {
            sendQueue.grant(grant);
        } else if (frame instanceof Ack ack) {
            acknowledge(ack);
        } else if (frame instanceof Subscribe subscribe) {
            subscribe(subscribe);
        } else if (frame instanceof Select select) {
            sendQueue.add(admitted(selection).select(select, subscription != null));
        } else if (frame instanceof Release release) {
            leases.release(release.references());
        } else if (frame instanceof Nack nack) {
            damaged(nack);
        } else if (frame instanceof Stats stats) {
            admitted(watch).told(stats);
        } else if (frame instanceof Ping ping) {
            sendQueue.add(new Pong(ping.opaque()));
            admitted(sender).answer();
        } else if (frame instanceof Bye) {
            sendQueue.end(null);
        } else if (frame instanceof ErrorMessage error) {
            LOG.info("Session {} ({}) was ended by the trainer: {} {}", number, this, error.code(), error.message());
            sendQueue.end(null);
        }
    }

    private String whyOnlyLooking() {
        return hello.caller().look()
                ? "this session only observes, as its HELLO requested; reconnect to read"
                : "stream " + admitted(stream).stream().name()
                        + " follows its dataset, but HELLO did not say which epoch the"
                        + " trainer reads; reconnect and name it";
    }

    private void subscribe(Subscribe asked) throws ProtocolException {
        if (only.isPresent() && asked.epoch() != only.getAsLong()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "SUBSCRIBE: epoch " + asked.epoch() + ": this session is bound to epoch " + only.getAsLong()
                            + "; reconnect for another epoch");
        }
        subscription =
                Subscription.of(asked, admitted(order), admitted(selection).view(), admitted(identity));
        damaged.clear();
        if (admitted(rights).includes(Right.ACKNOWLEDGE)) {
            server.subscribes(admitted(identity));
            admitted(group).settle(hello, this);
            // A subscription without receipts would be a gap in the ledger, and the feed would wait for its end.
            admitted(ledger).asked(asked);
        }
        if (asked.count() > 0) {
            admitted(watch).at(asked.epoch(), asked.first());
        }
        sendQueue.subscribe(subscription);
    }

    private GroupOrder order(long epoch) throws ProtocolException {
        boolean here = !admitted(stream).follows() || (only.isPresent() && only.getAsLong() == epoch);
        return here
                ? admitted(order)
                : admitted(stream)
                        .begun(
                                admitted(identity).group(),
                                epoch,
                                admitted(order).spec());
    }

    private void acknowledge(Ack ack) throws ProtocolException {
        admitted(rights).require(Right.ACKNOWLEDGE, "ACK");
        admitted(ledger).check(ack);
        clock.acknowledged(System.nanoTime(), ack.count());
        server.counters().usedRows.add(admitted(watch).consumed(ack));
        admitted(ledger).acknowledged(ack);
    }

    private void damaged(Nack nack) throws ProtocolException {
        if (subscription == null || nack.subscription() != subscription.id()) {
            return;
        }
        if (nack.epoch() != subscription.asked().epoch()
                || !subscription.asked().covers(nack.number())) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "NACK: number " + nack.number() + " of epoch " + nack.epoch() + " was not requested");
        }
        server.counters().nacks.increment();
        LOG.warn("Session {} ({}): number {} piece {} arrived damaged", number, this, nack.number(), nack.piece());
        damaged.add(nack);
        if (!sendQueue.nack(nack)) {
            throw damaged.tooMany();
        }
    }

    @Override
    public void ask() {
        if (pulse.ask()) {
            sendQueue.offer(new Ping(number));
        }
    }

    @Override
    public boolean isSilent() {
        return pulse.isSilent();
    }

    /** Ends the session from another thread. Returns at once. */
    @Override
    public void end(ErrorCode code, String why) {
        sendQueue.end(new ErrorMessage(code, why));
        server.closeLater(channel);
    }

    private void makeReconnect() {
        end(
                ErrorCode.SHUTTING_DOWN,
                "the feeder had no room for receipts for a while; reconnect, and repeat the receipts that are not"
                        + " durable");
    }

    private void refuseReceipts() {
        end(
                ErrorCode.INTERNAL,
                "a request or receipt of this trainer cannot be written to the ledger and was dropped; see the"
                        + " feeder's log");
    }

    /** Tells the trainer which feeder serves each lane. */
    void tell(FeedStream of, LaneMap map) {
        if (identity != null && of == stream) {
            sendQueue.laneMap(map.forLanes(admitted(order).order().lanes()));
        }
    }

    long durable() {
        return receipts.durable();
    }

    /** Returns the statistics of this session; null before it was admitted. */
    @Nullable
    SessionWatch watch() {
        return watch;
    }

    StallClock clock() {
        return clock;
    }

    /** Reads and discards what the peer still sends, so that a reset does not discard the farewell. */
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

    private static void join(Threads.@Nullable Started sending) {
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
        try {
            leases.close();
            receipts.end();
            if (watch != null) {
                watch.left();
            }
        } finally {
            server.left(this);
        }
    }

    private void vacate() {
        if (joined) {
            joined = false;
            admitted(group).leave(hello, this);
        }
        if (entered) {
            entered = false;
            admitted(stream).groups().leave(hello.group());
        }
    }

    @Override
    public String toString() {
        Identity known = identity;
        return known == null ? hello.client() : known.toString();
    }
}
