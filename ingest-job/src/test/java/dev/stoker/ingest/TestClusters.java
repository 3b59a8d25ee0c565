package dev.stoker.ingest;

import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;

/** Flink clusters of tests. */
final class TestClusters {
    private TestClusters() {}

    /** Returns a cluster of one TaskManager with two slots, which runs for one test class. */
    static MiniClusterExtension withTwoSlots() {
        return new MiniClusterExtension(new MiniClusterResourceConfiguration.Builder()
                .setNumberTaskManagers(1)
                .setNumberSlotsPerTaskManager(2)
                .build());
    }
}
