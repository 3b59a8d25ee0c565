package dev.stoker.feeder;

import dev.stoker.feeder.node.tiers.TierOptions;
import dev.stoker.feeder.ui.StatusAddress;
import dev.stoker.schemas.order.OrderSpec;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of a feed. {@code feeder.batch-size} is {@code --batch-size} on the command line. */
public final class FeederOptions {

    /** Common prefix of the keys. */
    public static final String PREFIX = "feeder.";

    public static final ConfigOption<String> NAME = ConfigOptions.key(PREFIX + "name")
            .stringType()
            .noDefaultValue()
            .withDescription("Name of the feed; by default that of the first stream's dataset directory.");

    public static final ConfigOption<Integer> BATCH_SIZE = ConfigOptions.key(PREFIX + "batch-size")
            .intType()
            .defaultValue(OrderSpec.defaults().batchSize())
            .withDescription("Samples of a batch for one rank.");

    public static final ConfigOption<Long> SEED = ConfigOptions.key(PREFIX + "seed")
            .longType()
            .defaultValue(OrderSpec.defaults().seed())
            .withDescription("Seed of the order.");

    public static final ConfigOption<Integer> LANES = ConfigOptions.key(PREFIX + "lanes")
            .intType()
            .defaultValue(OrderSpec.defaults().lanes())
            .withDescription("Lanes of the order; choose at least 4 for each feeder machine.");

    public static final ConfigOption<MemorySize> SHUFFLE_WINDOW = ConfigOptions.key(PREFIX + "shuffle-window")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(OrderSpec.defaults().shuffleWindowBytes() >> 20))
            .withDescription("Chunk bytes that are shuffled together, over all lanes.");

    public static final ConfigOption<String> SHUFFLE = ConfigOptions.key(PREFIX + "shuffle")
            .stringType()
            .defaultValue("window")
            .withDescription("How samples are permuted: window or none.");

    public static final ConfigOption<String> LANE_ORDER = ConfigOptions.key(PREFIX + "lane-order")
            .stringType()
            .defaultValue("mixed")
            .withDescription("How lanes take turns: mixed or fixed.");

    public static final ConfigOption<Boolean> FOLLOW = ConfigOptions.key(PREFIX + "follow")
            .booleanType()
            .defaultValue(false)
            .withDescription(
                    "Each epoch takes the newest version of its dataset at the time when it is first asked for, or written"
                            + " to a topic, instead of all epochs that of the feed's start.");

    public static final ConfigOption<Long> EPOCHS = ConfigOptions.key(PREFIX + "epochs")
            .longType()
            .noDefaultValue()
            .withDescription(
                    "Epochs of every group of every stream; the feed ends when everyone who has subscribed, or the groups of"
                            + " --groups, have acknowledged theirs.");

    public static final ConfigOption<List<String>> GROUPS = ConfigOptions.key(PREFIX + "groups")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription(
                    "Groups that alone must finish before the feed ends, as stream/group; separated by semicolons.");

    public static final ConfigOption<String> PORT = ConfigOptions.key(PREFIX + "port")
            .stringType()
            .defaultValue("7420")
            .withDescription(
                    "Port for trainers, a range such as 7420-7429 for several processes on a machine, or 0 for any.");

    public static final ConfigOption<String> BIND = ConfigOptions.key(PREFIX + "bind")
            .stringType()
            .defaultValue("127.0.0.1")
            .withDescription(
                    "Address to listen on; anything but loopback needs --token-file, --tls-client-ca or --insecure.");

    public static final ConfigOption<String> ADVERTISE = ConfigOptions.key(PREFIX + "advertise")
            .stringType()
            .noDefaultValue()
            .withDescription("Host that trainers are told, when it differs from the bind address.");

    public static final ConfigOption<String> TOKEN_FILE = ConfigOptions.key(PREFIX + "token-file")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "File of tokens, present on every feeder machine; trainers must present one of them. Read again when it"
                            + " changes.");

    public static final ConfigOption<String> TLS_CERT = ConfigOptions.key(PREFIX + "tls-cert")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the feeder's certificate and its chain: connections are encrypted with TLS;"
                    + " taken over anew when it changes.");

    public static final ConfigOption<String> TLS_KEY = ConfigOptions.key(PREFIX + "tls-key")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the certificate's private key, PKCS#8, not encrypted.");

    public static final ConfigOption<String> TLS_CLIENT_CA = ConfigOptions.key(PREFIX + "tls-client-ca")
            .stringType()
            .noDefaultValue()
            .withDescription("PEM file with the certificates that must have signed those of trainers (mutual TLS).");

    public static final ConfigOption<Boolean> INSECURE = ConfigOptions.key(PREFIX + "insecure")
            .booleanType()
            .defaultValue(false)
            .withDescription("Serve everyone who can reach the bind address.");

    public static final ConfigOption<String> ON_CORRUPT = ConfigOptions.key(PREFIX + "on-corrupt")
            .stringType()
            .defaultValue("fail")
            .withDescription(
                    "What happens on damage that reading again does not heal: fail, or skip the row and record it.");

    public static final ConfigOption<Duration> IDLE_TIMEOUT = ConfigOptions.key(PREFIX + "idle-timeout")
            .durationType()
            .defaultValue(Duration.ofHours(1))
            .withDescription("Time without any trainer after which the feed ends; 0 s for never.");

    public static final ConfigOption<String> LEDGER = ConfigOptions.key(PREFIX + "ledger")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "Directory or URI of the ledger; by default _stoker/feeds/<feed id>/ledger in the first stream's dataset.");

    public static final ConfigOption<Duration> CHECKPOINT_INTERVAL = ConfigOptions.key(PREFIX + "checkpoint-interval")
            .durationType()
            .defaultValue(Duration.ofSeconds(10))
            .withDescription("Time between checkpoints, each of which makes receipts durable.");

    public static final ConfigOption<Integer> PARALLELISM = ConfigOptions.key(PREFIX + "parallelism")
            .intType()
            .noDefaultValue()
            .withDescription("Feeder subtasks; by default what Flink is configured to, at most the lanes.");

    public static final ConfigOption<MemorySize> WORKING_MEMORY = ConfigOptions.key(PREFIX + "working-memory")
            .memoryType()
            .noDefaultValue()
            .withDescription(
                    "Limit of the open windows of all streams and groups in one process, and of their chunks where"
                            + " these are not mapped; by default 1 gb, and what the windows' chunks need.");

    public static final ConfigOption<List<String>> TIER = ConfigOptions.key(PREFIX + "tier")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A place that keeps chunks in front of the dataset's store, in each process: memory:8g,"
                    + " memory:auto or disk:/nvme/stoker:400g, may be repeated, the first is filled first; or none. By default"
                    + " chunks of a local disk are mapped, others kept in memory:auto.");

    public static final ConfigOption<String> CACHE_LIFETIME = ConfigOptions.key(PREFIX + "cache-lifetime")
            .stringType()
            .defaultValue("feed")
            .withDescription(
                    "How long disk tiers keep chunks: feed, until it ends, or node, for all feeds of the machine that"
                            + " name the same directory.");

    public static final ConfigOption<String> CACHE_ACCESS = ConfigOptions.key(PREFIX + "cache-access")
            .stringType()
            .defaultValue("user")
            .withDescription("Who may read and write what disk tiers hold: user, the feeder's user alone, or group, the"
                    + " users of its group too, for feeds of several users that share a directory.");

    public static final ConfigOption<Boolean> WARM = ConfigOptions.key(PREFIX + "warm")
            .booleanType()
            .defaultValue(false)
            .withDescription("Fill the tiers at once, in the order of need, instead of with the first epoch.");

    public static final ConfigOption<MemorySize> ORIGIN_BANDWIDTH = ConfigOptions.key(PREFIX + "origin-bandwidth")
            .memoryType()
            .noDefaultValue()
            .withDescription("Bytes a second that one process reads from stores at most.");

    public static final ConfigOption<Integer> ORIGIN_CONCURRENCY = ConfigOptions.key(PREFIX + "origin-concurrency")
            .intType()
            .defaultValue(TierOptions.DEFAULT_CONCURRENCY)
            .withDescription("Chunks that one process reads from stores at a time.");

    public static final ConfigOption<Integer> MAX_SESSIONS = ConfigOptions.key(PREFIX + "max-sessions")
            .intType()
            .defaultValue(1024)
            .withDescription("Trainer connections at a time in one process; more are refused.");

    public static final ConfigOption<String> UI = ConfigOptions.key(PREFIX + "ui")
            .stringType()
            .defaultValue(StatusAddress.DEFAULT)
            .withDescription(
                    "Where a page shows the feed, and /metrics its figures for Prometheus: a port or a range, with a host"
                            + " in front to be reached from elsewhere (0.0.0.0:7430), or off. Nobody need log in to read it.");

    private FeederOptions() {}

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
