package dev.stoker.ingest.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowSourcesTest {
    private static final RowIngestOptions.Tree RULES =
            new RowIngestOptions.Tree(FileTree.Hidden.SKIP, FileTree.Links.FOLLOW, FileTree.Errors.FAIL);

    @TempDir
    Path directory;

    @BeforeEach
    void write() throws IOException {
        for (String name : List.of(
                "a/x.parquet",
                "a/y.csv",
                "a/_SUCCESS",
                "a/_temporary/z.parquet",
                "a/.hidden",
                "b/x.parquet",
                "b/day=2/x.parquet",
                "b/day=10/x.parquet")) {
            Path file = directory.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, name);
        }
    }

    private List<String> list(String... sources) throws IOException {
        return RowSources.list(
                        List.of(sources).stream().map(s -> directory + "/" + s).toList(), RULES, 100)
                .stream()
                .map(SourceFile::path)
                .toList();
    }

    @Test
    void aDirectoryIsTakenWithEverythingBelowItExceptNotesOfOtherSystems() throws IOException {
        assertThat(list("a")).containsExactly("x.parquet", "y.csv");
        assertThat(list("b")).containsExactly("x.parquet", "day=10/x.parquet", "day=2/x.parquet");
    }

    @Test
    void aFileIsTakenAlone() throws IOException {
        assertThat(list("a/y.csv")).containsExactly("y.csv");
    }

    @Test
    void patternsMatchWithinADirectoryAndAcrossDirectories() throws IOException {
        assertThat(list("a/*.parquet")).containsExactly("x.parquet");
        assertThat(list("b/*.parquet")).containsExactly("x.parquet");
        assertThat(list("b/day=*/x.parquet")).containsExactly("day=10/x.parquet", "day=2/x.parquet");
        assertThat(list("b/**.parquet")).hasSize(3);
        assertThat(list("a/{x,z}.parquet")).containsExactly("x.parquet");
    }

    @Test
    void pathsOfSeveralSourcesDiffer() throws IOException {
        assertThat(list("a/x.parquet", "b/x.parquet")).containsExactly("a/x.parquet", "b/x.parquet");
        assertThat(list("a/x.parquet", "a")).containsExactly("x.parquet", "y.csv");
    }

    @Test
    void aSourceWithoutFilesIsNamed() {
        assertThatThrownBy(() -> list("a", "b/*.orc"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("b/*.orc contains no files");
    }

    @Test
    void partsAreJoinedToRunsThatFillSeveralChunks() {
        SourceFile file = new SourceFile("/r", "f", 1000);
        List<RowRun.Piece> pieces = IntStream.range(0, 10)
                .mapToObj(i -> new RowRun.Piece(file, i, 100L * i, 100, 5, 0))
                .toList();
        List<RowRun> runs = RowRun.join(pieces, 250);
        assertThat(runs).extracting(RowRun::number).containsExactly(0, 1, 2, 3);
        assertThat(runs.stream().flatMap(run -> run.pieces().stream())).containsExactlyElementsOf(pieces);
        assertThat(runs).extracting(run -> run.pieces().size()).containsExactly(3, 3, 3, 1);
    }
}
