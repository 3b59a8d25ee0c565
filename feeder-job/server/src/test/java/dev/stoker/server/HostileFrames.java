package dev.stoker.server;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/** Generates the frames of a hostile trainer: a valid session in which a few things are then corrupted. */
public final class HostileFrames {
    /** Each of the first sessions has a separate group, whose order is not fixed yet. */
    private static final int FRESH_GROUPS = 100;

    private static final int GROUPS = 20;
    private static final long[] EXTREMES = {
        0,
        1,
        -1,
        9,
        10,
        11,
        255,
        65_535,
        Integer.MAX_VALUE,
        1L << 31,
        (1L << 32) - 1,
        1L << 62,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };
    private static final int PREFIX = 8;
    private static final int CHECKSUM = 4;

    private final Random random;
    private final long batches;
    private final Participant participant;
    private final List<byte[]> frames = new ArrayList<>();

    private HostileFrames(Random random, long batches) {
        this.random = random;
        this.batches = batches;
        int worldSize = 1 + random.nextInt(3);
        this.participant = Participant.rank(random.nextInt(worldSize), worldSize);
    }

    /**
     * Returns the bytes of a session.
     *
     * @param index index of the session
     * @param batches number of batches of an epoch
     */
    public static byte[] session(Random random, int index, long batches) {
        HostileFrames session = new HostileFrames(random, batches);
        session.add(session.hello(index));
        session.behave();
        for (int i = random.nextInt(4); i >= 0; i--) {
            session.misbehave();
        }
        return session.bytes();
    }

    private void add(Frame frame) {
        frames.add(encoded(frame));
    }

    private static byte[] encoded(Frame frame) {
        ByteBuffer bytes = Frames.encode(frame);
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return copy;
    }

    private Hello hello(int index) {
        String group = index < FRESH_GROUPS ? "fresh-" + index : "hostile-" + random.nextInt(GROUPS);
        return new Hello(
                Optional.empty(),
                "hostile/1",
                new Hello.PassRequest(
                        Optional.empty(),
                        random.nextInt(10) == 0 ? Optional.of("train") : Optional.empty(),
                        group,
                        OrderOverlay.fromJson("{}")),
                participant,
                random.nextInt(2),
                random.nextInt(3) == 0 ? random.nextInt(5) : 0,
                caller(),
                new Hello.ReadRequest(
                        random.nextInt(10) == 0 ? OptionalLong.of(random.nextInt(3)) : OptionalLong.empty(),
                        OptionalLong.empty(),
                        random.nextInt(4) == 0 ? skip() : SkipList.NONE,
                        random.nextInt(2) * 64,
                        0));
    }

    private SkipList skip() {
        long first = random.nextInt(10);
        return new SkipList(List.of(
                new SkipList.Range(random.nextInt(2), first, first + random.nextInt(9)),
                new SkipList.Range(2, first, random.nextBoolean() ? first : SkipList.MAX_NUMBER)));
    }

    /** Returns a new process, one of a few processes that reconnect again and again, or one without an id. */
    private Caller caller() {
        return new Caller(
                random.nextInt(4) == 0 ? random.nextInt(5) : 0,
                random.nextInt(3),
                random.nextInt(10) == 0,
                random.nextInt(4) == 0
                        ? Optional.empty()
                        : Optional.of(new Instance("hostile", random.nextInt(8), 1, "elsewhere")),
                random.nextInt(4) == 0
                        ? Optional.of(new Launch("torchrun", "job-" + random.nextInt(2), random.nextInt(3)))
                        : Optional.empty());
    }

    /** Appends frames that an honest trainer might send after HELLO. */
    private void behave() {
        int epoch = random.nextInt(2);
        if (random.nextInt(3) == 0) {
            add(select());
        }
        for (int s = 1; s <= 1 + random.nextInt(2); s++) {
            add(subscribe(s, epoch));
            add(new Grant(s, random.nextInt((int) batches)));
            for (int i = random.nextInt(4); i > 0; i--) {
                add(any(s, epoch));
            }
            add(ack(s, epoch));
        }
        if (random.nextBoolean()) {
            add(new Bye());
        }
    }

    private Subscribe subscribe(int number, int epoch) {
        int stride = participant.worldSize();
        return new Subscribe(
                number,
                epoch,
                participant.rank(),
                stride,
                (batches - participant.rank() + stride - 1) / stride,
                TailPolicy.KEEP,
                random.nextBoolean() ? List.of() : List.of(random.nextInt(2)));
    }

    private Ack ack(int subscription, int epoch) {
        List<AckEntry> entries = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            long number = participant.rank() + (long) participant.worldSize() * random.nextInt(4);
            entries.add(new AckEntry(Math.min(number, 1L << 40), 0, false, random.nextInt(), 4, 0, 4, 0));
        }
        return new Ack(subscription, epoch, entries);
    }

    private Frame any(int subscription, int epoch) {
        return switch (random.nextInt(14)) {
            case 0 -> new Grant(subscription, random.nextInt((int) batches));
            case 1 -> new Nack(subscription, epoch, participant.rank(), 0, random.nextInt());
            case 2 -> new Release(random.nextInt(3));
            case 3 -> new Stats(5, 4, 3, 2, 1, Map.of("feeder", 4L), List.of(new Stats.Wait("a:1", 0, "feeder", 4, 1)));
            case 4 -> new Ping(random.nextLong());
            case 5 -> new Pong(random.nextLong());
            case 6 -> subscribe(subscription + random.nextInt(3), epoch);
            case 7 -> new ErrorMessage(ErrorCode.INTERNAL, "of a hostile trainer");
            case 8 -> hello(FRESH_GROUPS);
            case 9 -> new Bye();
            case 10 -> select();
            case 11 -> new GetSamples(random.nextInt(3), random.nextBoolean(), List.of("c0/r1", "", "c0/r1"));
            case 12 -> new ListSamples(random.nextInt(3), 1 + random.nextInt(9), "c", "/", "c0/");
            default -> ack(subscription, epoch);
        };
    }

    /** Usually as it may be: the streams of the tests have four columns. */
    private Select select() {
        int columns = random.nextInt(4) == 0 ? 1 + random.nextInt(20) : 4;
        BitSet selected = new BitSet();
        selected.set(random.nextInt(columns));
        selected.set(random.nextInt(columns));
        return new Select(columns, selected);
    }

    private void misbehave() {
        int at = random.nextInt(frames.size());
        switch (random.nextInt(10)) {
            case 0 -> frames.remove(at);
            case 1 -> {
                byte[] repeated = frames.get(at);
                for (int i = 1 << random.nextInt(8); i > 0; i--) {
                    frames.add(at, repeated);
                }
            }
            case 2 -> Collections.swap(frames, at, random.nextInt(frames.size()));
            case 3 -> frames.add(at, encoded(any(random.nextInt(3), random.nextInt(2))));
            case 4 -> frames.set(at, Arrays.copyOf(frames.get(at), random.nextInt(frames.get(at).length + 1)));
            case 5 -> {
                byte[] noise = new byte[random.nextInt(100)];
                random.nextBytes(noise);
                frames.add(at, noise);
            }
            case 6 -> flip(frames.get(at), 0, PREFIX);
            case 7 -> {
                flip(frames.get(at), PREFIX, frames.get(at).length);
                seal(frames.get(at));
            }
            default -> {
                overwrite(frames.get(at));
                seal(frames.get(at));
            }
        }
        if (frames.isEmpty()) {
            frames.add(new byte[1]);
        }
    }

    private void flip(byte[] frame, int from, int to) {
        int end = Math.min(to, frame.length);
        if (from < end) {
            frame[from + random.nextInt(end - from)] ^= (byte) (1 << random.nextInt(8));
        }
    }

    /** Usually corrects the checksum, so that the change reaches the server's other checks. */
    private void seal(byte[] frame) {
        if (frame.length >= PREFIX + CHECKSUM && random.nextInt(8) > 0) {
            ByteBuffer bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
            int crc = Crc32cs.of(bytes.slice(4, frame.length - CHECKSUM - 4));
            bytes.putInt(frame.length - CHECKSUM, crc);
        }
    }

    /** Writes an extreme value at a random position of the frame. */
    private void overwrite(byte[] frame) {
        int bytes = 1 << random.nextInt(4);
        int places = (frame.length - PREFIX) / bytes;
        if (places > 0) {
            long value = EXTREMES[random.nextInt(EXTREMES.length)];
            int at = PREFIX + bytes * random.nextInt(places);
            for (int i = 0; i < bytes; i++) {
                frame[at + i] = (byte) (value >>> (8 * i));
            }
        }
    }

    private byte[] bytes() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(frame -> all.write(frame, 0, frame.length));
        return all.toByteArray();
    }
}
