package dev.stoker.bench.measure;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/** The machine of a measurement, as its result names it. */
public final class Machine {
    private static final Path CPU = Path.of("/proc/cpuinfo");
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final Path LOAD = Path.of("/proc/loadavg");

    private Machine() {}

    /**
     * Returns the head of a result.
     *
     * @param bench the verb that measured
     * @param at time of the measurement
     * @param load of the machine before the measurement
     */
    public static ObjectNode describe(String bench, Instant at, double load) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("bench", bench)
                .put("format", 1)
                .put("time", at.truncatedTo(ChronoUnit.SECONDS).toString());
        json.putObject("machine")
                .put("processors", Runtime.getRuntime().availableProcessors())
                .put("model", model())
                .put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"))
                .put("java", System.getProperty("java.version"))
                .put("load", load);
        return json;
    }

    private static String model() {
        try (var lines = Files.lines(CPU)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }

    /** Bytes that the page cache can take: the memory that is available, at most the limit of the container. */
    public static long availableBytes() {
        // Knows the limit of a container.
        long total =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        try (var lines = Files.lines(MEMORY)) {
            return lines.filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Math.min(total, Long.parseLong(line.replaceAll("[^0-9]", "")) << 10))
                    .findFirst()
                    .orElse(total);
        } catch (IOException e) {
            return total;
        }
    }

    /** Returns a note if programs used more than a quarter of the processors in the minute before the measurement. */
    public static Optional<String> note(double load) {
        return load <= 0.25 * Runtime.getRuntime().availableProcessors()
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "the machine was busy in the minute before the measurement (load %.1f); if that was no other"
                                + " measurement, repeat it on an idle machine",
                        load));
    }

    /** The mean number of threads that ran, or waited for a processor or a disk, in the last minute. */
    public static double load() {
        try {
            return Double.parseDouble(Files.readString(LOAD).split(" ", 2)[0]);
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }
}
