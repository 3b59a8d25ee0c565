package dev.stoker.connectors.dataset.suites;

import dev.stoker.connectors.shared.LeavesThreads;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.flink.connector.testframe.environment.MiniClusterTestEnvironment;
import org.apache.flink.connector.testframe.external.ExternalContextFactory;
import org.apache.flink.connector.testframe.junit.annotations.TestContext;
import org.apache.flink.connector.testframe.junit.annotations.TestEnv;
import org.apache.flink.connector.testframe.junit.annotations.TestSemantics;
import org.apache.flink.connector.testframe.testsuites.SinkTestSuiteBase;
import org.apache.flink.core.execution.CheckpointingMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Flink's tests of sinks. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD, unit = TimeUnit.SECONDS)
@Tag("full-programs")
@LeavesThreads("MetricQuerier never ends the pool of its REST client")
class StokerSinkSuiteITCase extends SinkTestSuiteBase<String> {

    @TempDir
    static Path directory;

    @TestSemantics
    CheckpointingMode[] semantics = {CheckpointingMode.EXACTLY_ONCE};

    @TestEnv
    MiniClusterTestEnvironment environment = new MiniClusterTestEnvironment();

    @TestContext
    ExternalContextFactory<TextDataset> context = name -> TextDataset.in(directory);
}
