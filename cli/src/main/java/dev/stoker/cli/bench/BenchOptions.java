package dev.stoker.cli.bench;

import dev.stoker.cli.options.OwnFlags;
import dev.stoker.flink.arguments.OptionValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that all measurements have. */
final class BenchOptions {

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "How often each figure is measured; the table shows the median and the spread. Default: 3.")
    private int rounds = 3;

    @Option(names = OwnFlags.JSON, description = "Print JSON.")
    private boolean json;

    int rounds() {
        if (rounds < 1) {
            throw new IllegalArgumentException("option --rounds: " + rounds + " must be positive");
        }
        return rounds;
    }

    boolean isJson() {
        return json;
    }

    static Duration seconds(String option, double seconds) {
        if (!(seconds > 0) || seconds > 1e6) {
            throw new IllegalArgumentException(
                    "option " + option + ": " + seconds + " is not more than 0 and at most 1,000,000");
        }
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    /** Parses a size such as 4k or 16 MiB. */
    static long size(String option, String text) {
        return OptionValues.bytes(option, text);
    }

    static List<Integer> sizes(String option, List<String> texts) {
        List<Integer> sizes = new ArrayList<>();
        for (String text : texts) {
            long size = size(option, text);
            if (size > 1 << 30) {
                throw new IllegalArgumentException("option " + option + ": " + text + " is more than 1 GiB");
            }
            sizes.add((int) size);
        }
        return sizes;
    }
}
