package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.session.group.Admission;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.session.group.Membership;
import dev.stoker.server.session.receipts.AckTable;
import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One trainer's connection. Its reader thread, which runs {@link #run}, handles the trainer's frames; a second thread,
 * the {@link Sender}, writes. Either thread ends the session for both.
 */
final class Session implements Runnable, Membership.Occupant {
    private static final Logger LOG = LoggerFactory.getLogger(Session.class);
    private static final int READ_BYTES = 16 << 10;

    /** Maximum number of files that a trainer knows at a time. */
    private static final int MAX_FILES = 8192;

    private final Sessions sessions;
    private final Shared shared;
    private final long number;
    private final Admission admission;
    private final Wire channel;
    private final FrameDecoder decoder;
    private final byte[] rest;
    private final SendQueue sendQueue;
    private final StallClock clock = new StallClock();
    private final ReferredChunks leases = new ReferredChunks();
    private final AckTable.SessionReceipts receipts;
    private final Pulse pulse;

    /** Set when the trainer is admitted; other threads read it. */
    private volatile @Nullable Membership membership;

    /** Null for a session without a place, which only looks. */
    private @Nullable Reading reading;

    /**
     * What the sessions of a server have in common.
     *
     * @param chunks from which batches and samples are read
     * @param acks receipts of all trainers
     * @param consumers that the end of the feed depends on
     */
    record Shared(ChunkResources chunks, AckTable acks, Consumers consumers, Counters counters, Threads threads) {}

    /** @param rest the bytes that followed HELLO */
    Session(Sessions sessions, long number, Admission admission, Wire channel, FrameDecoder decoder, byte[] rest) {
        this.sessions = sessions;
        this.shared = sessions.shared();
        this.number = number;
        this.admission = admission;
        this.channel = channel;
        this.decoder = decoder;
        this.rest = rest;
        this.sendQueue = new SendQueue(shared.threads().lock());
        this.pulse = new Pulse(shared.threads()::nanoTime);
        this.receipts = shared.acks().session(sendQueue::durable, this::makeReconnect, this::refuseReceipts);
    }

    /** Serves the trainer until one side ends, and closes the connection. */
    @Override
    public void run() {
        Threads.@Nullable Started sending = null;
        try {
            Membership to = admission.isLook() ? look() : join();
            PieceChannel out = new PieceChannel(channel, shared.threads().lock());
            Sender sender = new Sender(this, shared, to, localReads(), out, sendQueue);
            sending = sessions.start(sender, "stoker-send-" + number);
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

    private Membership join() throws IOException, InterruptedException {
        Membership joined = Membership.join(admission, this, shared.threads()::nowMs);
        begin(joined);
        reading = new Reading(this, shared, joined, leases, sendQueue, receipts);
        sendQueue.add(joined.welcome(number, localFiles()));
        LOG.info(
                "Session {}: {}{} from {} ({})",
                number,
                joined.identity(),
                joined.only().isPresent()
                        ? ", epoch " + joined.only().getAsLong() + " of version "
                                + joined.order().stream().version()
                        : "",
                channel.peer(),
                admission.hello().client());
        return joined;
    }

    /** Describes the stream to a client that takes no place. Leaves no state behind. */
    private Membership look() throws InterruptedException, ProtocolException {
        Membership looking = Membership.look(admission);
        begin(looking);
        sendQueue.add(looking.welcome(number, 0));
        LOG.debug(
                "Session {}: {} observes ({})",
                number,
                looking.identity(),
                admission.hello().client());
        return looking;
    }

    private void begin(Membership to) {
        membership = to;
        to.watch().connected();
        decoder.welcomed();
    }

    /** Returns whether the session was admitted for a look only. */
    boolean isLooking() {
        return admission.hello().caller().look();
    }

    /**
     * Returns how many files the trainer may know. Local reads are only for trainers of this machine, and only if
     * chunks are files of this machine.
     */
    private int localFiles() throws IOException {
        return channel.isUnix() && admission.stream().stream().source().hasFiles()
                ? Math.min(admission.hello().reading().localFiles(), MAX_FILES)
                : 0;
    }

    private Sender.LocalReads localReads() throws IOException {
        int files = reading == null ? 0 : localFiles();
        return new Sender.LocalReads(
                files > 0 ? new SentFiles(files, admission.hello().reading().localReadsFrom()) : null, leases);
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
                closeLater();
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
        PieceChannel out = new PieceChannel(channel, shared.threads().lock());
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

    private void read(Membership to, Sender sender) throws IOException, InterruptedException {
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

    private void handleAll(ByteBuffer in, Membership to, Sender sender) throws IOException, InterruptedException {
        while (in.hasRemaining() && !sendQueue.isEnded()) {
            Optional<Frame> frame = decoder.next(in);
            if (frame.isPresent()) {
                handle(frame.get(), to, sender);
            }
        }
    }

    private void handle(Frame frame, Membership to, Sender sender) throws IOException, InterruptedException {
        if (Reading.FRAMES.contains(frame.type())) {
            if (reading == null) {
                throw new ProtocolException(
                        isLooking() ? ErrorCode.BAD_FRAME : ErrorCode.UNSUPPORTED_PROTOCOL,
                        frame.type() + ": " + whyOnlyLooking());
            }
            reading.handle(frame);
        } else if (frame instanceof GetSamples || frame instanceof ListSamples) {
            SampleAnswers.queue(frame, admission.hello(), sendQueue);
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

    private String whyOnlyLooking() {
        return isLooking()
                ? "this session only observes, as its HELLO requested; reconnect to read"
                : "stream " + admission.stream().stream().name()
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
        closeLater();
    }

    /** Closes the channel in a second, by when the peer has read its farewell; a thread blocked on it is released. */
    void closeLater() {
        sessions.closeLater(channel);
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
        Membership to = membership;
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
        closeLater();
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
            Membership to = membership;
            if (to != null) {
                to.watch().left();
            }
        } finally {
            sessions.left(this);
        }
    }

    private void vacate() {
        Membership to = membership;
        if (to != null) {
            to.leave();
        }
    }

    @Override
    public String toString() {
        Membership to = membership;
        return to == null ? admission.hello().client() : to.identity().toString();
    }
}
