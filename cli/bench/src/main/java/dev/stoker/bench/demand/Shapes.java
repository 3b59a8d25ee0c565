package dev.stoker.bench.demand;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The known shapes, and shapes from files. The image workloads come from MLPerf Storage
 * (github.com/mlcommons/storage,
 * {@code configs/dlio/workload}); the language model is computed, because a loader's demand follows from its tokens.
 */
public final class Shapes {

    private static final String MLPERF = "MLPerf Storage";

    private static final List<Shape> KNOWN = List.of(
            new Shape("resnet50", "h100", 114_660.07, 0, 400, 0.224, 0.90, MLPERF),
            new Shape("resnet50", "a100", 114_660.07, 0, 400, 0.435, 0.90, MLPERF),
            new Shape("unet3d", "h100", 146_600_628, 68_341_808, 7, 0.323, 0.90, MLPERF),
            new Shape("unet3d", "a100", 146_600_628, 68_341_808, 7, 0.636, 0.90, MLPERF),
            new Shape("unet3d", "b200", 146_600_628, 68_341_808, 7, 0.162, 0.90, MLPERF),
            new Shape("cosmoflow", "h100", 2_828_486, 71_311, 1, 0.00350, 0.70, MLPERF),
            new Shape("cosmoflow", "a100", 2_828_486, 71_311, 1, 0.00551, 0.70, MLPERF),
            new Shape("retinanet", "h100", 153_600, 51_200, 16, 0.180, 0.85, MLPERF),
            new Shape("retinanet", "a100", 153_600, 51_200, 16, 0.210, 0.85, MLPERF),
            new Shape("retinanet", "b200", 322_957, 0, 24, 0.04755, 0.85, MLPERF),
            languageModel("h100", 989e12),
            languageModel("a100", 312e12),
            languageModel("b200", 2_250e12));

    private static final int LONGEST_FILE = 1 << 20;
    /** A line of YAML: a key, and a plain value if it has one. */
    private static final Pattern LINE = Pattern.compile("^\\s*([a-z_]+)\\s*:\\s*[\"']?([^\"'#\\s]*)");
    /** The same in the names of newer versions of DLIO. */
    private static final Map<String, String> FORMER =
            Map.of("record_length", "record_length_bytes", "record_length_stdev", "record_length_bytes_stdev");

    private Shapes() {}

    /**
     * A language model of 8 billion parameters that reads sequences of 8,192 token ids of 4 bytes. Training takes 6
     * floating-point operations for each parameter and token, at 40 % of the accelerator's dense BF16 peak.
     */
    private static Shape languageModel(String accelerator, double peak) {
        int tokens = 8192;
        double parameters = 8.03e9;
        double seconds = tokens * 6 * parameters / (0.4 * peak);
        return new Shape("llm", accelerator, tokens * 4, 0, 1, seconds, 0.90, "computed: 8.03e9 parameters, 40 % MFU");
    }

    /** The names of the known shapes, in the order of the table. */
    public static List<String> names() {
        return KNOWN.stream().map(Shape::name).distinct().toList();
    }

    /**
     * Finds a known shape, or reads a file.
     *
     * @param text a name, or the path of a file
     * @param accelerator for a known shape
     */
    public static Shape of(String text, String accelerator) throws IOException {
        List<Shape> named =
                KNOWN.stream().filter(shape -> shape.name().equals(text)).toList();
        if (named.isEmpty()) {
            return read(Path.of(text));
        }
        return named.stream()
                .filter(shape -> shape.accelerator().equals(accelerator.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new StokerException("shape " + text + " is not known for " + accelerator
                        + "; it is known for "
                        + String.join(
                                ", ", named.stream().map(Shape::accelerator).toList())));
    }

    /**
     * Returns the shapes that are known for an accelerator.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static List<Shape> all(String accelerator) {
        List<Shape> known = KNOWN.stream()
                .filter(shape -> shape.accelerator().equals(accelerator.toLowerCase(Locale.ROOT)))
                .toList();
        if (known.isEmpty()) {
            throw new IllegalArgumentException(
                    "option --accelerator: no shape is known for " + accelerator + "; expected h100, a100 or b200");
        }
        return known;
    }

    private static Shape read(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new StokerException(
                    "there is no shape and no file " + file + "; known shapes are " + String.join(", ", names()));
        }
        if (Files.size(file) > LONGEST_FILE) {
            throw new StokerException(file + " has " + Files.size(file) + " bytes; a shape is a small file");
        }
        try {
            return parse(Files.readString(file), file.toString());
        } catch (CharacterCodingException e) {
            throw new StokerException(file + " is no shape: it is not a text in UTF-8", e);
        }
    }

    /**
     * Reads a workload file of DLIO, the benchmark behind MLPerf Storage, or the same keys as JSON.
     *
     * @param from for messages
     */
    static Shape parse(String text, String from) throws StokerException {
        Map<String, String> values = text.stripLeading().startsWith("{") ? ofJson(text, from) : ofYaml(text);
        FORMER.forEach((former, name) -> {
            if (values.containsKey(former)) {
                values.putIfAbsent(name, values.get(former));
            }
        });
        List<String> problems = new ArrayList<>();
        double bytes = number(values, "record_length_bytes", Double.NaN, problems);
        double deviation = number(values, "record_length_bytes_stdev", 0, problems);
        double batch = number(values, "batch_size", Double.NaN, problems);
        double seconds = number(values, "computation_time", Double.NaN, problems);
        double utilization = number(values, "au", 0.9, problems);
        if (batch != Math.rint(batch) && !Double.isNaN(batch)) {
            problems.add("batch_size is " + batch + ", not a whole number");
        }
        if (!problems.isEmpty()) {
            throw new StokerException(from + " is no shape: " + String.join("; ", problems));
        }
        String accelerator = values.getOrDefault("accelerator", "-");
        try {
            return new Shape(
                    values.getOrDefault("name", values.getOrDefault("model", from)),
                    accelerator,
                    bytes,
                    deviation,
                    (int) batch,
                    seconds,
                    utilization,
                    from);
        } catch (IllegalArgumentException e) {
            throw new StokerException(from + " is no shape: " + e.getMessage(), e);
        }
    }

    /** The plain values of the file by key; a number of a computation can be the mean below its key. */
    private static Map<String, String> ofYaml(String text) {
        Map<String, String> values = new HashMap<>();
        String parent = "";
        for (String line : text.lines().toList()) {
            Matcher matcher = LINE.matcher(line);
            if (!matcher.find()) {
                continue;
            }
            String key = matcher.group(1);
            if (key.equals("mean")) {
                key = parent;
            }
            if (matcher.group(2).isEmpty()) {
                parent = key;
            } else {
                values.putIfAbsent(key, matcher.group(2));
            }
        }
        return values;
    }

    private static Map<String, String> ofJson(String text, String from) throws StokerException {
        Map<String, String> values = new HashMap<>();
        try {
            add("", Json.PLAIN.readTree(text), values);
        } catch (JsonProcessingException e) {
            throw new StokerException(from + " is no shape: it is not valid JSON", e);
        }
        return values;
    }

    private static void add(String key, JsonNode json, Map<String, String> values) {
        if (json.isObject()) {
            for (Map.Entry<String, JsonNode> field : json.properties()) {
                add(field.getKey().equals("mean") ? key : field.getKey(), field.getValue(), values);
            }
        } else {
            values.putIfAbsent(key, json.asText());
        }
    }

    private static double number(Map<String, String> values, String key, double usual, List<String> problems) {
        String text = values.get(key);
        if (text == null) {
            if (Double.isNaN(usual)) {
                problems.add(key + " is missing");
            }
            return usual;
        }
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            problems.add(key + " is '" + text + "', not a number");
            return usual;
        }
    }
}
