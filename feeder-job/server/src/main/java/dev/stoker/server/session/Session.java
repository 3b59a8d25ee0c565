package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.security.Right;
import dev.stoker.server.security.TokenRights;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.session.group.Claim;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.session.group.Group;
import dev.stoker.server.session.group.Membership;
import dev.stoker.server.session.group.Occupant;
import dev.stoker.server.session.group.SessionWatch;
import dev.stoker.server.session.receipts.AckTable;
import dev.stoker.server.threads.Threads;
import dev.stoker.server.window.GroupOrder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalLong;
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
    private final Pulse pulse;

    /** Set when the trainer is admitted; other threads read it. */
    private volatile @Nullable Admitted admitted;

    /** Null for a session that has entered no group. */
    private @Nullable Membership membership;
    /** Null for a session without a place, which only looks. */
    private @Nullable Reading reading;

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
            Admitted to = admit();
            Sender sender = new Sender(server, this, to, channel, sendQueue, clock);
            sending = server.start(sender, "stoker-send-" + number);
            read(to, sender);
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

    private Admitted admit() throws IOException, InterruptedException {
        TokenRights rights = server.rights(hello);
        FeedStream stream = server.stream(hello.stream());
        // If each epoch has a separate version, a trainer that does not name an epoch can only look.
        return hello.caller().look() || (stream.follows() && hello.epoch().isEmpty())
                ? look(stream)
                : join(stream, rights);
    }

    private Admitted join(FeedStream stream, TokenRights rights) throws IOException, InterruptedException {
        Membership member = new Membership(stream.groups(), hello, this);
        membership = member;
        Group group = member.group();
        if (group.isDisplacing(hello, rights)) {
            rights.require(Right.ADMINISTER, "replacing a connected trainer by run " + hello.run());
        }
        // Before the version of an epoch is chosen, because the choice is permanent.
        group.check(hello, rights);
        long version = stream.version(hello);
        OptionalLong only = stream.follows() ? hello.epoch() : OptionalLong.empty();
        Group.Joined place = member.join(
                rights, stream.at(version), only.orElse(0), server.threads().nowMs());
        for (Occupant displaced : place.displaced()) {
            displaced.end(
                    ErrorCode.FENCED,
                    Claim.of(hello, rights).who() + " has replaced this trainer in group " + hello.group()
                            + " of stream " + stream.stream().name()
                            + ": end this trainer, or let it read in another group (group=\"…\")");
        }
        Identity identity = place.identity();
        int localFiles = localFiles(stream);
        Admitted joined = begin(new Admitted(
                stream,
                place.order(),
                identity,
                group.watch(hello, identity),
                only,
                localFiles > 0 ? new SentFiles(localFiles, hello.localReadsFrom()) : null,
                new Leases()));
        reading = new Reading(server, this, hello, rights, group, joined, sendQueue, receipts);
        Welcome welcome =
                server.welcome(stream, joined.order(), identity, number).withLocalReads(localFiles);
        welcome = stream.follows() ? welcome.following(only) : welcome;
        sendQueue.add(rights.includes(Right.ACKNOWLEDGE) ? welcome : welcome.forReadingOnly());
        LOG.info(
                "Session {}: {}{} from {} ({})",
                number,
                identity,
                only.isPresent() ? ", epoch " + only.getAsLong() + " of version " + version : "",
                channel.peer(),
                hello.client());
        return joined;
    }

    /** Describes the stream to a client that takes no place. Leaves no state behind. */
    private Admitted look(FeedStream stream) throws InterruptedException, ProtocolException {
        GroupOrder order = stream.look(hello);
        Identity identity = Group.identity(stream.stream().name(), hello, hello.run());
        Admitted looking = begin(new Admitted(
                stream,
                order,
                identity,
                new SessionWatch(identity, hello.client()),
                OptionalLong.empty(),
                null,
                new Leases()));
        Welcome welcome = server.welcome(stream, order, identity, number);
        sendQueue.add(stream.follows() ? welcome.following(stream.begun(hello)) : welcome);
        LOG.debug("Session {}: {} observes ({})", number, identity, hello.client());
        return looking;
    }

    private Admitted begin(Admitted to) {
        admitted = to;
        to.watch().connected();
        decoder.welcomed();
        return to;
    }

    /** Returns whether the session was admitted for a look only. */
    boolean isLooking() {
        return hello.caller().look();
    }

    /**
     * Returns how many files the trainer may know. Local reads are only for trainers of this machine, and only if
     * chunks are files of this machine.
     */
    private int localFiles(FeedStream stream) throws IOException {
        return channel.isUnix() && stream.stream().source().hasFiles() ? Math.min(hello.localFiles(), MAX_FILES) : 0;
    }

    /** Returns the number of the session, which is unique on this server. */
    long number() {
        return number;
    }

    /** Sends the farewell and leaves the group, even if other steps fail. */
    private void end(Threads.@Nullable Started sending) {
        try {
            sendQueue.end(null);
            if (sending == null) {
                // The farewell must not wait for a peer that does not read.
                server.closeLater(channel);
                sendFarewell();
            }
            drain();
        } catch (RuntimeException | Error e) {
            LOG.error("Session {} ({}) failed while it ended", number, this, e);
        } finally {
            join(sending);
            leave();
        }
    }

    private void sendFarewell() {
        PieceChannel out = new PieceChannel(channel, server.threads().lock());
        Frame farewell = sendQueue.farewell();
        try {
            if (farewell != null) {
                out.write(farewell);
            }
        } catch (IOException e) {
            LOG.debug("{} lost its connection", this, e);
        }
        out.shut();
    }

    private void read(Admitted to, Sender sender) throws IOException, InterruptedException {
        ByteBuffer in = ByteBuffer.allocate(READ_BYTES);
        handleAll(ByteBuffer.wrap(rest), to, sender);
        while (!sendQueue.isEnded()) {
            in.clear();
            if (channel.read(in) < 0) {
                throw new IOException("the trainer closed the connection");
            }
            pulse.heard();
            handleAll(in.flip(), to, sender);
        }
    }

    private void handleAll(ByteBuffer in, Admitted to, Sender sender) throws IOException, InterruptedException {
        while (in.hasRemaining() && !sendQueue.isEnded()) {
            Optional<Frame> frame = decoder.next(in);
            if (frame.isPresent()) {
                handle(frame.get(), to, sender);
            }
        }
    }

    private void handle(Frame frame, Admitted to, Sender sender) throws IOException, InterruptedException {
        if (Reading.FRAMES.contains(frame.type())) {
            if (reading == null) {
                throw new ProtocolException(
                        hello.caller().look() ? ErrorCode.BAD_FRAME : ErrorCode.UNSUPPORTED_PROTOCOL,
                        frame.type() + ": " + whyOnlyLooking(to.stream()));
            }
            reading.handle(frame);
        } else if (frame instanceof GetSamples || frame instanceof ListSamples) {
            SampleAnswers.queue(frame, hello, sendQueue);
        } else if (frame instanceof Stats stats) {
            to.watch().told(stats);
        } else if (frame instanceof Ping ping) {
            sendQueue.add(new Pong(ping.opaque()));
            sender.answer();
        } else if (frame instanceof Bye) {
            sendQueue.end(null);
        } else if (frame instanceof ErrorMessage error) {
            LOG.info("Session {} ({}) was ended by the trainer: {} {}", number, this, error.code(), error.message());
            sendQueue.end(null);
        }
    }

    private String whyOnlyLooking(FeedStream stream) {
        return hello.caller().look()
                ? "this session only observes, as its HELLO requested; reconnect to read"
                : "stream " + stream.stream().name()
                        + " follows its dataset, but HELLO did not say which epoch the"
                        + " trainer reads; reconnect and name it";
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
        Admitted to = admitted;
        if (to != null && to.stream() == of) {
            sendQueue.laneMap(map.forLanes(to.order().order().lanes()));
        }
    }

    long durable() {
        return receipts.durable();
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
            Admitted to = admitted;
            if (to != null) {
                to.leases().close();
            }
            receipts.end();
            if (to != null) {
                to.watch().left();
            }
        } finally {
            server.left(this);
        }
    }

    private void vacate() {
        if (membership != null) {
            membership.leave();
        }
    }

    @Override
    public String toString() {
        Admitted to = admitted;
        return to == null ? hello.client() : to.identity().toString();
    }
}
