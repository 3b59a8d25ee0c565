package dev.stoker.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A feeder that knows the protocol and abuses it: it sits between a client and an honest feeder, and alters a few
 * frames of each of its first connections.
 */
final class HostileFeeder implements AutoCloseable {
    private static final long[] EXTREMES = {
        0, 1, -1, 2, 255, 65_535, Integer.MAX_VALUE, 1L << 31, (1L << 32) - 1, 1L << 62, Long.MAX_VALUE, Long.MIN_VALUE
    };
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "-1",
            "0",
            "1",
            "2147483648",
            "9223372036854775807",
            "1e300",
            "\"\"",
            "[]",
            "[0]",
            "[[]]",
            "[[7]]",
            "{}",
            "{\"x\":{}}");
    private static final int PREFIX = 8;
    private static final int CRC = 60;

    /** Bytes of the checksum at the end of all frames but BATCH and BATCH_REF. */
    private static final int CHECKSUM = 4;

    private final String target;
    private final Random random;
    private final boolean forges;
    private final ServerSocket listener;
    private final Queue<Closeable> open = new ConcurrentLinkedQueue<>();
    private int left;

    /**
     * @param target the honest feeder
     * @param connections number of altered connections
     * @param forges whether altered frames get a correct checksum
     */
    HostileFeeder(String target, Random random, int connections, boolean forges) throws IOException {
        this.target = target;
        this.random = random;
        this.forges = forges;
        this.left = connections;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        begin(this::accept);
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private static void begin(Runnable work) {
        Thread thread = new Thread(work, "hostile");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        int colon = target.lastIndexOf(':');
        try {
            while (true) {
                Socket client = listener.accept();
                open.add(client);
                Socket feeder = new Socket(target.substring(0, colon), Integer.parseInt(target.substring(colon + 1)));
                open.add(feeder);
                Random script = new Random(random.nextLong());
                boolean meddles = left-- > 0;
                begin(() -> forward(client, feeder));
                begin(() -> meddle(feeder, client, meddles ? new Script(script) : null));
            }
        } catch (IOException e) {
            // The end of the test.
        }
    }

    private static void forward(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One side has hung up.
        }
    }

    private static void meddle(Socket from, Socket to, Script script) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            DataInputStream frames = new DataInputStream(in);
            OutputStream out = to.getOutputStream();
            byte[] length = new byte[4];
            while (true) {
                frames.readFully(length);
                int bytes =
                        ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getInt();
                byte[] frame = Arrays.copyOf(length, 4 + bytes);
                frames.readFully(frame, 4, bytes);
                out.write(script == null ? frame : script.changed(frame));
            }
        } catch (IOException e) {
            // One side has hung up.
        }
    }

    /** What happens to the frames of one connection. */
    private final class Script {
        private final Random random;
        private final Set<Integer> at = new TreeSet<>();
        private final List<byte[]> seen = new ArrayList<>();

        Script(Random random) {
            this.random = random;
            for (int i = random.nextInt(3); i >= 0; i--) {
                at.add(random.nextInt(12));
            }
        }

        /** Returns the bytes to send instead of a frame. */
        byte[] changed(byte[] frame) throws IOException {
            seen.add(frame.clone());
            return at.contains(seen.size() - 1) ? change(frame) : frame;
        }

        private byte[] change(byte[] frame) throws IOException {
            byte[] other = seen.get(random.nextInt(seen.size()));
            switch (random.nextInt(9)) {
                case 0 -> {
                    return new byte[0];
                }
                case 1 -> {
                    ByteArrayOutputStream many = new ByteArrayOutputStream();
                    for (int i = 1 << random.nextInt(6); i > 0; i--) {
                        many.writeBytes(frame);
                    }
                    return many.toByteArray();
                }
                case 2 -> {
                    return joined(frame, other);
                }
                case 3 -> {
                    return joined(any(), frame);
                }
                case 4 -> {
                    return joined(Arrays.copyOf(frame, random.nextInt(frame.length)), other);
                }
                case 5 -> {
                    byte[] noise = new byte[random.nextInt(200)];
                    random.nextBytes(noise);
                    return joined(noise, frame);
                }
                case 6 -> {
                    frame[random.nextInt(PREFIX)] ^= (byte) (1 << random.nextInt(8));
                    return frame;
                }
                default -> {
                    boolean isJson = frame[4] == FrameType.WELCOME.code() || frame[4] == FrameType.LANE_MAP.code();
                    return isJson ? withOtherValue(frame) : withExtreme(frame);
                }
            }
        }

        /** An extreme value where a field may be. */
        private byte[] withExtreme(byte[] frame) {
            int bytes = 1 << random.nextInt(4);
            boolean isForged = forges && frame[4] == FrameType.BATCH.code();
            int from = isForged ? BatchHeader.BYTES : PREFIX;
            int places = (Math.min(frame.length, isForged ? 2000 : 160) - from) / bytes;
            if (places > 0) {
                long value = EXTREMES[random.nextInt(EXTREMES.length)];
                int place = from + bytes * random.nextInt(places);
                for (int i = 0; i < bytes; i++) {
                    frame[place + i] = (byte) (value >>> (8 * i));
                }
            }
            if (isForged) {
                ByteBuffer whole = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
                ByteBuffer summed = ByteBuffer.allocate(frame.length);
                summed.put(frame, 4, 48).put(frame, BatchHeader.BYTES, frame.length - BatchHeader.BYTES);
                whole.putInt(CRC, Crc32cs.of(summed.flip()));
            } else if (frame[4] != FrameType.BATCH.code() && frame[4] != FrameType.BATCH_REF.code()) {
                seal(frame);
            }
            return frame;
        }

        /** Another value for a key of a JSON object, or of one within it. */
        private byte[] withOtherValue(byte[] frame) throws IOException {
            ObjectNode root = (ObjectNode) JSON.readTree(frame, PREFIX, frame.length - PREFIX - CHECKSUM);
            ObjectNode within = root;
            while (true) {
                List<String> keys = new ArrayList<>();
                within.fieldNames().forEachRemaining(keys::add);
                String key = keys.get(random.nextInt(keys.size()));
                JsonNode value = within.get(key);
                if (value.isObject() && !value.isEmpty() && random.nextInt(10) < 7) {
                    within = (ObjectNode) value;
                    continue;
                }
                if (random.nextInt(5) == 0) {
                    within.remove(key);
                } else {
                    within.set(key, JSON.readTree(VALUES.get(random.nextInt(VALUES.size()))));
                }
                break;
            }
            byte[] body = JSON.writeValueAsBytes(root);
            ByteBuffer out =
                    ByteBuffer.allocate(PREFIX + body.length + CHECKSUM).order(ByteOrder.LITTLE_ENDIAN);
            out.putInt(out.capacity() - 4).put(frame, 4, 4).put(body);
            return seal(out.array());
        }

        /** Corrects the checksum of a control frame, so that the change reaches other checks. */
        private static byte[] seal(byte[] frame) {
            ByteBuffer bytes = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
            int at = frame.length - CHECKSUM;
            bytes.putInt(at, Crc32cs.of(bytes.slice(4, at - 4)));
            return frame;
        }

        /** A frame that a feeder may send, with any values. */
        private byte[] any() {
            long n = EXTREMES[random.nextInt(EXTREMES.length)] & Long.MAX_VALUE;
            long few = random.nextInt(4);
            Frame frame = switch (random.nextInt(9)) {
                case 0 -> new Durable(n);
                case 1 -> new Pong(n);
                case 2 -> new Ping(n);
                case 3 -> new Bye();
                case 4 -> new ErrorMessage(ErrorCode.values()[random.nextInt(ErrorCode.values().length)], "no");
                case 5 -> new EpochEnd(few, few, n, n);
                case 6 -> new Delay(few, few, n, 0, 1, 2, 3);
                case 7 -> new FileAnnouncement(few, n, n, n, "/etc/passwd");
                default -> new LaneMap(few, few, List.of("127.0.0.1:1"), List.of(List.of(0), List.of(0)));
            };
            ByteBuffer bytes = Frames.encode(frame);
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(copy);
            return copy;
        }
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Closeable socket : open) {
            socket.close();
        }
    }
}
