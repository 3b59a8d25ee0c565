package dev.stoker.bench.measure;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The machine of a measurement, as its result names it. */
public final class Machine {
    private static final Path CPU = Path.of("/proc/cpuinfo");
    private static final Path LOAD = Path.of("/proc/loadavg");

    private Machine() {}

    /**
     * Returns the head of a result.
     *
     * @param bench the verb that measured
     * @param at time of the measurement
     */
    public static ObjectNode describe(String bench, Instant at) {
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
                .put("load", load());
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

    /** The mean number of running threads in the last minute: above the number of processors, figures are noisy. */
    public static double load() {
        try {
            return Double.parseDouble(Files.readString(LOAD).split(" ", 2)[0]);
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }
}
