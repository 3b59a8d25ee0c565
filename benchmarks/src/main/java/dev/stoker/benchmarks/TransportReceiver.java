package dev.stoker.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * Simple trainers in a separate process: they receive frames, request an answer now and then, and print the received
 * bytes of the measured time and the times of the answers.
 *
 * <p>Arguments: port, trainers, milliseconds to measure, and what the last trainer does ({@code reads} or
 * {@code stalls}). Trainer 0 gets no data, only answers.
 */
final class TransportReceiver {
    private static final int SEGMENT_BYTES = 256 << 10;
    private static final int PING_EVERY_MS = 20;
    private static final int WARM_UP_MS = 300;

    private TransportReceiver() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        int port = Integer.parseInt(args[0]);
        int count = Integer.parseInt(args[1]);
        int measuredMs = Integer.parseInt(args[2]);
        boolean stalls = args[3].equals("stalls");
        List<Trainer> trainers = new ArrayList<>();
        for (int i = 0; i <= count; i++) {
            trainers.add(new Trainer(port, i));
        }
        for (Trainer trainer : trainers) {
            if (!stalls || trainer.number < count) {
                trainer.start();
            }
        }
        Thread.sleep(WARM_UP_MS);
        long[] before = bytes(trainers);
        trainers.forEach(trainer -> trainer.measured = true);
        System.out.println("begin");
        long start = System.nanoTime();
        while (System.nanoTime() - start < measuredMs * 1_000_000L) {
            for (Trainer trainer : trainers) {
                trainer.ping();
            }
            Thread.sleep(PING_EVERY_MS);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long[] after = bytes(trainers);
        System.out.println("end");
        StringBuilder line = new StringBuilder();
        for (int i = 1; i <= count; i++) {
            line.append(String.format(Locale.ROOT, "%.4f ", (after[i] - before[i]) / seconds / 1e9));
        }
        System.out.println(line.toString().trim());
        List<Long> busy = new ArrayList<>();
        for (Trainer trainer : trainers.subList(1, count)) {
            busy.addAll(trainer.answered());
        }
        if (!stalls) {
            busy.addAll(trainers.get(count).answered());
        }
        System.out.println(percentiles(trainers.get(0).answered()) + " " + percentiles(busy));
        Runtime.getRuntime().halt(0);
    }

    private static long[] bytes(List<Trainer> trainers) {
        return trainers.stream().mapToLong(trainer -> trainer.bytes).toArray();
    }

    /** Median, 99th and greatest, in milliseconds. */
    private static String percentiles(List<Long> values) {
        if (values.isEmpty()) {
            return "- - -";
        }
        Collections.sort(values);
        long p50 = values.get(values.size() / 2);
        long p99 = values.get(values.size() * 99 / 100);
        long last = values.get(values.size() - 1);
        return String.format(Locale.ROOT, "%.2f %.2f %.2f", p50 / 1e6, p99 / 1e6, last / 1e6);
    }

    private static final class Trainer extends Thread {
        final int number;
        volatile long bytes;
        volatile boolean measured;
        private final SocketChannel socket;
        private final ByteBuffer out = ByteBuffer.allocateDirect(8).order(ByteOrder.LITTLE_ENDIAN);
        private final List<Long> answers = new ArrayList<>();
        /** When the pending PING was sent, or 0; only one is pending at a time. */
        private volatile long askedAt;

        Trainer(int port, int number) throws IOException {
            this.number = number;
            this.socket = SocketChannel.open();
            socket.setOption(StandardSocketOptions.SO_RCVBUF, 4 << 20);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            setDaemon(true);
            say(number);
        }

        private void say(long value) throws IOException {
            out.putLong(0, value);
            while (out.hasRemaining()) {
                socket.write(out);
            }
            out.clear();
        }

        void ping() throws IOException {
            if (askedAt == 0) {
                askedAt = System.nanoTime();
                say(askedAt);
            }
        }

        /** Times of all answers; a missing one counts with the time so far. */
        List<Long> answered() {
            long waiting = askedAt;
            synchronized (answers) {
                List<Long> all = new ArrayList<>(answers);
                if (waiting != 0) {
                    all.add(System.nanoTime() - waiting);
                }
                return all;
            }
        }

        @Override
        public void run() {
            try {
                receive();
            } catch (IOException e) {
                throw new IllegalStateException("trainer " + number + " lost its connection", e);
            }
        }

        private void receive() throws IOException {
            ByteBuffer segment = ByteBuffer.allocateDirect(SEGMENT_BYTES);
            ByteBuffer prefix =
                    ByteBuffer.allocateDirect(TransportPieces.PREFIX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            while (true) {
                readFully(prefix.clear());
                int left = prefix.getInt(0) - 4;
                if (prefix.getInt(4) == TransportPieces.PONG) {
                    prefix.clear();
                    readFully(prefix);
                    long sentAt = prefix.getLong(0);
                    if (measured) {
                        synchronized (answers) {
                            answers.add(System.nanoTime() - sentAt);
                        }
                    }
                    askedAt = 0;
                    continue;
                }
                while (left > 0) {
                    int read = socket.read(segment.clear().limit(Math.min(left, SEGMENT_BYTES)));
                    if (read < 0) {
                        throw new IOException("the sender closed the connection");
                    }
                    left -= read;
                    bytes += read;
                }
            }
        }

        private void readFully(ByteBuffer target) throws IOException {
            while (target.hasRemaining()) {
                if (socket.read(target) < 0) {
                    throw new IOException("the sender closed the connection");
                }
            }
        }
    }
}
