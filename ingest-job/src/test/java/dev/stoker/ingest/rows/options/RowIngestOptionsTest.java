package dev.stoker.ingest.rows.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RowIngestOptionsTest {
    @Test
    void columnsAreGivenInListsAndPairs() {
        RowIngestOptions options = RowIngestOptions.parse(
                "/s/a.parquet",
                "/s/b.parquet",
                "/t",
                "--columns=x,y, z",
                "--rename",
                "x=image",
                "--key=id,part",
                "--label=y",
                "--type",
                "z=int8",
                "--read=path=scan",
                "--read-root=/scans",
                "--payload=image",
                "--split-by=fold",
                "--append",
                "--order=listed",
                "--format=parquet");
        assertThat(options.sources()).containsExactly("/s/a.parquet", "/s/b.parquet");
        assertThat(options.target()).isEqualTo("/t");
        assertThat(options.columns())
                .isEqualTo(new RowIngestOptions.Columns(
                        Optional.of(List.of("x", "y", "z")),
                        List.of(),
                        Map.of("x", "image"),
                        List.of("id", "part"),
                        Optional.of("y"),
                        Map.of("z", "int8"),
                        new FileContents(
                                new ArrayList<>(List.of(new FileContents.Column("path", "scan", "binary"))),
                                "/scans",
                                FileTree.Empty.SKIP),
                        Optional.of(List.of("image")),
                        Optional.of("fold"),
                        Optional.empty()));
        assertThat(RowIngestOptions.parse("/s", "/t", "--where", "a > 1 AND b = 'x'")
                        .columns()
                        .where()
                        .orElseThrow()
                        .columns())
                .containsExactly("a", "b");
        assertThat(options.effect()).isEqualTo(IngestRun.Effect.APPEND);
        assertThat(options.order()).isEqualTo(new WalkOrder.Listed());
    }

    @Test
    void everythingThatIsWrongIsNamedAtOnce() {
        assertThatThrownBy(() -> RowIngestOptions.parse(
                        "/s",
                        "--format=orc",
                        "--rename=x",
                        "--type=a=int7",
                        "--append",
                        "--replace",
                        "--split=val=0.1",
                        "--split-by=fold",
                        "--order=random",
                        "--where=a >",
                        "--colums=x"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContainingAll(
                        "one or more sources and a target",
                        "--format: orc is not one of",
                        "x is not column=field",
                        "unknown type 'int7'",
                        "--append and --replace",
                        "--split and --split-by",
                        "--order: random is not shuffled or listed",
                        "--where: expected a value, at character 4",
                        "unknown option --colums");
    }
}
