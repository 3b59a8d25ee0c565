package dev.stoker.server.tiers;

import dev.stoker.schemas.text.Units;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The specification of one tier: {@code memory:8g}, {@code memory:auto}, {@code disk:/nvme/stoker:400g}.
 *
 * @param directory an absolute path on every feeder machine, or empty for memory
 * @param bytes quota of one process; empty for all available room
 */
public record TierSpec(Optional<String> directory, Optional<Long> bytes) {
    private static final Pattern SIZE = Pattern.compile("(\\d+)\\s*([kmgt]?)(i?b|bytes)?", Pattern.CASE_INSENSITIVE);
    private static final String SHAPE = "expected memory:8g, memory:auto, disk:/nvme/stoker:400g, or none";

    public TierSpec {
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(bytes, "bytes");
        if (directory.isPresent() && bytes.isEmpty()) {
            throw new IllegalArgumentException(
                    "a tier on a disk needs a size, as in disk:" + directory.get() + ":400g");
        }
        if (bytes.isPresent() && bytes.get() < 1) {
            throw new IllegalArgumentException("a tier of " + bytes.get() + " bytes is too small");
        }
    }

    /** Returns the specification of a memory tier that uses all available room. */
    public static TierSpec autoMemory() {
        return new TierSpec(Optional.empty(), Optional.empty());
    }

    /**
     * Parses the specification of one tier.
     *
     * @throws IllegalArgumentException if it is invalid; the message says why
     */
    public static TierSpec parse(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (lower.equals("memory") || lower.equals("memory:auto")) {
            return autoMemory();
        }
        if (lower.startsWith("memory:")) {
            return new TierSpec(Optional.empty(), Optional.of(size(text, text.substring("memory:".length()))));
        }
        int last = text.lastIndexOf(':');
        if (lower.startsWith("disk:") && last > "disk:".length()) {
            String directory = text.substring("disk:".length(), last);
            if (!directory.startsWith("/")) {
                throw new IllegalArgumentException(
                        "tier '" + text + "': " + directory + " is not an absolute path; " + SHAPE);
            }
            return new TierSpec(Optional.of(directory), Optional.of(size(text, text.substring(last + 1))));
        }
        throw new IllegalArgumentException("tier '" + text + "': " + SHAPE);
    }

    /**
     * Parses a list of specifications; a single {@code none} means no tier.
     *
     * @throws IllegalArgumentException if one is invalid; the message says why
     */
    public static List<TierSpec> parse(List<String> texts) {
        if (texts.size() == 1 && texts.get(0).equalsIgnoreCase("none")) {
            return List.of();
        }
        List<TierSpec> tiers = texts.stream().map(TierSpec::parse).toList();
        if (tiers.stream().filter(tier -> tier.directory.isEmpty()).count() > 1) {
            throw new IllegalArgumentException("only one memory tier is allowed; add the two sizes");
        }
        List<String> directories =
                tiers.stream().flatMap(tier -> tier.directory.stream()).toList();
        if (directories.stream().distinct().count() < directories.size()) {
            throw new IllegalArgumentException("only one tier per directory is allowed; add the two sizes");
        }
        return tiers;
    }

    private static long size(String tier, String text) {
        Matcher found = SIZE.matcher(text.strip());
        if (!found.matches()) {
            throw new IllegalArgumentException("tier '" + tier + "': '" + text + "' is not a size; " + SHAPE);
        }
        if (found.group(2).isEmpty() && found.group(3) == null) {
            Units.missingSizeUnit(text).ifPresent(problem -> {
                throw new IllegalArgumentException("tier '" + tier + "': " + problem);
            });
        }
        int shift = "kmgt".indexOf(found.group(2).toLowerCase(Locale.ROOT));
        try {
            return Math.multiplyExact(
                    Long.parseLong(found.group(1)), found.group(2).isEmpty() ? 1 : 1L << (10 * (shift + 1)));
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("tier '" + tier + "': '" + text + "' is too large", e);
        }
    }

    /** Returns the form that {@link #parse(String)} reads. */
    @Override
    public String toString() {
        String size = bytes.map(TierSpec::text).orElse("auto");
        return directory.map(path -> "disk:" + path + ":" + size).orElse("memory:" + size);
    }

    private static String text(long bytes) {
        String units = "kmgt";
        long value = bytes;
        int unit = -1;
        while (unit < 3 && value % 1024 == 0) {
            value /= 1024;
            unit++;
        }
        return value + (unit < 0 ? "b" : units.substring(unit, unit + 1));
    }
}
