package dev.stoker.bench.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShapesTest {

    @Test
    void theDemandOfTheKnownShapesIsThePublicOne() throws IOException {
        Shape resnet = Shapes.of("resnet50", "h100");
        assertThat(resnet.samplesPerSecond()).isCloseTo(1786, within(1.0));
        assertThat(resnet.bytesPerSecond()).isCloseTo(205e6, within(1e6));
        assertThat(resnet.leastSamplesPerSecond()).isCloseTo(0.9 * 1786, within(1.0));
        assertThat(Shapes.of("unet3d", "H100").bytesPerSecond()).isCloseTo(3.18e9, within(5e6));
        assertThat(Shapes.of("cosmoflow", "h100").bytesPerSecond()).isCloseTo(808e6, within(1e6));
        assertThat(Shapes.of("retinanet", "b200").bytesPerSecond()).isCloseTo(163e6, within(1e6));
    }

    @Test
    void aLanguageModelAsksForFewBytes() throws IOException {
        // 8,192 tokens x 6 x 8.03e9 operations at 40 % of 989 TFLOP/s.
        Shape llm = Shapes.of("llm", "h100");
        assertThat(llm.computeSeconds()).isCloseTo(0.998, within(0.001));
        assertThat(llm.bytesPerSecond()).isCloseTo(32_800, within(100.0));
    }

    @Test
    void aWorkloadFileOfDlioIsAShape() throws IOException {
        Shape shape = Shapes.parse("""
                model:
                  name: mine
                dataset:
                  record_length_bytes: 146600628   # mean
                  record_length_bytes_stdev: 68341808
                  record_length_bytes_resize: 2097152
                reader:
                  batch_size: 7
                train:
                  computation_time: 0.323
                metric:
                  au: 0.85
                """, "mine.yaml");
        assertThat(shape).isEqualTo(new Shape("mine", "-", 146_600_628, 68_341_808, 7, 0.323, 0.85, "mine.yaml"));
        String json = "{\n \"record_length_bytes\": 100,\n \"batch_size\": 4, \n \"computation_time\": 0.5\n}";
        assertThat(Shapes.parse(json, "mine.json").samplesPerSecond()).isEqualTo(8);
        assertThat(Shapes.parse(json.replace("\n", ""), "mine.json").samplesPerSecond())
                .isEqualTo(8);
    }

    @Test
    void filesOfOlderAndNewerVersionsOfDlioAreShapes() throws IOException {
        String older = """
                model: resnet50
                dataset:
                  record_length: 114660
                reader:
                  batch_size: 50
                train:
                  computation_time: 0.1
                """;
        assertThat(Shapes.parse(older, "x.yaml"))
                .isEqualTo(new Shape("resnet50", "-", 114_660, 0, 50, 0.1, 0.9, "x.yaml"));
        String newer = """
                record_length_bytes: 9
                batch_size: 5
                train:
                  computation_time:
                    stdev: 7
                    mean: 0.5
                """;
        assertThat(Shapes.parse(newer, "x.yaml").computeSeconds()).isEqualTo(0.5);
        assertThat(Shapes.parse("{\"record_length\":9,\"batch_size\":5,\"computation_time\":{\"mean\":0.5}}", "x.json")
                        .computeSeconds())
                .isEqualTo(0.5);
        // What the plug-in for DLIO runs.
        Path own = Path.of("..", "..", "benchmarks", "dlio", "workload", "stoker.yaml");
        assertThat(Shapes.of(own.toString(), "h100").sampleBytes()).isEqualTo(114_660);
    }

    @Test
    void aFileThatIsNoShapeIsRefusedWithAllProblems() {
        assertThatThrownBy(() -> Shapes.parse("batch_size: many\nau: 2", "x.yaml"))
                .isInstanceOf(StokerException.class)
                .hasMessageContainingAll(
                        "x.yaml is no shape",
                        "record_length_bytes is missing",
                        "batch_size is 'many'",
                        "computation_time is missing");
        assertThatThrownBy(() ->
                        Shapes.parse("record_length_bytes: 0\nbatch_size: 0\ncomputation_time: 0\nau: 2", "x.yaml"))
                .hasMessageContainingAll("record_length_bytes is 0", "batch_size is 0", "computation_time", "au is 2");
        assertThatThrownBy(() -> Shapes.parse("{\"batch_size\": 1", "x.json"))
                .hasMessageContaining("it is not valid JSON");
        assertThatThrownBy(
                        () -> Shapes.parse("record_length_bytes: 1e30\nbatch_size: 1\ncomputation_time: 1", "x.yaml"))
                .hasMessageContaining("record_length_bytes is 1.0E30, not between 1 and 1e12");
        assertThatThrownBy(() -> Shapes.parse("record_length_bytes: 1\nbatch_size: 1.5\ncomputation_time: 1", "x.yaml"))
                .hasMessageContaining("batch_size is 1.5, not a whole number");
    }

    @Test
    void aFileThatIsNoTextIsRefused(@TempDir Path directory) throws IOException {
        Path file = Files.write(directory.resolve("x.yaml"), new byte[] {(byte) 0xff, 0});
        assertThatThrownBy(() -> Shapes.of(file.toString(), "h100")).hasMessageContaining("not a text in UTF-8");
    }

    @Test
    void anUnknownShapeOrAcceleratorNamesTheKnownOnes() {
        assertThatThrownBy(() -> Shapes.of("nosuch", "h100"))
                .hasMessageContaining("known shapes are resnet50, unet3d, cosmoflow, retinanet, llm");
        assertThatThrownBy(() -> Shapes.of("resnet50", "b200")).hasMessageContaining("known for h100, a100");
        assertThatThrownBy(() -> Shapes.all("v100")).hasMessageContaining("expected h100, a100 or b200");
    }
}
