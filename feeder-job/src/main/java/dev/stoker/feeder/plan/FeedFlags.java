package dev.stoker.feeder.plan;

import dev.stoker.flink.arguments.OrderFlags;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.ui.StatusAddress;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed. {@code feeder.batch-size} is {@code --batch-size} on the command line. */
public final class FeedFlags {

    /** Common prefix of the keys. */
    public static final String PREFIX = "feeder.";

    public static final ConfigOption<String> NAME = ConfigOptions.key(PREFIX + "name")
            .stringType()
            .noDefaultValue()
            .withDescription("Name of the feed. Default: the name of the first stream's dataset directory.");

    public static final ConfigOption<Integer> BATCH_SIZE = OrderFlags.batchSize(PREFIX);

    public static final ConfigOption<Long> SEED = OrderFlags.seed(PREFIX);

    public static final ConfigOption<Integer> LANES =
            OrderFlags.lanes(PREFIX, "Lanes of the order. Use at least 4 for each feeder machine.");

    public static final ConfigOption<MemorySize> SHUFFLE_WINDOW = OrderFlags.shuffleWindow(PREFIX);

    public static final ConfigOption<String> SHUFFLE = OrderFlags.shuffle(PREFIX);

    public static final ConfigOption<String> LANE_ORDER = OrderFlags.laneOrder(PREFIX);

    public static final ConfigOption<String> VERSION = ConfigOptions.key(PREFIX + "version")
            .stringType()
            .noDefaultValue()
            .withDescription("Version to serve, a number or a tag. A stream with @version keeps its own. Default: the"
                    + " newest.");

    public static final ConfigOption<String> AS_OF = ConfigOptions.key(PREFIX + "as-of")
            .stringType()
            .noDefaultValue()
            .withDescription("Serve the newest version of a time: 2026-11-20, 2026-11-20T10:00,"
                    + " 2026-11-20T10:00Z, or a time ago: 36h, 7d. A stream with @version keeps it.");

    public static final ConfigOption<Boolean> FOLLOW = ConfigOptions.key(PREFIX + "follow")
            .booleanType()
            .defaultValue(false)
            .withDescription("Read the newest version of the dataset in each epoch, instead of the version at the"
                    + " feed's start. The version of an epoch is chosen when the epoch is first requested, or first"
                    + " written to a topic.");

    public static final ConfigOption<Long> EPOCHS = ConfigOptions.key(PREFIX + "epochs")
            .longType()
            .noDefaultValue()
            .withDescription("Epochs for every group of every stream. The feed ends when all groups that have"
                    + " subscribed, or the groups of --groups, have acknowledged all epochs.");

    public static final ConfigOption<List<String>> GROUPS = ConfigOptions.key(PREFIX + "groups")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A group that must finish before the feed ends, as stream/group; others need not. Can be"
                    + " repeated.");

    public static final ConfigOption<String> PORT = ConfigOptions.key(PREFIX + "port")
            .stringType()
            .defaultValue("7420")
            .withDescription("Port for trainers, a range such as 7420-7429 for several processes on one machine, or 0"
                    + " for any free port.");

    public static final ConfigOption<String> BIND = ConfigOptions.key(PREFIX + "bind")
            .stringType()
            .defaultValue("127.0.0.1")
            .withDescription("Address to listen on. All addresses except loopback require --token-file,"
                    + " --tls-client-ca or --insecure.");

    public static final ConfigOption<String> ADVERTISE = ConfigOptions.key(PREFIX + "advertise")
            .stringType()
            .noDefaultValue()
            .withDescription("Host that the feeder announces to trainers, if it differs from the bind address.");

    public static final ConfigOption<String> TOKEN_FILE = ConfigOptions.key(PREFIX + "token-file")
            .stringType()
            .noDefaultValue()
            .withDescription("File of tokens, present on every feeder machine. Trainers must present one of these"
                    + " tokens. The feeder reloads the file when it changes.");

    public static final ConfigOption<String> TLS_CERT = ConfigOptions.key(PREFIX + "tls-cert")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the feeder's certificate and its chain. Turns on TLS. The feeder reloads"
                    + " the file when it changes.");

    public static final ConfigOption<String> TLS_KEY = ConfigOptions.key(PREFIX + "tls-key")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the certificate's private key, in PKCS#8 format, not encrypted.");

    public static final ConfigOption<String> TLS_CLIENT_CA = ConfigOptions.key(PREFIX + "tls-client-ca")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the authorities that must have signed the certificates of trainers"
                    + " (mutual TLS).");

    public static final ConfigOption<Boolean> INSECURE = ConfigOptions.key(PREFIX + "insecure")
            .booleanType()
            .defaultValue(false)
            .withDescription("Serve everyone who can reach the bind address.");

    public static final ConfigOption<String> ON_CORRUPT = ConfigOptions.key(PREFIX + "on-corrupt")
            .stringType()
            .defaultValue("fail")
            .withDescription("What to do if a row is still damaged after it was read again: fail, or skip the row and"
                    + " record it.");

    public static final ConfigOption<Duration> IDLE_TIMEOUT = ConfigOptions.key(PREFIX + "idle-timeout")
            .durationType()
            // Longer than the outages of an hour that a feed must survive: without its store or network it has no
            // trainers.
            .defaultValue(Duration.ofHours(2))
            .withDescription("Time without any trainer after which the feed ends; 0 s for never.");

    public static final ConfigOption<String> LEDGER = ConfigOptions.key(PREFIX + "ledger")
            .stringType()
            .noDefaultValue()
            .withDescription("Directory or URI of the ledger. Default: _stoker/feeds/<feed id>/ledger in the first"
                    + " stream's dataset.");

    public static final ConfigOption<Duration> CHECKPOINT_INTERVAL = ConfigOptions.key(PREFIX + "checkpoint-interval")
            .durationType()
            .defaultValue(Duration.ofSeconds(10))
            .withDescription("Time between checkpoints. Each checkpoint makes receipts durable.");

    public static final ConfigOption<Integer> PARALLELISM = ConfigOptions.key(PREFIX + "parallelism")
            .intType()
            .noDefaultValue()
            .withDescription("Number of feeder subtasks, at most the number of lanes. Default: Flink's configured"
                    + " parallelism.");

    public static final ConfigOption<MemorySize> WORKING_MEMORY = ConfigOptions.key(PREFIX + "working-memory")
            .memoryType()
            .noDefaultValue()
            .withDescription("Limit for the open windows of all streams and groups in one process, and for their"
                    + " chunks if these are not mapped. Default: 1 GiB for windows, and the memory that their chunks"
                    + " need.");

    public static final ConfigOption<List<String>> TIER = ConfigOptions.key(PREFIX + "tier")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A cache for chunks in each process: memory:8g, memory:auto, disk:/nvme/stoker:400g, or"
                    + " none. Can be repeated; the first tier is filled first. Default: chunks on a local disk are"
                    + " mapped, other chunks are kept in memory:auto.");

    public static final ConfigOption<String> CACHE_LIFETIME = ConfigOptions.key(PREFIX + "cache-lifetime")
            .stringType()
            .defaultValue("feed")
            .withDescription("How long disk tiers keep chunks: feed, until the feed ends, or node, for all feeds of"
                    + " the machine that use the same directory.");

    public static final ConfigOption<String> CACHE_ACCESS = ConfigOptions.key(PREFIX + "cache-access")
            .stringType()
            .defaultValue("user")
            .withDescription("Who can read and write the files of disk tiers: user, only the feeder's user, or group,"
                    + " also the users of its group, so that feeds of several users can share a directory.");

    public static final ConfigOption<Boolean> WARM = ConfigOptions.key(PREFIX + "warm")
            .booleanType()
            .defaultValue(false)
            .withDescription("Fill the tiers at the start of the feed instead of during the first epoch, in the order"
                    + " in which chunks will be needed.");

    public static final ConfigOption<MemorySize> ORIGIN_BANDWIDTH = ConfigOptions.key(PREFIX + "origin-bandwidth")
            .memoryType()
            .noDefaultValue()
            .withDescription("Maximum bytes per second that one process reads from stores.");

    public static final ConfigOption<Integer> ORIGIN_CONCURRENCY = ConfigOptions.key(PREFIX + "origin-concurrency")
            .intType()
            .defaultValue(TierOptions.DEFAULT_CONCURRENCY)
            .withDescription("Maximum number of chunks that one process reads from stores at a time.");

    public static final ConfigOption<Integer> MAX_SESSIONS = ConfigOptions.key(PREFIX + "max-sessions")
            .intType()
            .defaultValue(1024)
            .withDescription("Maximum number of trainer connections of one process. The feeder refuses further"
                    + " connections.");

    public static final ConfigOption<String> UI = ConfigOptions.key(PREFIX + "ui")
            .stringType()
            .defaultValue(StatusAddress.DEFAULT)
            .withDescription("Address of the feed's web page and of /metrics for Prometheus: a port or a range of"
                    + " ports on loopback, with a host for access from other machines (0.0.0.0:7430), or off. The"
                    + " page requires no login.");

    private FeedFlags() {}

    /** All options, in the order in which they are explained. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                NAME,
                BATCH_SIZE,
                SEED,
                LANES,
                SHUFFLE_WINDOW,
                SHUFFLE,
                LANE_ORDER,
                VERSION,
                AS_OF,
                FOLLOW,
                EPOCHS,
                GROUPS,
                PORT,
                BIND,
                ADVERTISE,
                TOKEN_FILE,
                TLS_CERT,
                TLS_KEY,
                TLS_CLIENT_CA,
                INSECURE,
                ON_CORRUPT,
                IDLE_TIMEOUT,
                LEDGER,
                CHECKPOINT_INTERVAL,
                PARALLELISM,
                WORKING_MEMORY,
                TIER,
                CACHE_LIFETIME,
                CACHE_ACCESS,
                WARM,
                ORIGIN_BANDWIDTH,
                ORIGIN_CONCURRENCY,
                MAX_SESSIONS,
                UI);
    }
}
