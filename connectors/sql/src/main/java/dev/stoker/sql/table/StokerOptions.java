package dev.stoker.sql.table;

import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of a table. */
public final class StokerOptions {

    public static final ConfigOption<String> PATH = ConfigOptions.key("path")
            .stringType()
            .noDefaultValue()
            .withDescription("Location of the dataset: a path that all machines have mounted, or a URI.");

    public static final ConfigOption<Long> VERSION = ConfigOptions.key("version")
            .longType()
            .noDefaultValue()
            .withDescription("Version to read. By default, the newest one when the job starts.");

    public static final ConfigOption<List<String>> SPLITS = ConfigOptions.key("splits")
            .stringType()
            .asList()
            .noDefaultValue()
            .withDescription("Splits to read, separated by semicolons. By default, all.");

    public static final ConfigOption<String> SINK_SPLIT = ConfigOptions.key("sink.split")
            .stringType()
            .defaultValue("train")
            .withDescription("Split of the rows that INSERT writes.");

    public static final ConfigOption<MemorySize> SINK_CHUNK_SIZE = ConfigOptions.key("sink.chunk-size")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(8))
            .withDescription("Length at which INSERT ends a chunk.");

    public static final ConfigOption<List<String>> SINK_PAYLOAD = ConfigOptions.key("sink.payload")
            .stringType()
            .asList()
            .noDefaultValue()
            .withDescription("Payload columns of a dataset that INSERT creates, separated by semicolons. By default,"
                    + " all columns of type BYTES.");

    public static final ConfigOption<List<String>> SINK_CATEGORICAL = ConfigOptions.key("sink.categorical")
            .stringType()
            .asList()
            .noDefaultValue()
            .withDescription("Columns of class names of a dataset that INSERT creates, separated by semicolons.");

    private StokerOptions() {}
}
