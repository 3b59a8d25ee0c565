package dev.stoker.client.feeder;

import dev.stoker.client.errors.BatchTooLargeException;
import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.DamagedBatchException;
import dev.stoker.client.errors.FencedException;
import dev.stoker.client.errors.LocalReadException;
import dev.stoker.client.errors.OrderMismatchException;
import dev.stoker.client.errors.RefusedException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.client.source.ClientStats;
import dev.stoker.client.source.FeedOptions;
import dev.stoker.client.source.Piece;
import dev.stoker.client.source.Span;
import dev.stoker.client.transport.Buffers;
import dev.stoker.client.transport.LocalReads;
import dev.stoker.client.transport.PageReads;
import dev.stoker.client.transport.Target;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.Durable;
import dev.stoker.schemas.protocol.EpochEnd;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.HandoverFile;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Nack;
import dev.stoker.schemas.protocol.PieceSource;
import dev.stoker.schemas.protocol.Ping;
import dev.stoker.schemas.protocol.Pong;
import dev.stoker.schemas.protocol.Release;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Selected;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.text.Units;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Checks arriving frames and turns them into batches. Called by the input thread; takes the client's lock. */
final class FrameHandler implements FeederConnection.Sink {
    /** How often one piece may arrive damaged, and how often an epoch may end without one of its pieces. */
    private static final int MAX_REFUSED = 4;

    private static final long TELL_NS = TimeUnit.SECONDS.toNanos(1);

    /** How often a piece arrived damaged, and when it last did. */
    private record Refused(int times, long whenNs) {}

    private final ReentrantLock lock;
    private final Condition changed;
    private final Target target;
    private final Network network;
    private final Subscriptions subscriptions;
    private final Buffers buffers;
    private final long bufferBytes;
    private final FeedOptions options;
    /** Damaged pieces of the span being received, until an intact copy arrives. */
    private final Map<Span.Place, Refused> refused = new HashMap<>();

    private final ClientStats clientStats;
    private final PageReads pageReads = new PageReads();

    private @Nullable Span refusedSpan;
    /** Null before the first WELCOME, and while the client switches to another epoch. */
    private @Nullable Welcome welcome;
    /** The columns that the client receives; known with the WELCOME. */
    private @Nullable View view;
    /** The first WELCOME: it fixes the client's feed, stream and run. */
    private @Nullable Welcome first;

    private long joined;
    private boolean tookPart;
    private int renewals;
    private long tellAtNs = System.nanoTime();
    private long bytes;
    private long handedBytes;
    private long corruptPieces;
    private long duplicatePieces;

    /** The objects that a frame handler works with. */
    record Surroundings(
            ReentrantLock lock, Condition changed, Target target, Network network, Subscriptions subscriptions) {}

    FrameHandler(Surroundings around, FeedOptions options, ClientStats clientStats) {
        this.lock = around.lock;
        this.changed = around.changed;
        this.target = around.target;
        this.network = around.network;
        this.subscriptions = around.subscriptions;
        this.clientStats = clientStats;
        this.bufferBytes = options.bufferBytes();
        this.options = options;
        this.buffers = new Buffers(options.bufferBytes());
    }

    /**
     * The WELCOME of the first feeder since the client was opened or switched to another epoch. Later ones agree with
     * it.
     */
    private View view() {
        return Objects.requireNonNull(view, "WELCOME sets it");
    }

    Optional<Welcome> welcome() {
        return Optional.ofNullable(welcome);
    }

    /** The first WELCOME of all. */
    Optional<Welcome> first() {
        return Optional.ofNullable(first);
    }

    /** The client's run; 0 before the first WELCOME. */
    long joined() {
        return joined;
    }

    /** Whether the client only looks: it has not said yet which epoch it reads of a stream that follows its dataset. */
    boolean isLooking() {
        return welcome != null && welcome.follows() && welcome.epoch().isEmpty();
    }

    /** Notes that every feeder that answers has admitted this client. */
    void tookPart() {
        tookPart = true;
    }

    /**
     * Called when all connections were closed before the client asked for a batch. The client forgets a run that only a
     * feeder that it has left named.
     *
     * @return whether the client has taken part in a run
     */
    boolean beginAgain() {
        if (!tookPart) {
            joined = 0;
        }
        forget();
        return tookPart;
    }

    /** Forgets the version: the next epoch can have another. */
    void forget() {
        welcome = null;
        refused.clear();
        renewals = 0;
    }

    Buffers buffers() {
        return buffers;
    }

    long bytes() {
        return bytes;
    }

    /** The part of the received bytes that was read locally, from a feeder's files. */
    long handedBytes() {
        return handedBytes;
    }

    long corruptPieces() {
        return corruptPieces;
    }

    long duplicatePieces() {
        return duplicatePieces;
    }

    EpochNumbering numbering(long epoch) {
        long[] rows = Objects.requireNonNull(welcome, "batches follow WELCOME").laneRows().stream()
                .mapToLong(Long::longValue)
                .toArray();
        return new EpochNumbering(welcome.order(), rows, epoch);
    }

    // ---- BATCH

    @Override
    public ByteBuffer bufferFor(int size) {
        return buffers.take(size);
    }

    @Override
    public void onBatch(FeederConnection connection, ByteBuffer header, ByteBuffer message, int crc)
            throws ConnectionLostException {
        lock.lock();
        try {
            take(connection, header(header, message.remaining()), message, crc);
        } finally {
            lock.unlock();
        }
    }

    private void take(FeederConnection connection, Optional<BatchHeader> header, ByteBuffer message, int crc)
            throws ConnectionLostException {
        if (header.isEmpty()
                || header.get().crc() != crc
                || !subscriptions.wasGiven(header.get().subscription())) {
            onDamage(connection, header, crc);
            buffers.giveBack(message);
        } else if (!accept(connection, header.get(), message)) {
            buffers.giveBack(message);
        }
    }

    @Override
    public void onReference(FeederConnection connection, BatchRef reference) throws ConnectionLostException {
        LocalReads files = connection.files().orElseThrow();
        BatchHeader header = reference.header();
        ByteBuffer message = buffers.take(header.messageBytes());
        pageReads.begin();
        OptionalInt sum = files.read(reference, message);
        long diskNs = pageReads.end();
        message.clear().limit(header.messageBytes());
        // A message that cannot be read counts as one with a wrong checksum.
        int crc = sum.isPresent()
                ? header.identity().crc(header.source(), sum.getAsInt(), header.messageBytes())
                : ~header.crc();
        lock.lock();
        try {
            if (diskNs > 0) {
                // The feeder cannot know the time: the pages were read on this side.
                clientStats.readFromDisk(header.identity(), diskNs);
            }
            files.due().ifPresent(count -> connection.send(new Release(count)));
            handedBytes += header.messageBytes();
            if (crc != header.crc() && ++connection.faults > MAX_REFUSED) {
                // The replacements arrive over the connection. If these are always intact, the files are the cause.
                network.pool().refuseHandover(connection.address());
                throw ConnectionLostException.lost(connection.address() + ": local reads of its chunk files fail here");
            }
            take(connection, Optional.of(header), message, crc);
        } finally {
            lock.unlock();
        }
    }

    private void onFile(FeederConnection connection, HandoverFile file) throws ConnectionLostException {
        if (connection.files().isEmpty()) {
            throw ConnectionLostException.broken(connection.address() + " sent FILE, but local reads were not agreed");
        }
        try {
            connection.files().get().announce(file);
        } catch (LocalReadException e) {
            lock.lock();
            try {
                network.pool().refuseHandover(connection.address());
            } finally {
                lock.unlock();
            }
            throw ConnectionLostException.lost(connection.address() + ": " + e.getMessage());
        }
    }

    private static Optional<BatchHeader> header(ByteBuffer in, int messageBytes) {
        if (in.getInt(72) != 0) {
            return Optional.empty();
        }
        try {
            BatchIdentity identity = new BatchIdentity(
                    in.getLong(8),
                    in.getLong(16),
                    Integer.toUnsignedLong(in.getInt(24)),
                    Integer.toUnsignedLong(in.getInt(28)),
                    in.getLong(32),
                    Short.toUnsignedInt(in.getShort(40)),
                    Short.toUnsignedInt(in.getShort(42)),
                    Integer.toUnsignedLong(in.getInt(44)),
                    Integer.toUnsignedLong(in.getInt(48)),
                    in.get(5) == 1);
            PieceSource source = new PieceSource(Integer.toUnsignedLong(in.getInt(52)), in.getLong(56), in.getInt(64));
            long subscription = Integer.toUnsignedLong(in.getInt(68));
            return Optional.of(
                    new BatchHeader(identity, source, subscription, messageBytes, in.getInt(BatchHeader.CRC_AT)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Stores an intact piece, unless it has arrived before. */
    private boolean accept(FeederConnection connection, BatchHeader header, ByteBuffer message)
            throws ConnectionLostException {
        BatchIdentity identity = header.identity();
        long feedTag = Objects.requireNonNull(welcome, "batches follow WELCOME")
                .feed()
                .id()
                .getMostSignificantBits();
        long fingerprintTag = welcome.fingerprint().tag();
        if (identity.feedTag() != feedTag || identity.fingerprintTag() != fingerprintTag) {
            network.fail(new RefusedException(
                    String.format(
                            "%s sent a batch of feed %016x, fingerprint %016x; expected %016x, %016x: it serves another"
                                    + " feed",
                            connection.address(),
                            identity.feedTag(),
                            identity.fingerprintTag(),
                            feedTag,
                            fingerprintTag),
                    "wrong_feed"));
            return false;
        }
        if (header.source().viewTag() != view().tag()) {
            throw ConnectionLostException.broken(
                    connection.address() + " sent a batch with other columns than were selected");
        }
        Span span = subscriptions.receiving();
        long index = span != null && span.range().epoch() == identity.epoch() ? span.index(identity.number()) : -1;
        if (span == null || index < 0 || !span.requests(index, identity.piece())) {
            duplicatePieces++;
            return false;
        }
        if (index > span.granted) {
            throw ConnectionLostException.broken(connection.address() + " sent epoch " + identity.epoch() + " batch "
                    + identity.number() + "; the grant ends at " + span.number(span.granted));
        }
        Optional<String> mismatch = span.mismatch(index, identity);
        if (mismatch.isPresent()) {
            throw ConnectionLostException.broken(mismatch.get());
        }
        refused.remove(new Span.Place(index, identity.piece()));
        renewals = 0;
        network.sound();
        bytes += message.remaining();
        if (span.add(index, new Piece(header, message, connection, connection.address()))) {
            changed.signalAll();
            if (span.isReceived()) {
                subscriptions.goOn(network.pool().live());
            }
        }
        return true;
    }

    /** Requests a piece again. The order determines which piece it was, because the header itself can be damaged. */
    private void onDamage(FeederConnection connection, Optional<BatchHeader> header, int crc) {
        corruptPieces++;
        Optional<Span> current = subscriptions.current(connection);
        if (current.isEmpty()) {
            return;
        }
        Span span = current.get();
        forgetRefusedOfOthers(span);
        Optional<Span.Place> named = header.map(BatchHeader::identity)
                .filter(identity -> identity.epoch() == span.range().epoch())
                .map(identity -> new Span.Place(span.index(identity.number()), identity.piece()))
                .filter(refused::containsKey);
        Optional<Span.Place> victim = named.or(() -> span.lowestMissing(connection.lanes, isAwaitedAgain()));
        if (victim.isEmpty()) {
            return;
        }
        int times = refused.getOrDefault(victim.get(), new Refused(0, 0)).times() + 1;
        refused.put(victim.get(), new Refused(times, System.nanoTime()));
        long number = span.number(victim.get().index());
        if (times > MAX_REFUSED) {
            network.fail(new DamagedBatchException("epoch " + span.range().epoch() + " batch " + number + " piece "
                    + victim.get().piece() + " arrived damaged " + times + " times from feeder "
                    + connection.address()
                    + "; run `stoker verify` on the dataset; if it is intact,"
                    + " check the memory and network of both machines"));
            return;
        }
        connection.send(new Nack(
                connection.subscription,
                span.range().epoch(),
                number,
                victim.get().piece(),
                crc));
    }

    private Predicate<Span.Place> isAwaitedAgain() {
        return refused::containsKey;
    }

    private void forgetRefusedOfOthers(Span span) {
        if (refusedSpan != span) {
            refused.clear();
            refusedSpan = span;
        }
    }

    /** Subscribes again if a rejected piece does not arrive, for example because the damaged header hid its place. */
    void renewStale(long nowNs, long refetchNs) {
        if (refusedSpan != subscriptions.receiving()) {
            refused.clear();
        }
        if (refused.values().stream().anyMatch(each -> nowNs - each.whenNs() > refetchNs)) {
            refused.replaceAll((place, each) -> new Refused(each.times(), nowNs));
            for (FeederConnection connection : network.pool().live()) {
                if (subscriptions.current(connection).isPresent()) {
                    subscriptions.subscribe(connection);
                }
            }
        }
    }

    // // ---- other frames

    @Override
    public void onFrame(FeederConnection connection, Frame frame) throws ConnectionLostException {
        if (frame instanceof HandoverFile file) {
            onFile(connection, file);
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
                case EPOCH_END -> onEpochEnd(connection, (EpochEnd) frame);
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
        if (first != null && !found.feed().id().equals(first.feed().id())) {
            throw ConnectionLostException.crossLanes(connection.address() + " now serves another feed ("
                    + found.feed().name() + ")");
        }
        if (welcome == null) {
            welcome = found;
            joined = isLooking() ? joined : Math.max(joined, found.run());
            first = first == null ? found : first;
            view = options.viewOrWhole(found);
            subscriptions.size(
                    bufferBytes / Math.max(1, found.largestBatchBytes()),
                    found.laneRows().size());
            changed.signalAll();
        } else if (!found.fingerprint().equals(welcome.fingerprint())) {
            network.fail(new StateMismatchException(target + " was restarted with another dataset version or order: "
                    + difference(welcome, found) + "; restart the trainer"));
            throw ConnectionLostException.lost(connection.address() + " now serves another dataset version or order");
        }
        connection.welcomed(System.nanoTime(), found.largestBatchBytes());
        if (found.handover() > network.pool().handover(connection)) {
            throw ConnectionLostException.broken(
                    connection.address() + " offers " + found.handover() + " files without a request");
        }
        if (found.handover() > 0) {
            connection.handsOver(found.handover());
        }
        connection.isReadOnly = found.readOnly();
        if (!view().isWhole() && !isLooking()) {
            connection.send(Select.of(view()));
        }
        if (found.takesStats()) {
            connection.tells = true;
            connection.send(clientStats.frame(bytes, network.waitingNs(System.nanoTime())));
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
        if (view().isWhole() || selected.viewTag() != view().tag()) {
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
            Stats now = clientStats.frame(bytes, network.waitingNs(System.nanoTime()));
            listening.forEach(connection -> connection.send(now));
        }
    }

    /** Whether a piece of a batch arrived damaged and was requested again. */
    boolean isRefused(Span span, long index) {
        return span == refusedSpan && refused.keySet().stream().anyMatch(place -> place.index() == index);
    }

    private static String difference(Welcome mine, Welcome theirs) {
        List<String> differing = new java.util.ArrayList<>();
        if (!mine.stream().dataset().equals(theirs.stream().dataset())) {
            differing.add("dataset was " + mine.stream().dataset() + ", is "
                    + theirs.stream().dataset());
        }
        if (mine.stream().version() != theirs.stream().version()) {
            differing.add("version was " + mine.stream().version() + ", is "
                    + theirs.stream().version());
        }
        if (!mine.stream().split().equals(theirs.stream().split())) {
            differing.add("split was " + mine.stream().split() + ", is "
                    + theirs.stream().split());
        }
        if (!mine.order().equals(theirs.order())) {
            differing.add("order was " + mine.order().toJson() + ", is "
                    + theirs.order().toJson());
        }
        Fingerprint was = mine.fingerprint();
        return differing.isEmpty()
                ? "fingerprint was " + was.text() + ", is "
                        + theirs.fingerprint().text()
                : String.join("; ", differing);
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
        if (code == ErrorCode.WRONG_FEED && first != null) {
            throw lost; // this client's feed has moved, and another feed has its port
        }
        if (code == ErrorCode.FENCED && network.pool().isAlias(connection)) {
            throw lost; // this client has taken the place itself, by the feeder's other address
        }
        switch (code) {
            case PLACE_TAKEN -> network.placeRefused(connection, text);
            case FENCED -> network.fail(new FencedException(text));
            case CORRUPT -> network.fail(new DamagedBatchException(text));
            case UNAUTHORIZED -> network.fail(new UnauthorizedException(text));
            case VERSION_MISMATCH -> network.fail(new StateMismatchException(text));
            case ORDER_MISMATCH -> network.fail(new OrderMismatchException(text));
            case TOO_LARGE -> network.fail(new BatchTooLargeException(text));
            case UNSUPPORTED_PROTOCOL, WRONG_FEED, UNKNOWN_STREAM, WORLD_SIZE_MISMATCH ->
                network.fail(new RefusedException(text, error.code()));
            case SHUTTING_DOWN, ORIGIN_UNAVAILABLE -> {}
            default -> network.broken(new RefusedException(text, error.code()));
        }
        throw lost;
    }

    private void onEpochEnd(FeederConnection connection, EpochEnd end) throws ConnectionLostException {
        Optional<Span> span = subscriptions.current(connection);
        if (span.isEmpty() || end.subscription() != connection.subscription) {
            return;
        }
        forgetRefusedOfOthers(span.get());
        Optional<Span.Place> missing = span.get().lowestMissing(connection.lanes, isAwaitedAgain());
        if (missing.isEmpty()) {
            return;
        }
        renewals++;
        if (renewals > MAX_REFUSED) {
            throw ConnectionLostException.broken(connection.address() + " ended epoch "
                    + span.get().range().epoch()
                    + " without batch " + span.get().number(missing.get().index()) + " piece "
                    + missing.get().piece());
        }
        subscriptions.subscribe(connection);
    }
}
