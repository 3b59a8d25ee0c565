package dev.stoker.client.feeder;

import dev.stoker.client.errors.BatchTooLargeException;
import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.FencedException;
import dev.stoker.client.errors.OrderMismatchException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.ClientStats;
import dev.stoker.client.transport.Buffers;
import dev.stoker.client.transport.Target;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Frame.Selected;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.text.Units;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Handles arriving frames other than batches. Called by the input thread; takes the client's lock. */
final class FrameHandler implements FeederConnection.Sink {
    private static final long TELL_NS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock;
    private final Condition changed;
    private final Target target;
    private final Network network;
    private final Subscriptions subscriptions;
    private final long bufferBytes;
    private final ClientStats clientStats;
    private final Agreement agreement;
    private final BatchReceiver batches;

    private long tellAtNs = System.nanoTime();

    /** The objects that a frame handler works with. */
    record Surroundings(
            ReentrantLock lock, Condition changed, Target target, Network network, Subscriptions subscriptions) {}

    FrameHandler(Surroundings around, ClientOptions options, ClientStats clientStats) {
        this.lock = around.lock;
        this.changed = around.changed;
        this.target = around.target;
        this.network = around.network;
        this.subscriptions = around.subscriptions;
        this.clientStats = clientStats;
        this.bufferBytes = options.bufferBytes();
        this.agreement = new Agreement(options);
        this.batches = new BatchReceiver(around, agreement, clientStats, new Buffers(options.bufferBytes()));
    }

    Agreement agreement() {
        return agreement;
    }

    BatchReceiver batches() {
        return batches;
    }

    /** Begins again, as {@link Agreement#beginAgain} does. */
    boolean beginAgain() {
        batches.forget();
        return agreement.beginAgain();
    }

    /** Forgets the version: the next epoch can have another. */
    void forget() {
        agreement.forget();
        batches.forget();
    }

    @Override
    public ByteBuffer bufferFor(int size) {
        return batches.buffers().take(size);
    }

    @Override
    public void onBatch(FeederConnection connection, ByteBuffer header, ByteBuffer message, int crc)
            throws ConnectionLostException {
        batches.onBatch(connection, header, message, crc);
    }

    @Override
    public void onReference(FeederConnection connection, BatchRef reference) throws ConnectionLostException {
        batches.onReference(connection, reference);
    }

    @Override
    public void onFrame(FeederConnection connection, Frame frame) throws ConnectionLostException {
        if (frame instanceof FileAnnouncement file) {
            batches.onFile(connection, file);
            return;
        }
        lock.lock();
        try {
            switch (frame.type()) {
                case ERROR -> onError(connection, (ErrorMessage) frame);
                case WELCOME -> onWelcome(connection, (Welcome) frame);
                case BYE -> throw ConnectionLostException.lost(connection.address() + " closed the session (BYE)");
                case DURABLE -> {
                    if (!subscriptions.durable(connection, ((Durable) frame).entries())) {
                        throw ConnectionLostException.broken(
                                connection.address() + " calls " + ((Durable) frame).entries()
                                        + " durable receipts, but was sent " + connection.sentEntries);
                    }
                }
                case LANE_MAP -> onLaneMap((LaneMap) frame);
                case EPOCH_END -> batches.onEpochEnd(connection, (EpochEnd) frame);
                case PING -> connection.send(new Pong(((Ping) frame).opaque()));
                case DELAY -> clientStats.explain((Delay) frame);
                case SELECTED -> onSelected(connection, (Selected) frame);
                case PONG -> connection.ponged = Math.max(connection.ponged, ((Pong) frame).opaque());
                default ->
                    throw ConnectionLostException.broken(
                            connection.address() + " sent an unexpected frame " + frame.type());
            }
        } finally {
            lock.unlock();
        }
    }

    private void onWelcome(FeederConnection connection, Welcome found) throws ConnectionLostException {
        if (agreement.isOfAnotherFeed(found)) {
            throw ConnectionLostException.crossLanes(connection.address() + " now serves another feed ("
                    + found.feed().name() + ")");
        }
        if (agreement.adopt(found)) {
            subscriptions.size(
                    bufferBytes / Math.max(1, found.pass().largestBatchBytes()),
                    found.pass().laneRows().size());
            changed.signalAll();
        }
        Optional<String> difference = agreement.difference(found);
        if (difference.isPresent()) {
            network.fail(new StateMismatchException(target + " was restarted with another dataset version or order: "
                    + difference.get() + "; restart the trainer"));
            throw ConnectionLostException.lost(connection.address() + " now serves another dataset version or order");
        }
        connection.welcomed(System.nanoTime(), found.pass().largestBatchBytes());
        if (found.session().localFiles() > network.pool().local().localFiles(connection)) {
            throw ConnectionLostException.broken(
                    connection.address() + " offers " + found.session().localFiles() + " files without a request");
        }
        if (found.session().localFiles() > 0) {
            connection.readsLocally(found.session().localFiles());
        }
        connection.isReadOnly = found.session().readOnly();
        if (!agreement.view().isWhole() && !agreement.isLooking()) {
            connection.send(Select.of(agreement.view()));
        }
        if (found.session().takesStats()) {
            connection.tells = true;
            connection.send(clientStats.frame(batches.bytes(), network.waitingNs(System.nanoTime())));
        }
        network.pool().welcomed(connection);
        network.admission().welcomed(connection.address(), System.nanoTime());
        onLaneMap(found.laneMap());
        if (connection.isNear()) {
            network.pool().rename(connection);
        } else {
            network.comeNearer(connection);
        }
    }

    private void onSelected(FeederConnection connection, Selected selected) throws ConnectionLostException {
        if (agreement.view().isWhole() || selected.viewTag() != agreement.view().tag()) {
            throw ConnectionLostException.broken(
                    connection.address() + " has selected other columns than it was asked for");
        }
        connection.limitBatches(selected.largestBatchBytes());
        subscriptions.size(bufferBytes / Math.max(1, selected.largestBatchBytes()), subscriptions.lanes());
    }

    /** Sends the trainer's statistics to the feeders that accept them, if a report is due. */
    void tellStatsIfDue(long nowNs) {
        if (nowNs - tellAtNs >= 0 && subscriptions.receiving() != null) {
            tellStats(nowNs);
        }
    }

    void tellStats(long nowNs) {
        tellAtNs = nowNs + TELL_NS;
        List<FeederConnection> listening = network.pool().live().stream()
                .filter(connection -> connection.tells)
                .toList();
        if (!listening.isEmpty()) {
            Stats now = clientStats.frame(batches.bytes(), network.waitingNs(System.nanoTime()));
            listening.forEach(connection -> connection.send(now));
        }
    }

    private void onLaneMap(LaneMap map) throws ConnectionLostException {
        if (map.lanes().size() != subscriptions.lanes()) {
            throw ConnectionLostException.broken("the lane map has "
                    + Units.plural(map.lanes().size(), "lane") + ", the stream has " + subscriptions.lanes());
        }
        if (network.pool().adopt(map, System.nanoTime())) {
            network.hurry();
        }
    }

    private void onError(FeederConnection connection, ErrorMessage error) throws ConnectionLostException {
        String text = connection.address() + ": " + error.message();
        ErrorCode code = ErrorCode.byText(error.code()).orElse(ErrorCode.INTERNAL);
        boolean isElsewhere =
                code == ErrorCode.SHUTTING_DOWN || code == ErrorCode.ORIGIN_UNAVAILABLE || code == ErrorCode.WRONG_FEED;
        ConnectionLostException lost = isElsewhere
                ? ConnectionLostException.crossLanes(text + " (" + error.code() + ")")
                : ConnectionLostException.lost(text + " (" + error.code() + ")");
        if (code == ErrorCode.WRONG_FEED && agreement.first().isPresent()) {
            throw lost; // this client's feed has moved, and another feed has its port
        }
        if (code == ErrorCode.FENCED && network.pool().lanes().isAlias(connection.address())) {
            throw lost; // this client has taken the place itself, by the feeder's other address
        }
        switch (code) {
            case PLACE_TAKEN -> network.placeRefused(connection, text);
            case FENCED -> network.fail(new FencedException(text));
            case CORRUPT -> network.fail(new CorruptBatchException(text));
            case UNAUTHORIZED -> network.fail(new UnauthorizedException(text));
            case VERSION_MISMATCH -> network.fail(new StateMismatchException(text));
            case ORDER_MISMATCH -> network.fail(new OrderMismatchException(text));
            case TOO_LARGE -> network.fail(new BatchTooLargeException(text));
            case UNSUPPORTED_PROTOCOL, WRONG_FEED, UNKNOWN_STREAM, WORLD_SIZE_MISMATCH ->
                network.fail(new FeedProtocolException(text, error.code()));
            case SHUTTING_DOWN, ORIGIN_UNAVAILABLE -> {}
            default -> network.broken(new FeedProtocolException(text, error.code()));
        }
        throw lost;
    }
}
