package dev.stoker.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;

/**
 * Compares sender threads with blocking gathering writes and Netty's event loops, over the same prepared pieces:
 * throughput, the sender's CPU time, and the latency of a control frame on a session that streams and on one that does
 * not.
 *
 * <pre>TransportBenchmark DATASET [rounds] [milliseconds] [cold file]</pre>
 *
 * <p>Sessions: 1, 4 and 32 that read; 4 of which one stalls; and, with a file whose pages are not in memory, 4 of which
 * one reads this file ({@code benchmarks/transport.sh} creates it and drops it from memory before every measurement).
 */
public final class TransportBenchmark {
    private static final int SAMPLES = 64;
    private static final int[] SAMPLE_BYTES = {110_000, 4096};

    private final Path cold;
    private final List<ByteBuffer> files;
    private final int measuredMs;

    private TransportBenchmark(Path dataset, int measuredMs, Path cold) throws IOException {
        this.files = TransportPieces.mapAll(dataset.resolve("chunks"));
        this.measuredMs = measuredMs;
        this.cold = cold;
    }

    private enum Way {
        THREADS,
        NETTY_NIO,
        NETTY_EPOLL
    }

    private enum Scene {
        ALL_READ,
        ONE_STALLS,
        ONE_COLD
    }

    /** A measurement: GB/s of every trainer, CPU seconds a GB, latencies as text. */
    private record Result(double[] gbPerS, double cpuPerGb, String latencies) {
        double sum() {
            return Arrays.stream(gbPerS).sum();
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        int measuredMs = args.length > 2 ? Integer.parseInt(args[2]) : 1000;
        Path cold = args.length > 3 ? Path.of(args[3]) : null;
        TransportBenchmark benchmark = new TransportBenchmark(Path.of(args[0]), measuredMs, cold);
        System.out.println("best of " + rounds + " rounds of " + measuredMs + " ms; latency of a control frame in ms,"
                + " median / 99 % / greatest, of the best round");
        System.out.printf(
                "%-12s %-9s %-11s %8s %8s %18s %24s %24s%n",
                "samples", "sessions", "way", "GB/s", "CPU s/GB", "GB/s min..max", "idle session", "streaming session");
        for (int sampleBytes : SAMPLE_BYTES) {
            for (int trainers : new int[] {1, 4, 32}) {
                benchmark.compare(Scene.ALL_READ, sampleBytes, trainers, rounds);
            }
            benchmark.compare(Scene.ONE_STALLS, sampleBytes, 4, rounds);
            if (cold != null) {
                benchmark.compare(Scene.ONE_COLD, sampleBytes, 4, rounds);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void compare(Scene scene, int sampleBytes, int trainers, int rounds)
            throws IOException, InterruptedException {
        Result[] best = new Result[Way.values().length];
        for (int round = 0; round < rounds; round++) {
            for (Way way : Way.values()) {
                Result result = measure(way, scene, sampleBytes, trainers);
                if (best[way.ordinal()] == null || best[way.ordinal()].sum() < result.sum()) {
                    best[way.ordinal()] = result;
                }
            }
        }
        for (Way way : Way.values()) {
            Result result = best[way.ordinal()];
            double[] each = result.gbPerS.clone();
            String last = "";
            if (scene != Scene.ALL_READ) {
                last = String.format(Locale.ROOT, " (last %.2f)", each[trainers - 1]);
                each = Arrays.copyOf(each, trainers - 1);
            }
            System.out.printf(
                    Locale.ROOT,
                    "%-12s %-9s %-11s %8.2f %8.3f %18s %24s %24s%n",
                    SAMPLES + " x " + sampleBytes,
                    trainers + (scene == Scene.ALL_READ ? "" : scene == Scene.ONE_STALLS ? " stall" : " cold"),
                    way.name().toLowerCase(Locale.ROOT),
                    result.sum(),
                    result.cpuPerGb,
                    String.format(
                                    Locale.ROOT,
                                    "%.3f..%.3f",
                                    Arrays.stream(each).min().orElse(0),
                                    Arrays.stream(each).max().orElse(0))
                            + last,
                    result.latencies.split(" busy ")[0],
                    result.latencies.split(" busy ")[1]);
        }
    }

    private Result measure(Way way, Scene scene, int sampleBytes, int trainers)
            throws IOException, InterruptedException {
        Queue<IOException> failures = new ConcurrentLinkedQueue<>();
        IntFunction<TransportPieces> pieces = number -> {
            try {
                if (number == 0) {
                    return null;
                }
                return scene == Scene.ONE_COLD && number == trainers
                        ? TransportPieces.cold(cold, SAMPLES, sampleBytes)
                        : TransportPieces.warm(files, SAMPLES, sampleBytes, number);
            } catch (IOException e) {
                failures.add(e);
                return null;
            }
        };
        if (scene == Scene.ONE_COLD) {
            drop(cold);
        }
        Result result;
        if (way == Way.THREADS) {
            try (TransportThreads server = new TransportThreads(pieces)) {
                result = receive(server.port(), scene, trainers);
            }
        } else {
            TransportNetty.Transport transport =
                    way == Way.NETTY_NIO ? TransportNetty.Transport.NIO : TransportNetty.Transport.EPOLL;
            try (TransportNetty server = new TransportNetty(transport, pieces)) {
                result = receive(server.port(), scene, trainers);
            }
        }
        for (IOException failure : failures) {
            throw failure;
        }
        return result;
    }

    private Result receive(int port, Scene scene, int trainers) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:MaxDirectMemorySize=256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TransportReceiver.class.getName(),
                        Integer.toString(port),
                        Integer.toString(trainers),
                        Integer.toString(measuredMs),
                        scene == Scene.ONE_STALLS ? "stalls" : "reads")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            expect(out, "begin");
            double cpu = cpuSeconds();
            expect(out, "end");
            cpu = cpuSeconds() - cpu;
            double[] gbPerS = Arrays.stream(out.readLine().split(" "))
                    .mapToDouble(Double::parseDouble)
                    .toArray();
            String[] ms = out.readLine().split(" ");
            String latencies =
                    String.join(" / ", ms[0], ms[1], ms[2]) + " busy " + String.join(" / ", ms[3], ms[4], ms[5]);
            process.waitFor();
            return new Result(gbPerS, cpu / (Arrays.stream(gbPerS).sum() * measuredMs / 1e3), latencies);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void expect(BufferedReader out, String line) throws IOException {
        String found = out.readLine();
        if (!line.equals(found)) {
            throw new IOException("the receiver sent " + found + ", expected " + line);
        }
    }

    private static double cpuSeconds() {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    /** Takes the file out of the page cache; earlier mappings of it must have been collected. */
    private static void drop(Path file) throws IOException, InterruptedException {
        System.gc();
        Process dd = new ProcessBuilder("dd", "if=" + file, "iflag=nocache", "count=0", "status=none")
                .inheritIO()
                .start();
        if (dd.waitFor() != 0) {
            throw new IOException("dd cannot drop " + file + " from the page cache");
        }
    }
}
