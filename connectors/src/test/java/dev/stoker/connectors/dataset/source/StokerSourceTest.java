package dev.stoker.connectors.dataset.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.EveryTypeDataset;
import dev.stoker.connectors.dataset.SampleTexts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StokerSourceTest {

    @TempDir
    static Path directory;

    /** Version 1 has rows 0 to 29 in three chunks, version 2 lacks rows 11 and 13, version 3 has a chunk more. */
    @BeforeAll
    static void createDataset() throws Exception {
        EveryTypeDataset dataset = EveryTypeDataset.create(directory);
        dataset.append("train", 3, 10);
        dataset.remove(1, 1, 3);
        dataset.append("val", 1, 2);
    }

    private static List<String> read(RuntimeExecutionMode mode, UnaryOperator<StokerSourceBuilder<String>> settings)
            throws Exception {
        StokerSourceBuilder<String> builder = StokerSource.<String>builder()
                .setPath(directory.toString())
                .setColumns("key")
                .setDeserializer(new SampleTexts(1));
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(2);
        environment.setRuntimeMode(mode);
        return environment
                .fromSource(settings.apply(builder).build(), WatermarkStrategy.noWatermarks(), "samples")
                .executeAndCollect(1_000);
    }

    private static String[] lines(String version, int from, int to, List<Integer> without) {
        List<String> lines = new ArrayList<>();
        for (int n = from; n < to; n++) {
            if (!without.contains(n)) {
                lines.add(version + " " + n / 10 + "/" + n % 10 + (n < 30 ? " train" : " val") + " key-" + n);
            }
        }
        return lines.toArray(String[]::new);
    }

    @Test
    void readsEverySampleOfTheNewestVersionOnce() throws Exception {
        for (RuntimeExecutionMode mode : List.of(RuntimeExecutionMode.BATCH, RuntimeExecutionMode.STREAMING)) {
            assertThat(read(mode, source -> source)).containsExactlyInAnyOrder(lines("v3", 0, 32, List.of(11, 13)));
        }
    }

    @Test
    void readsOlderVersions() throws Exception {
        assertThat(read(RuntimeExecutionMode.BATCH, source -> source.setVersion(1)))
                .containsExactlyInAnyOrder(lines("v1", 0, 30, List.of()));
        assertThat(read(RuntimeExecutionMode.BATCH, source -> source.setVersion(2)))
                .containsExactlyInAnyOrder(lines("v2", 0, 30, List.of(11, 13)));
    }

    @Test
    void readsOnlyTheNamedSplits() throws Exception {
        assertThat(read(RuntimeExecutionMode.BATCH, source -> source.setSplits("val")))
                .containsExactlyInAnyOrder(lines("v3", 30, 32, List.of()));
        assertThat(read(RuntimeExecutionMode.BATCH, source -> source.setSplitConditions(List.of(List.of("none")))))
                .isEmpty();
    }

    @Test
    void neverExceedsTheLimitOfAReader() throws Exception {
        assertThat(read(RuntimeExecutionMode.BATCH, source -> source.setLimitPerReader(3)))
                .hasSizeBetween(3, 6)
                .doesNotHaveDuplicates();
    }

    @Test
    void refusesWhatTheDatasetDoesNotHave() {
        assertFails(source -> source.setColumns("label"), "has no column 'label'; it has key, f_bool");
        assertFails(source -> source.setSplits("test"), "test");
        assertFails(source -> source.setVersion(9), "version 9");
        assertFails(source -> source.setPath(directory + "/nothing"), directory + "/nothing");
    }

    private static void assertFails(UnaryOperator<StokerSourceBuilder<String>> settings, String message) {
        assertThatThrownBy(() -> read(RuntimeExecutionMode.BATCH, settings))
                .satisfies(failure ->
                        assertThat(ExceptionUtils.stringifyException(failure)).contains(message));
    }

    @Test
    void reportsAllWrongSettingsTogether() {
        assertThatThrownBy(() -> StokerSource.<String>builder()
                        .setVersion(-1)
                        .setColumns("a", "a")
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("setPath", "-1", "named twice", "setDeserializer");
    }
}
