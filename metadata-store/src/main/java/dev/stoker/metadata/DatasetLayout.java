package dev.stoker.metadata;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names the files of a dataset, relative to its directory. */
public final class DatasetLayout {

    /** The description of the dataset. */
    public static final String DATASET_JSON = "_stoker/dataset.json";

    /** The second copy of the description. */
    public static final String DATASET_COPY = "_stoker/dataset-copy.json";

    /** The directory of the log. */
    public static final String LOG = "_stoker/log/";

    /** The second copies of log entries. */
    public static final String INGESTS = "_stoker/ingests/";

    /** The version signs. */
    public static final String VERSIONS = "_stoker/versions/";

    /** The chunk tables. */
    public static final String TABLES = "_stoker/tables/";

    /** The runs of the sample index. */
    public static final String INDEX = "_stoker/index/";

    /** The rows that conditions of feeds select. */
    public static final String FILTERS = "_stoker/filters/";

    /** The leases of running writers. */
    public static final String LEASES = "_stoker/leases/";

    /** The leases of copies from and to the dataset. */
    public static final String COPIES = "_stoker/copies/";

    /** The leases of garbage collections that delete chunks. */
    public static final String COLLECTIONS = "_stoker/collections/";

    /** The tags. */
    public static final String TAGS = "_stoker/tags/";

    /** The uses of versions by running feeds. */
    public static final String USES = "_stoker/uses/";

    /** The sign that versions may have been expired. */
    public static final String EXPIRED = "_stoker/expired.txt";

    /** The files of feeds. */
    public static final String FEEDS = "_stoker/feeds/";

    /** The records of topics that could not become samples. */
    public static final String DEAD_LETTERS = "_stoker/dead-letters/";

    /** The lists of what ingests have left out. */
    public static final String SKIP_LISTS = "_stoker/skipped/";

    /** Temporary files of work that several machines do. */
    public static final String SCRATCH = "_stoker/scratch/";

    /** The records of erasures. */
    public static final String ERASURES = "_stoker/erasures/";

    /** The chunks. */
    public static final String CHUNKS = "chunks/";

    private static final Pattern INGEST_ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");
    private static final Pattern LOG_NAME = Pattern.compile(Pattern.quote(LOG) + "([0-9]{20})\\.avro");
    private static final Pattern SIGN_NAME = Pattern.compile(Pattern.quote(VERSIONS) + "([0-9]{20})\\.txt");
    private static final Pattern TABLE_NAME = Pattern.compile(Pattern.quote(TABLES) + "([0-9]{20})\\.arrow");

    private static final Pattern LEASE_NAME =
            Pattern.compile(Pattern.quote(LEASES) + "(" + INGEST_ID.pattern() + ")\\.json");

    private static final Pattern SKIP_LIST_NAME =
            Pattern.compile(Pattern.quote(SKIP_LISTS) + "(" + INGEST_ID.pattern() + ")/[^/]+\\.jsonl");

    private DatasetLayout() {}

    /** Returns the name of a version's log entry. */
    public static String logEntry(long version) {
        return String.format(Locale.ROOT, "%s%020d.avro", LOG, version);
    }

    /** Returns the name of the second copy of an ingest's log entry. */
    public static String ingestCopy(String ingest) {
        return INGESTS + checkIngestId(ingest) + ".avro";
    }

    /** Returns the name of an ingest's lease. */
    public static String lease(String ingest) {
        return LEASES + checkIngestId(ingest) + ".json";
    }

    /** Returns the ingest whose lease has this name. */
    public static Optional<String> ingestOfLease(String name) {
        Matcher matcher = LEASE_NAME.matcher(name);
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** Returns the name of a list of what an ingest has left out. */
    public static String skipList(String ingest, UUID list) {
        return SKIP_LISTS + checkIngestId(ingest) + "/" + list + ".jsonl";
    }

    /** Returns the ingest whose list of skipped samples has this name. */
    public static Optional<String> ingestOfSkipList(String name) {
        Matcher matcher = SKIP_LIST_NAME.matcher(name);
        return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** Returns the name of a version's chunk table. */
    public static String table(long version) {
        return String.format(Locale.ROOT, "%s%020d.arrow", TABLES, version);
    }

    /** Returns the name of a version's sign. */
    public static String versionSign(long version) {
        return String.format(Locale.ROOT, "%s%020d.txt", VERSIONS, version);
    }

    /** Returns the version whose sign has this name. */
    public static OptionalLong versionOfSign(String name) {
        return version(SIGN_NAME, name);
    }

    /** Returns the version whose log entry has this name. */
    static OptionalLong versionOfLogEntry(String name) {
        return version(LOG_NAME, name);
    }

    /** Returns the version whose chunk table has this name. */
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
     * Returns the ingest id if it is valid.
     *
     * @throws IllegalArgumentException unless it has 1 to 128 letters, digits, {@code .}, {@code _}, {@code -} and
     *     starts with a letter or digit
     */
    public static String checkIngestId(String ingest) {
        if (!INGEST_ID.matcher(ingest).matches()) {
            throw new IllegalArgumentException("Not an ingest id: '" + ingest
                    + "'; use 1 to 128 letters, digits, '.', '_' and '-', beginning with a letter or digit");
        }
        return ingest;
    }
}
