package dev.stoker.ingest.rows.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowSourcesTest {
    private static final RowIngestOptions.Tree RULES = new RowIngestOptions.Tree(
            FileTree.Hidden.SKIP, FileTree.Links.FOLLOW, FileTree.Errors.FAIL, NameFilter.ALL);

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
    void patternsNeedNoEscapesInUris() {
        assertThat(RowSources.normalize("s3://b/y/part-[0-9]?.{csv,tsv}")).isEqualTo("s3a://b/y/part-[0-9]?.{csv,tsv}");
        assertThat(RowSources.normalize("hdfs://h/x/*/")).isEqualTo("hdfs://h/x/*/");
        assertThat(RowSources.normalize("s3a://b/a%20b/")).isEqualTo("s3a://b/a%20b");
        assertThatThrownBy(() -> RowSources.normalize("s3a://b/a b/*.csv")).hasMessageContaining("is not a URI");
        assertThatThrownBy(() -> RowSources.normalize("s3://b/x/../y/*.csv"))
                .hasMessageContaining("must not contain ..");
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
                .hasMessageContaining("no file below " + directory + "/b matches the pattern *.orc");
    }

    @Test
    void partsAreJoinedToRunsThatFillSeveralChunks() {
        SourceFile file = new SourceFile("/r", "f", 1000);
        List<RowRun.Piece> pieces = IntStream.range(0, 10)
                .mapToObj(i -> new RowRun.Piece(file, 0, i, 100L * i, 100, 5, 0))
                .toList();
        List<RowRun> runs = RowRun.join(pieces, 250);
        assertThat(runs).extracting(RowRun::number).containsExactly(0, 1, 2, 3);
        assertThat(runs.stream().flatMap(run -> run.pieces().stream())).containsExactlyElementsOf(pieces);
        assertThat(runs).extracting(run -> run.pieces().size()).containsExactly(3, 3, 3, 1);
    }

    private void write(String name, String content) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private List<SourceFile> listed(List<String> warnings, String source) throws IOException {
        return RowSources.list(List.of(directory + "/" + source), RULES, 100, warnings);
    }

    private void writeSavedSplits() throws IOException {
        write("hf/dataset_dict.json", "{\"splits\": [\"train\", \"test\"]}");
        for (String split : List.of("train", "test")) {
            write(
                    "hf/" + split + "/state.json",
                    "{\"_data_files\": [{\"filename\": \"b.arrow\"}, {\"filename\": \"a.arrow\"}]}");
            write("hf/" + split + "/a.arrow", "x");
            write("hf/" + split + "/b.arrow", "x");
        }
        write("hf/train/cache-17.arrow", "x");
        write("hf/train/old.arrow", "x");
        write("hf/other/z.arrow", "x");
    }

    @Test
    void savedSplitsAndTheirFilesAreTakenAsTheirDescriptionsSay() throws IOException {
        writeSavedSplits();
        List<String> warnings = new ArrayList<>();

        assertThat(listed(warnings, "hf"))
                .extracting(SourceFile::path, SourceFile::split)
                .containsExactly(
                        tuple("other/z.arrow", ""),
                        tuple("test/b.arrow", "test"),
                        tuple("test/a.arrow", "test"),
                        tuple("train/b.arrow", "train"),
                        tuple("train/a.arrow", "train"));
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("train/state.json does not name 1 file beside it, such as train/old.arrow; left out");
        assertThat(listed(warnings, "hf/train/*.arrow")).hasSize(3);

        assertThat(RowSources.list(
                        List.of(directory + "/hf", directory + "/hf/train/a.arrow"), RULES, 100, new ArrayList<>()))
                .hasSize(5);

        Files.delete(directory.resolve("hf/test/b.arrow"));
        assertThatThrownBy(() -> listed(warnings, "hf"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("test/state.json names the file b.arrow, which is missing");
        write("hf/test/state.json", "{");
        assertThatThrownBy(() -> listed(warnings, "hf"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("state.json is damaged");
    }

    @Test
    void shardsOfMdsAreThoseOfTheirIndexWithItsLengths() throws IOException {
        String shard = "{\"column_names\": [\"x\"], \"samples\": 2, \"version\": 2, \"raw_data\":"
                + " {\"basename\": \"%s\", \"bytes\": %d, \"hashes\": {}}, \"zip_data\": %s}";
        String zip = "{\"basename\": \"shard.1.mds.zstd\", \"bytes\": 2, \"hashes\": {}}";
        write(
                "mds/val/index.json",
                "{\"version\": 2, \"shards\": [" + String.format(shard, "shard.0.mds", 3, "null") + ", "
                        + String.format(shard, "shard.1.mds", 9, zip) + "]}");
        write("mds/val/shard.0.mds", "abc");
        write("mds/val/shard.1.mds.zstd", "ab");
        write("mds/val/shard.2.mds", "abc");
        write("mds/rest/shard.0.mds", "abc");
        List<String> warnings = new ArrayList<>();

        assertThat(listed(warnings, "mds"))
                .extracting(SourceFile::path, SourceFile::index)
                .containsExactly(
                        tuple("rest/shard.0.mds", ""),
                        tuple("val/shard.0.mds", directory + "/mds/val/index.json"),
                        tuple("val/shard.1.mds.zstd", directory + "/mds/val/index.json"));
        assertThat(warnings).singleElement().asString().contains("such as val/shard.2.mds; left out");

        write("mds/val/shard.0.mds", "abcd");
        assertThatThrownBy(() -> listed(warnings, "mds"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("index.json says that shard.0.mds has 3 bytes, but it has 4");
        Files.delete(directory.resolve("mds/val/shard.0.mds"));
        assertThatThrownBy(() -> listed(warnings, "mds"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("index.json names the file shard.0.mds, which is missing");
    }

    @Test
    void filesThatAreLeftOutAreCountedByReason() throws IOException {
        Files.createFile(directory.resolve("a/none.parquet"));
        Files.createFile(directory.resolve("a/_empty_note"));
        Files.createSymbolicLink(directory.resolve("a/away.csv"), directory.resolve("missing"));

        assertThat(warnings("a"))
                .containsExactlyInAnyOrder(
                        "left out: 1 empty, such as none.parquet",
                        "left out: 1 hidden, such as .hidden",
                        "left out: 1 broken link, such as away.csv");
        assertThat(warnings("a/*.csv")).containsExactly("left out: 1 broken link, such as away.csv");
    }

    private List<String> warnings(String source) throws IOException {
        List<String> warnings = new ArrayList<>();
        RowSources.list(List.of(directory + "/" + source), RULES, 100, warnings);
        return warnings;
    }

    @Test
    void namesOfShardsAreSplitsIfOneOfThemAlwaysMeansASplit() throws IOException {
        for (String name :
                List.of("train-00000-of-00002", "train-00001-of-00002-0123456789abcdef", "rest-00000-of-00001")) {
            write("hub/data/" + name + ".parquet", "x");
        }
        write("hub/parts/part-00000-of-00001.parquet", "x");
        write("hub/README.md", "x");
        List<String> warnings = new ArrayList<>();

        assertThat(listed(warnings, "hub"))
                .extracting(SourceFile::path, SourceFile::split)
                .containsExactly(
                        tuple("data/rest-00000-of-00001.parquet", "rest"),
                        tuple("data/train-00000-of-00002.parquet", "train"),
                        tuple("data/train-00001-of-00002-0123456789abcdef.parquet", "train"),
                        tuple("parts/part-00000-of-00001.parquet", ""));
        assertThat(warnings).containsExactly("left out: 1 text beside the data, such as README.md");
        assertThat(listed(warnings, "hub/**.parquet"))
                .extracting(SourceFile::split)
                .contains("rest", "train");
        assertThat(listed(warnings, "hub/data/train-00000-of-00002.parquet"))
                .extracting(SourceFile::split)
                .containsExactly("train");
        assertThat(listed(warnings, "hub/parts")).extracting(SourceFile::split).containsExactly("");
    }

    @Test
    void namesOfFilesAndDirectoriesAreSplitsIfThereAreSeveral() throws IOException {
        write("tables/train.csv", "x");
        write("tables/test.csv.gz", "x");
        write("tables/testament.csv", "x");
        write("archives/val/b/0.tar", "x");
        write("archives/c/0.tar", "x");

        assertThat(listed(new ArrayList<>(), "tables"))
                .extracting(SourceFile::split)
                .containsExactly("test", "", "train");
        assertThat(listed(new ArrayList<>(), "archives"))
                .extracting(SourceFile::split)
                .containsExactly("", "val");
        assertThat(listed(new ArrayList<>(), "archives/val"))
                .extracting(SourceFile::split)
                .containsExactly("");
        assertThat(listed(new ArrayList<>(), "tables/test.csv.gz"))
                .extracting(SourceFile::split)
                .containsExactly("");
        assertThat(listed(new ArrayList<>(), "tables/test*"))
                .extracting(SourceFile::split)
                .containsExactly("test", "");
    }

    @Test
    void anExportHasTheSplitsInTheNamesOfItsFiles() throws IOException {
        write("out/a%2Fb%C3%BC-00000-of-00001.avro", "x");
        write("out/_SUCCESS", "{\"stoker_export\":1}");
        assertThat(listed(new ArrayList<>(), "out"))
                .extracting(SourceFile::split)
                .containsExactly("a/bü");

        write("out/_SUCCESS", "of another system");
        assertThat(listed(new ArrayList<>(), "out"))
                .extracting(SourceFile::split)
                .containsExactly("");
    }
}
