package dev.stoker.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExportOptionsTest {
    @ParameterizedTest
    @CsvSource({
        "/data/photos,/data/photos,,",
        "/data/photos@best:val,/data/photos,best,val",
        "/data/photos@3,/data/photos,3,",
        "/data/photos:val,/data/photos,,val",
        "/data/photos@12:train.a-b,/data/photos,12,train.a-b",
        "s3://bucket/photos@3:val,s3a://bucket/photos,3,val",
        "hdfs://host:8020/photos,hdfs://host:8020/photos,,",
        "hdfs://host:8020/photos:8,hdfs://host:8020/photos,,8",
    })
    void aSourceHasAVersionAndASplit(String text, String dataset, String version, String split) {
        ExportOptions.Source source =
                ExportOptions.parse(text, "/out", "--format", "arrow").source();
        assertThat(source.dataset()).isEqualTo(dataset);
        assertThat(source.reference().version().map(VersionName::text)).isEqualTo(Optional.ofNullable(version));
        assertThat(source.split()).isEqualTo(Optional.ofNullable(split));
    }

    @Test
    void aTimeSelectsAVersion() {
        ExportOptions options =
                ExportOptions.parse("/data:val", "/out", "--format=arrow", "--as-of=2026-11-20T10:00:00Z");
        assertThat(options.source().reference().asOf()).contains(Instant.parse("2026-11-20T10:00:00Z"));
        assertThatThrownBy(() -> ExportOptions.parse("/data@best", "/out", "--format=arrow", "--as-of=7d"))
                .hasMessageContaining("@best and --as-of give two versions");
        assertThatThrownBy(() -> ExportOptions.parse("/data@3", "/out", "--format=arrow", "--version=best"))
                .hasMessageContaining("@3 and --version best give two versions");
        assertThatThrownBy(() -> ExportOptions.parse("/data", "/out", "--format=arrow", "--version=3", "--as-of=7d"))
                .hasMessageContaining("--version and --as-of give two versions");
        assertThat(ExportOptions.parse("/data:val", "/out", "--format=arrow", "--version=best")
                        .source()
                        .reference()
                        .version())
                .contains(new VersionName("best"));
        assertThatThrownBy(() -> ExportOptions.parse("/data", "/out", "--format=arrow", "--version=a b"))
                .hasMessageContaining("option --version: ");
        assertThatThrownBy(() -> ExportOptions.parse("/data", "/out", "--format=arrow", "--as-of=noon"))
                .hasMessageContaining("option --as-of: 'noon' is not a time");
    }

    @Test
    void theOptionsOfAnOrderAreThoseOfAFeed() {
        ExportOptions options = ExportOptions.parse(
                "/data",
                "/out",
                "--format=parquet",
                "--order=epoch:4",
                "--seed=9",
                "--batch-size=10",
                "--lanes=3",
                "--shuffle-window=2mb",
                "--shuffle=none",
                "--lane-order=fixed",
                "--columns=key, label",
                "--columns=image",
                "--rename=image=jpg",
                "--where=label = 'cat' AND age > 3");
        RowOrder.Epoch epoch = (RowOrder.Epoch) options.order();
        assertThat(epoch.epoch()).isEqualTo(4);
        assertThat(epoch.orderSpec()).isEqualTo(new OrderSpec(9, 10, 3, 2 << 20, ShufflePolicy.NONE, LaneOrder.FIXED));
        assertThat(options.files().columns()).contains(List.of("key", "label", "image"));
        assertThat(options.source().where().orElseThrow()).hasToString("label = 'cat' AND age > 3");
        assertThat(options.files().renamed()).isEqualTo(Map.of("image", "jpg"));
    }

    @Test
    void aLayoutOtherThanTheUsualOneIsForParquet() {
        assertThat(ExportOptions.parse("/data", "/out", "--format=parquet")
                        .files()
                        .layout())
                .isEqualTo(ExportOptions.Layout.STOKER);
        assertThat(ExportOptions.parse("/data", "/out", "--format=parquet", "--layout=huggingface")
                        .files()
                        .layout())
                .isEqualTo(ExportOptions.Layout.HUGGINGFACE);
        assertThatThrownBy(() -> ExportOptions.parse("/data", "/out", "--format=arrow", "--layout=huggingface"))
                .hasMessageContaining(
                        "option --layout: huggingface is a layout of Parquet files; give --format parquet");
        assertThatThrownBy(() -> ExportOptions.parse("/data", "/out", "--format=parquet", "--layout=spark"))
                .hasMessageContaining("option --layout: spark is not stoker or huggingface");
    }

    @Test
    void allProblemsAreReportedTogether() {
        assertThatThrownBy(() -> ExportOptions.parse(
                        "/data",
                        "--format=xml",
                        "--lanes=3",
                        "--shards=0",
                        "--rename=a",
                        "--order=sorted",
                        "--where=age >"))
                .isInstanceOfSatisfying(
                        InvalidExportException.class,
                        e -> assertThat(e.problems())
                                .containsExactlyInAnyOrder(
                                        "an export takes a dataset and a target directory, such as ./data/photos"
                                                + " ./photos-parquet",
                                        "option --format: xml is unknown; the format is one of parquet, arrow,"
                                                + " webdataset, tfrecord, avro, jsonl, files",
                                        "option --lanes needs the order of an epoch: give --order epoch:N too",
                                        "option --shards: 0 is not between 1 and 100000",
                                        "option --rename: a is not column=name",
                                        "option --where: expected a value, at character 6, the end",
                                        "option --order: sorted is not stored or epoch:N, such as epoch:0"));
    }
}
