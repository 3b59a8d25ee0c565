package dev.stoker.feeder.plan;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.flink.arguments.OrderFlags;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.ui.StatusAddress;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed. {@code feeder.batch-size} is {@code --batch-size} on the command line. */
public final class FeedFlags {

    /** Common prefix of the keys. */
    public static final String PREFIX = "feeder.";

    private static final OptionHeading CONTENT = new OptionHeading(PREFIX, "Name and content");

    public static final JobOption<String> NAME = CONTENT.text("name", "NAME")
            .withDescription("Name of the feed. Default: the name of the first stream's dataset directory.");

    public static final JobOption<String> VERSION = CONTENT.text("version", "NAME")
            .withDescription("Version to serve, a number or a tag. A stream with @version keeps its own. Default: the"
                    + " newest.");

    public static final JobOption<String> AS_OF = CONTENT.text("as-of", "TIME")
            .withDescription("Serve the newest version of a time: 2026-11-20, 2026-11-20T10:00,"
                    + " 2026-11-20T10:00Z, or a time ago: 36h, 7d. A stream with @version keeps it.");

    public static final JobOption<Boolean> FOLLOW = CONTENT.flag("follow")
            .withDescription("Read the newest version of the dataset in each epoch, instead of the version at the"
                    + " feed's start. The version of an epoch is chosen when the epoch is first requested, or first"
                    + " written to a topic.");

    public static final JobOption<Long> EPOCHS = CONTENT.longNumber("epochs")
            .atLeast(1, "is not positive")
            .withDescription("Epochs for every group of every stream. The feed ends when all groups that have"
                    + " subscribed, or the groups of --groups, have acknowledged all epochs.");

    public static final JobOption<String> WHERE = CONTENT.text("where", "CONDITION")
            .withDescription("Condition that samples must satisfy, as in SQL: \"width >= 256 AND label IN ('cat',"
                    + " 'dog')\". It can use the key and all fields but payload. Default: all samples.");

    public static final JobOption<List<String>> GROUPS = CONTENT.texts("groups", "GROUP")
            .of(FeedKind.TRAINERS)
            .withDescription("A group that must finish before the feed ends, as stream/group; others need not. Can be"
                    + " repeated.");

    private static final OptionHeading ORDER = new OptionHeading(PREFIX, "Order of the samples");

    public static final JobOption<Integer> BATCH_SIZE = OrderFlags.batchSize(ORDER);

    public static final JobOption<Long> SEED = OrderFlags.seed(ORDER);

    public static final JobOption<String> SHUFFLE = OrderFlags.shuffle(ORDER);

    public static final JobOption<MemorySize> SHUFFLE_WINDOW = OrderFlags.shuffleWindow(ORDER);

    public static final JobOption<Integer> LANES =
            OrderFlags.lanes(ORDER, "Lanes of the order. Use at least 4 for each feeder machine.");

    public static final JobOption<String> LANE_ORDER = OrderFlags.laneOrder(ORDER);

    private static final OptionHeading ADDRESSES = new OptionHeading(PREFIX, "Addresses", FeedKind.TRAINERS);

    public static final JobOption<String> PORT = ADDRESSES
            .text("port", "PORT")
            .defaultValue("7420")
            .withDescription("Port for trainers, a range such as 7420-7429 for several processes on one machine, or 0"
                    + " for any free port.");

    public static final JobOption<String> BIND = ADDRESSES
            .text("bind", "HOST")
            .defaultValue("127.0.0.1")
            .withDescription("Address to listen on. All addresses except loopback require --token-file,"
                    + " --tls-client-ca or --insecure.");

    public static final JobOption<String> ADVERTISE = ADDRESSES
            .text("advertise", "HOST")
            .withDescription("Host that the feeder announces to trainers, if it differs from the bind address.");

    public static final JobOption<String> UI = ADDRESSES
            .text("ui", "ADDRESS")
            .defaultValue(StatusAddress.DEFAULT)
            .withDescription("Address of the feed's web page and of /metrics for Prometheus: a port or a range of"
                    + " ports on loopback, with a host for access from other machines (0.0.0.0:7430), or off. The"
                    + " page requires no login.");

    public static final JobOption<Integer> MAX_SESSIONS = ADDRESSES
            .number("max-sessions")
            .defaultValue(1024)
            .atLeast(1, "is less than 1")
            .withDescription("Maximum number of trainer connections of one process. The feeder refuses further"
                    + " connections.");

    private static final OptionHeading SECURITY = new OptionHeading(PREFIX, "Security", FeedKind.TRAINERS);

    public static final JobOption<String> TOKEN_FILE = SECURITY.text("token-file", "FILE")
            .withDescription("File of tokens, present on every feeder machine. Trainers must present one of these"
                    + " tokens. The feeder reloads the file when it changes.");

    public static final JobOption<String> TLS_CERT = SECURITY.text("tls-cert", "FILE")
            .withDescription("PEM file with the feeder's certificate and its chain. Turns on TLS. The feeder reloads"
                    + " the file when it changes.");

    public static final JobOption<String> TLS_KEY = SECURITY.text("tls-key", "FILE")
            .withDescription("PEM file with the certificate's private key, in PKCS#8 format, not encrypted.");

    public static final JobOption<String> TLS_CLIENT_CA = SECURITY.text("tls-client-ca", "FILE")
            .withDescription("PEM file with the authorities that must have signed the certificates of trainers"
                    + " (mutual TLS).");

    public static final JobOption<Boolean> INSECURE =
            SECURITY.flag("insecure").withDescription("Serve everyone who can reach the bind address.");

    private static final OptionHeading CACHE = new OptionHeading(PREFIX, "Cache and memory");

    public static final JobOption<List<String>> TIER = CACHE.texts("tier", "TIER")
            .withDescription("A cache for chunks in each process: memory:8g, memory:auto, disk:/nvme/stoker:400g, or"
                    + " none. Can be repeated; the first tier is filled first. Default: chunks on a local disk are"
                    + " mapped, other chunks are kept in memory:auto.");

    public static final JobOption<String> CACHE_LIFETIME = CACHE.choice("cache-lifetime", CacheLifetime.class)
            .defaultValue("feed")
            .withDescription("How long disk tiers keep chunks: feed, until the feed ends, or node, for all feeds of"
                    + " the machine that use the same directory.");

    public static final JobOption<String> CACHE_ACCESS = CACHE.choice("cache-access", CacheAccess.class)
            .defaultValue("user")
            .withDescription("Who can read and write the files of disk tiers: user, only the feeder's user, or group,"
                    + " also the users of its group, so that feeds of several users can share a directory.");

    public static final JobOption<Boolean> WARM = CACHE.flag("warm")
            .withDescription("Fill the tiers at the start of the feed instead of during the first epoch, in the order"
                    + " in which chunks will be needed.");

    public static final JobOption<MemorySize> WORKING_MEMORY = CACHE.size("working-memory")
            .withDescription("Limit for the open windows of all streams and groups in one process, and for their"
                    + " chunks if these are not mapped. Default: 1 GiB for windows, and the memory that their chunks"
                    + " need.");

    public static final JobOption<MemorySize> ORIGIN_BANDWIDTH = CACHE.size("origin-bandwidth")
            .withDescription("Maximum bytes per second that one process reads from stores.");

    public static final JobOption<Integer> ORIGIN_CONCURRENCY = CACHE.number("origin-concurrency")
            .defaultValue(TierOptions.DEFAULT_CONCURRENCY)
            .atLeast(1, "is less than 1")
            .withDescription("Maximum number of chunks that one process reads from stores at a time.");

    private static final OptionHeading RECEIPTS = new OptionHeading(PREFIX, "Receipts, failures and the end");

    public static final JobOption<String> LEDGER = RECEIPTS.text("ledger", "DIRECTORY")
            .withDescription("Directory or URI of the ledger. Default: _stoker/feeds/<feed id>/ledger in the first"
                    + " stream's dataset.");

    public static final JobOption<Duration> CHECKPOINT_INTERVAL = RECEIPTS.time("checkpoint-interval")
            .defaultValue(Duration.ofSeconds(10))
            .withDescription("Time between checkpoints. Each checkpoint makes receipts durable.");

    public static final JobOption<String> ON_CORRUPT = RECEIPTS.choice("on-corrupt", OnCorrupt.class)
            .defaultValue("fail")
            .withDescription("What to do if a row is still damaged after it was read again: fail, or skip the row and"
                    + " record it.");

    public static final JobOption<Duration> IDLE_TIMEOUT = RECEIPTS.time("idle-timeout")
            // Longer than the outages of an hour that a feed must survive: without its store or network it has no
            // trainers.
            .defaultValue(Duration.ofHours(2))
            .of(FeedKind.TRAINERS)
            .withDescription("Time without any trainer after which the feed ends; 0 s for never.");

    public static final JobOption<Integer> PARALLELISM = RECEIPTS.number("parallelism")
            .atLeast(1, "is not positive")
            .withDescription("Number of feeder subtasks, at most the number of lanes. Default: Flink's configured"
                    + " parallelism.");

    private FeedFlags() {}

    /** Returns all options under their headings. */
    public static List<OptionHeading> headings() {
        return List.of(CONTENT, ORDER, ADDRESSES, SECURITY, CACHE, RECEIPTS);
    }

    /** Returns all options. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}
