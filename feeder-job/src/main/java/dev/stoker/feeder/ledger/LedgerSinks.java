package dev.stoker.feeder.ledger;

import java.net.URI;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/** Builds the sink of the ledger. */
public final class LedgerSinks {

    private LedgerSinks() {}

    /**
     * A sink that publishes one file a subtask and checkpoint, when there was something to write.
     *
     * @param directory directory of the ledger, as a URI; Flink's path would not decode its escapes
     */
    public static FileSink<byte[]> create(String directory) {
        return FileSink.forBulkFormat(new Path(URI.create(directory)), LedgerBulkWriter::open)
                .withBucketAssigner(new BasePathBucketAssigner<>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .withOutputFileConfig(OutputFileConfig.builder()
                        .withPartPrefix("part")
                        .withPartSuffix(".avro")
                        .build())
                .build();
    }
}
