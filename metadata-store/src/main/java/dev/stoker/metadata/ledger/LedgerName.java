package dev.stoker.metadata.ledger;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a ledger file. Normative: {@code docs/formats/ledger.md}.
 *
 * @param file the object
 * @param isMerged whether the file holds the records of several files, each as a part
 * @param part the id of a file that is not merged; empty if its name has none
 * @param at start of the file's time: of its checkpoint, its hour or its day; the epoch if the name has no time
 */
public record LedgerName(ObjectInfo file, boolean isMerged, Optional<UUID> part, Instant at) {

    private static final String PART = "part-";
    private static final String MERGED = "merged-";
    private static final String SUFFIX = ".avro";
    private static final String UUID_TEXT = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    private static final Pattern PART_NAME = Pattern.compile(PART + "(" + UUID_TEXT + ")\\.avro");
    private static final Pattern MERGED_NAME =
            Pattern.compile(MERGED + "([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2}))?-" + UUID_TEXT + "\\.avro");
    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("uuuuMMdd").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter HOUR =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HH").withZone(ZoneOffset.UTC);

    /** Lists the finished files of a ledger by time, files of one checkpoint first. Other files have other names. */
    public static List<LedgerName> list(ObjectStore ledger) throws IOException {
        List<LedgerName> names = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        // Merged files twice: while an hour's file is replaced by a day's, one listing can miss both.
        for (String prefix : List.of(PART, MERGED, MERGED)) {
            try (ObjectIterator objects = ledger.list(prefix)) {
                while (objects.hasNext()) {
                    ObjectInfo file = objects.next();
                    if (seen.add(file.name())) {
                        parse(file).ifPresent(names::add);
                    }
                }
            }
        }
        names.sort(Comparator.comparing(LedgerName::day)
                .thenComparing(LedgerName::isMerged)
                .thenComparing(name -> name.file.name()));
        return names;
    }

    private static Optional<LedgerName> parse(ObjectInfo file) {
        String name = file.name();
        Matcher merged = MERGED_NAME.matcher(name);
        if (merged.matches()) {
            String hour = merged.group(4) == null ? "00" : merged.group(4);
            String time = merged.group(1) + "-" + merged.group(2) + "-" + merged.group(3) + "T" + hour + ":00:00Z";
            try {
                return Optional.of(new LedgerName(file, true, Optional.empty(), Instant.parse(time)));
            } catch (DateTimeParseException e) {
                return Optional.empty();
            }
        }
        if (!name.startsWith(PART) || !name.endsWith(SUFFIX) || name.indexOf('/') >= 0) {
            return Optional.empty();
        }
        Matcher part = PART_NAME.matcher(name);
        Optional<UUID> id = part.matches() ? Optional.of(UUID.fromString(part.group(1))) : Optional.empty();
        return Optional.of(new LedgerName(
                file,
                false,
                id,
                id.map(uuid -> Instant.ofEpochMilli(uuid.getMostSignificantBits() >>> 16))
                        .orElse(Instant.EPOCH)));
    }

    /** Returns the name of the file from which a part comes. */
    public static String ofPart(UUID id) {
        return PART + id + SUFFIX;
    }

    static String ofDay(Instant day, UUID id) {
        return MERGED + DAY.format(day) + "-" + id + SUFFIX;
    }

    static String ofHour(Instant hour, UUID id) {
        return MERGED + HOUR.format(hour) + "-" + id + SUFFIX;
    }

    /** Returns the days since 1970 at the start of the file's time. Two files with a common part have the same day. */
    public long day() {
        return Math.floorDiv(at.getEpochSecond(), 86_400L);
    }

    long hour() {
        return Math.floorDiv(at.getEpochSecond(), 3_600L);
    }
}
