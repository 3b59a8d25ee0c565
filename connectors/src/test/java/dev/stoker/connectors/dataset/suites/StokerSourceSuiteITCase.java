package dev.stoker.connectors.dataset.suites;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.flink.connector.testframe.environment.ClusterControllable;
import org.apache.flink.connector.testframe.environment.MiniClusterTestEnvironment;
import org.apache.flink.connector.testframe.environment.TestEnvironment;
import org.apache.flink.connector.testframe.external.ExternalContextFactory;
import org.apache.flink.connector.testframe.external.source.DataStreamSourceExternalContext;
import org.apache.flink.connector.testframe.junit.annotations.TestContext;
import org.apache.flink.connector.testframe.junit.annotations.TestEnv;
import org.apache.flink.connector.testframe.junit.annotations.TestSemantics;
import org.apache.flink.connector.testframe.testsuites.SourceTestSuiteBase;
import org.apache.flink.core.execution.CheckpointingMode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flink's tests of bounded sources. The others write records while the job runs, and
 * expect an unbounded source to read them. They are overridden without an annotation, so they do not run.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD, unit = TimeUnit.SECONDS)
class StokerSourceSuiteITCase extends SourceTestSuiteBase<String> {

    @TempDir
    static Path directory;

    @TestSemantics
    CheckpointingMode[] semantics = {CheckpointingMode.EXACTLY_ONCE};

    @TestEnv
    MiniClusterTestEnvironment environment = new MiniClusterTestEnvironment();

    @TestContext
    ExternalContextFactory<TextDataset> context = name -> TextDataset.in(directory);

    @Override
    public void testSavepoint(
            TestEnvironment env, DataStreamSourceExternalContext<String> external, CheckpointingMode semantic) {}

    @Override
    public void testScaleUp(
            TestEnvironment env, DataStreamSourceExternalContext<String> external, CheckpointingMode semantic) {}

    @Override
    public void testScaleDown(
            TestEnvironment env, DataStreamSourceExternalContext<String> external, CheckpointingMode semantic) {}

    @Override
    public void testSourceMetrics(
            TestEnvironment env, DataStreamSourceExternalContext<String> external, CheckpointingMode semantic) {}

    @Override
    public void testTaskManagerFailure(
            TestEnvironment env,
            DataStreamSourceExternalContext<String> external,
            ClusterControllable controller,
            CheckpointingMode semantic) {}
}
