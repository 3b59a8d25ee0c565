package dev.stoker.client;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.delivery.BatchNumbers;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A connection of a {@link FakeFeeder}: answers as the protocol requires, and commits the requested faults. One thread
 * reads, any thread sends.
 */
final class FakeSession implements Runnable {
    private static final long FEED_TAG = FakeStream.FEED.getMostSignificantBits();

    private final FakeFeeder feeder;
    private final InputStream in;
    private final OutputStream out;
    private final Closeable client;
    private final boolean isNear;
    private boolean hasStats;
    private int localFiles;
    private final Set<String> told = ConcurrentHashMap.newKeySet();
    private SkipList skip = SkipList.NONE;
    private Subscribe subscription;
    private long granted = -1;
    private long index;
    private long acknowledged;
    private long rows;
    private boolean ended;

    FakeSession(FakeFeeder feeder, InputStream in, OutputStream out, Closeable client, boolean isNear) {
        this.feeder = feeder;
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
                for (Optional<Frame> frame = decoder.next(arrived); frame.isPresent(); frame = decoder.next(arrived)) {
                    if (!feeder.isSilent) {
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
            feeder.left(this);
        }
    }

    private void handle(FrameDecoder decoder, Frame frame) throws IOException {
        switch (frame.type()) {
            case HELLO -> {
                feeder.hellos.add((Hello) frame);
                skip = ((Hello) frame).reading().skip();
                if (feeder.refusal.isPresent()) {
                    send(feeder.refusal.get());
                    close();
                    return;
                }
                decoder.welcomed();
                int offered = isNear ? ((Hello) frame).reading().localFiles() : 0;
                localFiles = feeder.localFiles.isPresent() ? Math.min(offered, 1000) : 0;
                send(feeder.stream.welcome(feeder.map(), !feeder.isOld).withLocalReads(localFiles));
            }
            case STATS -> {
                hasStats = true;
                feeder.stats.add((Stats) frame);
            }
            case RELEASE -> feeder.released = ((Release) frame).references();
            case SUBSCRIBE -> {
                subscription = (Subscribe) frame;
                feeder.subscriptions++;
                granted = -1;
                index = 0;
                rows = 0;
                ended = false;
                if (subscription.emptyShare()) {
                    feeder.emptyShares.add(subscription);
                    acknowledged++;
                    if (feeder.isDurable) {
                        send(new Durable(acknowledged));
                    }
                }
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
                feeder.ackFrames++;
                ack.entries()
                        .forEach(
                                entry -> feeder.receipts.add(ack.epoch() + " " + entry.number() + " " + entry.piece()));
                acknowledged += ack.count();
                if (feeder.isDurable) {
                    send(new Durable(acknowledged));
                }
            }
            case NACK -> {
                Nack nack = (Nack) frame;
                feeder.nacks.add(nack);
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
        EpochSize size = feeder.stream.numbering(subscription.epoch()).size();
        return new BatchNumbers(
                        subscription.first(),
                        subscription.stride(),
                        subscription.count(),
                        skip.in(subscription.epoch(), size))
                .number(index);
    }

    private List<DeliveredPiece> planned(long number) {
        return Delivery.batch(feeder.stream.numbering(subscription.epoch()), subscription.tail(), number)
                .pieces();
    }

    private boolean isMine(DeliveredPiece piece) {
        return subscription.lanes().isEmpty() || subscription.lanes().contains(piece.lane());
    }

    private void send(List<DeliveredPiece> planned, int piece, long number, boolean isFirstTime) throws IOException {
        DeliveredPiece which = planned.get(piece);
        ByteBuffer message = feeder.stream.message(which);
        BatchIdentity identity = new BatchIdentity(
                FEED_TAG,
                new Fingerprint(feeder.stream.fingerprint()).tag(),
                subscription.epoch(),
                feeder.isConfused ? which.lane() + 1 : which.lane(),
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
        long[] cost = isFirstTime ? feeder.delays.get(feeder.served()) : null;
        if (cost != null) {
            LockSupport.parkNanos((cost[0] + cost[1] + cost[2]) * 1000);
        }
        Optional<FakeFeeder.Fault> fault = isFirstTime || feeder.isAlwaysDamaged ? feeder.next() : Optional.empty();
        if (fault.filter(FakeFeeder.Fault.LEAVE_OUT::equals).isPresent()) {
            return;
        }
        if (fault.filter(FakeFeeder.Fault.FLIP::equals).isPresent()) {
            bytes[BatchHeader.BYTES + 100] ^= 4;
        }
        if (fault.filter(FakeFeeder.Fault.FLIP_HEADER::equals).isPresent()) {
            bytes[33] ^= 4;
        }
        if (fault.filter(FakeFeeder.Fault.CUT::equals).isPresent()) {
            write(Arrays.copyOf(bytes, 90));
            close();
            throw new IOException("cut");
        }
        if (localFiles > 0 && isFirstTime && fault.isEmpty()) {
            refer(header, message.flip());
        } else {
            write(bytes);
        }
        if (cost != null && hasStats) {
            send(new Delay(
                    subscription.subscription(), subscription.epoch(), number, piece, cost[0], cost[1], cost[2]));
        }
        if (fault.filter(FakeFeeder.Fault.TWICE::equals).isPresent()) {
            write(bytes);
        }
    }

    /**
     * Sends the message's location: its first half in the frame, then some zeros if they are part of it, the rest in a
     * file.
     */
    private void refer(BatchHeader header, ByteBuffer message) throws IOException {
        String name = header.identity().lane() + "";
        Path file = feeder.localFiles.orElseThrow().resolve(name);
        long number = header.identity().lane();
        int length = message.remaining();
        int half = length / 2;
        long at;
        synchronized (feeder) {
            if (!Files.exists(file)) {
                Files.write(file, new byte[1 << 20]);
            }
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                // Overwritten only after 200 others.
                at = feeder.references % 200 * 4096L;
                channel.write(message.duplicate().position(half), at);
            }
        }
        if (told.add(name)) {
            feeder.filesTold++;
            Map<String, Object> found = Files.readAttributes(file, "unix:dev,ino");
            long inode = (Long) found.get("ino") + (feeder.isElsewhere ? 1 : 0);
            send(new FileAnnouncement(number, (Long) found.get("dev"), inode, 1 << 20, file.toString()));
        }
        if (feeder.references >= feeder.cutsFrom) {
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
        feeder.references++;
        send(new BatchRef(header, message.duplicate().limit(half), slices));
    }

    @SuppressWarnings("ByteBufferBackingArray") // Frames are encoded into whole arrays.
    void send(Frame frame) {
        try {
            ByteBuffer bytes = Frames.encode(frame);
            write(Arrays.copyOf(bytes.array(), bytes.limit()));
        } catch (IOException e) {
            close();
        }
    }

    private synchronized void write(byte[] bytes) throws IOException {
        if (!feeder.isSilent) {
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
