package dev.stoker.metadata;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the files of a dataset lie, relative to its directory. */
public final class DatasetLayout {

    /** What the dataset is. */
    public static final String DATASET_JSON = "_stoker/dataset.json";

    /** The same bytes a second time. */
    public static final String DATASET_COPY = "_stoker/dataset-copy.json";

    /** The log's folder. */
    public static final String LOG = "_stoker/log/";

    /** The second copies of log entries. */
    public static final String INGESTS = "_stoker/ingests/";

    /** The chunk tables. */
    public static final String TABLES = "_stoker/tables/";

    /** Who is at work. */
    public static final String LEASES = "_stoker/leases/";

    /** What feeds leave behind. */
    public static final String FEEDS = "_stoker/feeds/";

    /** The chunks. */
    public static final String CHUNKS = "chunks/";

    private static final Pattern INGEST_ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");
    private static final Pattern LOG_NAME = Pattern.compile(Pattern.quote(LOG) + "([0-9]{20})\\.avro");
    private static final Pattern TABLE_NAME = Pattern.compile(Pattern.quote(TABLES) + "([0-9]{20})\\.arrow");

    private static final Pattern LEASE_NAME =
            Pattern.compile(Pattern.quote(LEASES) + "(" + INGEST_ID.pattern() + ")\\.json");

    private DatasetLayout() {}

    /** The log entry of a version. */
    public static String logEntry(long version) {
        return String.format(Locale.ROOT, "%s%020d.avro", LOG, version);
    }

    /** The second copy of an ingest's log entry. */
    public static String ingestCopy(String ingest) {
        return INGESTS + checkIngestId(ingest) + ".avro";
    }

    /** The lease of an ingest. */
    public static String lease(String ingest) {
        return LEASES + checkIngestId(ingest) + ".json";
    }

    /** The ingest whose lease has this name. */
    static Optional<String> ingestOfLease(String name) {
        Matcher matcher = LEASE_NAME.matcher(name);
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** The chunk table of a version. */
    public static String table(long version) {
        return String.format(Locale.ROOT, "%s%020d.arrow", TABLES, version);
    }

    /** The version whose log entry has this name. */
    static OptionalLong versionOfLogEntry(String name) {
        return version(LOG_NAME, name);
    }

    /** The version whose chunk table has this name. */
    static OptionalLong versionOfTable(String name) {
        return version(TABLE_NAME, name);
    }

    private static OptionalLong version(Pattern pattern, String name) {
        Matcher matcher = pattern.matcher(name);
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseLong(matcher.group(1)));
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    /**
     * Returns the ingest id if it is one.
     *
     * @throws IllegalArgumentException unless it has 1 to 128 letters, digits, {@code .}, {@code _}, {@code -} and starts with a
     *     letter or digit
     */
    public static String checkIngestId(String ingest) {
        if (!INGEST_ID.matcher(ingest).matches()) {
            throw new IllegalArgumentException("Not an ingest id: '" + ingest
                    + "'; use 1 to 128 letters, digits, '.', '_' and '-', beginning with a letter or digit");
        }
        return ingest;
    }
}
