package dev.stoker.schemas.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.FramesTest;
import dev.stoker.schemas.testing.Rounds;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Whatever bytes arrive: a frame, a {@link ProtocolException} or a wish for more, with little memory. */
class FrameAttackTest {
    /** At least; ten million, in a small heap, in the profile {@code soak}. */
    private static final int FRAMES = 10_000;
    /** JSON trees, exception texts and stack traces; far from what lengths announce. */
    private static final long BASE_BYTES = 256 << 10;

    private static final long PER_BYTE = 400;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final List<ProtocolVectors.Golden> golden = ProtocolVectors.golden();

    @Test
    void everyTruncationWaitsForMore() throws Exception {
        for (ProtocolVectors.Golden frame : golden) {
            for (int length = 0; length < frame.bytes().length; length++) {
                FrameDecoder decoder = frame.decoder();
                assertThat(decoder.next(ByteBuffer.wrap(frame.bytes(), 0, length)))
                        .as("%s cut to %d", frame, length)
                        .isEmpty();
                assertThat(decoder.pendingBytes()).isEqualTo(length);
            }
        }
    }

    /** Flipped bits of a BATCH or BATCH_REF are detected later, by the checksum over its header and its message. */
    @Test
    void everyBitFlipIsNoticed() {
        for (ProtocolVectors.Golden frame : golden) {
            for (int bit = 0; bit < frame.bytes().length * 8; bit++) {
                byte[] flipped = frame.bytes().clone();
                flipped[bit / 8] ^= (byte) (1 << bit % 8);
                boolean accepted = attack(frame::decoder, flipped, frame + " bit " + bit);
                assertThat(accepted && !frame.type().startsWith("BATCH"))
                        .as("%s bit %d", frame, bit)
                        .isFalse();
            }
        }
    }

    @Test
    void everyBodyThatEndsTooEarlyIsRefused() {
        for (ProtocolVectors.Golden frame : golden) {
            for (int length = 8; length < frame.bytes().length; length++) {
                byte[] cut = Arrays.copyOf(frame.bytes(), length);
                ByteBuffer.wrap(cut).order(ByteOrder.LITTLE_ENDIAN).putInt(0, length - 4);
                ProtocolVectors.sealed(cut);
                boolean accepted = attack(frame::decoder, cut, frame + " ends after " + length);
                boolean message = frame.type().equals("BATCH") && length >= BatchHeader.BYTES;
                assertThat(accepted).as("%s ends after %d", frame, length).isEqualTo(message);
            }
        }
    }

    @Test
    void randomFramesNeverGetThroughAsAnythingElse(TestInfo test) {
        AtomicLong accepted = new AtomicLong();
        long frames = Rounds.of(test).seconds(1.5).atLeast(FRAMES).run((random, round) -> {
            ProtocolVectors.Golden frame = golden.get(random.nextInt(golden.size()));
            byte[] bytes = switch (random.nextInt(3)) {
                case 0 -> noise(random);
                case 1 -> mutated(random, frame.bytes());
                default -> shaped(random, frame);
            };
            if (random.nextInt(4) > 0) {
                ProtocolVectors.sealed(bytes);
            }
            if (attack(frame::decoder, bytes, "a frame")) {
                accepted.incrementAndGet();
            }
        });
        if (!Rounds.isReplay()) {
            assertThat(accepted.get())
                    .as("some mutations stay valid, most do not")
                    .isBetween(frames / 100, frames / 2);
        }
    }

    @Test
    void announcedLengthsAllocateNothing() {
        for (FrameType type : FrameType.values()) {
            for (long length : new long[] {100, 16_384, 1 << 20, 64 << 20, Integer.MAX_VALUE, 0xFFFF_FFFFL}) {
                byte[] bytes = new byte[64];
                ByteBuffer.wrap(bytes)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt((int) length)
                        .putInt(type.code());
                attack(ProtocolVectors::welcomedServer, bytes, type + " to a server " + length);
                attack(ProtocolVectors::welcomedClient, bytes, type + " to a client " + length);
            }
        }
    }

    /** Whether every byte became part of a frame. */
    private boolean attack(Supplier<FrameDecoder> decoders, byte[] bytes, String what) {
        long limit = BASE_BYTES + PER_BYTE * bytes.length;
        long allocated = 0;
        // What classes allocate when they are first used is no frame's, and does not come again.
        for (int attempt = 0; attempt < 3; attempt++) {
            FrameDecoder decoder = decoders.get();
            long before = threads.getCurrentThreadAllocatedBytes();
            boolean refused = refuses(decoder, bytes, what);
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
            if (allocated < limit) {
                return !refused && decoder.pendingBytes() == 0;
            }
        }
        throw new AssertionError(what + ": " + allocated + " bytes allocated");
    }

    private static boolean refuses(FrameDecoder decoder, byte[] bytes, String what) {
        try {
            FramesTest.drain(decoder, ByteBuffer.wrap(bytes));
            return false;
        } catch (ProtocolException expected) {
            check(
                    expected.getMessage().length() < 1500,
                    what,
                    "a message of " + expected.getMessage().length());
            return true;
        } catch (RuntimeException | Error other) {
            throw new AssertionError(what, other);
        }
    }

    /** Cheaper than an assertion object for each of a great number of frames. */
    private static void check(boolean right, String what, String found) {
        if (!right) {
            throw new AssertionError(what + ": " + found);
        }
    }

    private static byte[] noise(Random random) {
        byte[] bytes = new byte[random.nextInt(200)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] mutated(Random random, byte[] golden) {
        byte[] bytes = golden.clone();
        for (int n = 1 + random.nextInt(4); n > 0; n--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return bytes;
    }

    /** A right prefix for the type, noise within. */
    private static byte[] shaped(Random random, ProtocolVectors.Golden frame) {
        byte[] bytes = new byte[8 + random.nextInt(120)];
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
            for (int i = 16; i < bytes.length; i++) {
                bytes[i] = (byte) "{}[]\",:0123456789eE.-ranktulsf \\u".charAt(random.nextInt(33));
            }
        }
        System.arraycopy(frame.bytes(), 0, bytes, 0, Math.min(bytes.length, Math.min(frame.bytes().length, 16)));
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(0, bytes.length - 4);
        return bytes;
    }
}
