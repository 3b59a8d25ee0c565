package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.NothingToIngestException;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.ingest.spec.SplitRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IngestOptionsTest {

    @TempDir
    private Path directory;

    private Path source;
    private Path target;

    @BeforeEach
    void makeTree() throws IOException {
        source = directory.resolve("source");
        target = directory.resolve("target");
        Trees.file(source, "a/1.jpg", "x");
    }

    private IngestOptions parse(String... options) {
        return Ingests.options(source, target, options);
    }

    private List<String> problems(String... args) {
        return catchThrowableOfType(InvalidIngestException.class, () -> IngestOptions.parse(args))
                .problems();
    }

    private List<String> problemsWith(String... options) {
        List<String> args = new ArrayList<>(List.of(source.toString(), target.toString()));
        args.addAll(List.of(options));
        return problems(args.toArray(String[]::new));
    }

    @Test
    void hasDefaults() {
        IngestOptions options = parse();

        assertThat(options.source()).isEqualTo(source.toString());
        assertThat(options.name()).isEqualTo("target");
        assertThat(options.order()).isEqualTo(new WalkOrder.Shuffled(0));
        assertThat(options.effect()).isEqualTo(IngestRun.Effect.CREATE);
        assertThat(options.walk().hidden()).isEqualTo(FileTree.Hidden.SKIP);
        assertThat(options.walk().links()).isEqualTo(FileTree.Links.FOLLOW);
        assertThat(options.walk().errors()).isEqualTo(FileTree.Errors.FAIL);
        assertThat(options.splitRule()).isEmpty();
        assertThat(options.run()).isEqualTo(IngestOptions.Run.REAL);
    }

    @Test
    void comparesKeysBeforePackingOnlyInAShuffle() {
        assertThat(parse("--on-duplicate", "skip").onDuplicate()).isEqualTo(OnDuplicate.SKIP);
        assertThat(parse("--order", "listed").onDuplicate()).isEqualTo(OnDuplicate.FAIL);
        assertThat(problemsWith("--on-duplicate", "skip", "--order", "listed"))
                .containsExactly("option --on-duplicate: skip needs --order shuffled, which compares the keys before it"
                        + " packs the samples");
        assertThat(problemsWith("--on-duplicate", "keep"))
                .containsExactly("option --on-duplicate: keep is not fail or skip or replace or first or last");
    }

    @Test
    void readsEveryOption() {
        IngestOptions options = parse(
                "--label-from",
                "regex:(?<label>.)/",
                "--field=pic:binary",
                "--sidecar",
                ".txt=caption:utf8",
                "--sidecar=.n=count:int32",
                "--payload",
                "pic,caption",
                "--split",
                "val=0.05",
                "--split",
                "test=0.1",
                "--order",
                "listed",
                "--append",
                "--limit",
                "5",
                "--on-error",
                "skip",
                "--links",
                "skip",
                "--hidden",
                "include",
                "--empty",
                "include",
                "--dry-run",
                "--parallelism",
                "3",
                "--read-threads",
                "7");

        assertThat(options.content().field()).contains("pic");
        assertThat(options.content().sidecars())
                .containsExactly(new Sidecar(".txt", "caption", "utf8"), new Sidecar(".n", "count", "int32"));
        assertThat(options.content().payload()).contains(List.of("pic", "caption"));
        assertThat(((SplitRule.Shares) options.splitRule().orElseThrow()).text())
                .isEqualTo("val=0.05;test=0.1");
        assertThat(options.order()).isEqualTo(new WalkOrder.Listed());
        assertThat(options.effect()).isEqualTo(IngestRun.Effect.APPEND);
        assertThat(options.walk().limit()).hasValue(5);
        assertThat(options.work().parallelism()).hasValue(3);
        assertThat(options.run()).isEqualTo(IngestOptions.Run.DRY);
    }

    @Test
    void reportsAllThatIsWrongTogether() {
        List<String> problems = problems(
                directory.resolve("nowhere").toString(),
                target.toString(),
                "--ordr",
                "listed",
                "--chunk-size",
                "12 bananas",
                "--split",
                "val=2",
                "--label-from",
                "regex:(",
                "--append",
                "--replace",
                "--read-threads",
                "0",
                "--links",
                "maybe");

        assertThat(problems).hasSize(8);
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("nowhere does not exist"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("did you mean --order?"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--chunk-size"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--split: val=2"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--label-from"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--append and --replace"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--read-threads: 0"));
        assertThat(problems).anySatisfy(p -> assertThat(p).contains("--links: maybe is not follow or skip"));
        assertThat(problems).allSatisfy(p -> assertThat(p).doesNotContain("\n"));
    }

    @Test
    void refusesAMissingAnEmptyAndANonDirectorySource() throws IOException {
        Path empty = Files.createDirectory(directory.resolve("empty"));
        Path file = Files.writeString(directory.resolve("file"), "x");

        assertThat(problems(directory.resolve("no").toString(), target.toString()))
                .containsExactly("the source " + directory.resolve("no")
                        + " does not exist; give the directory that holds the samples");
        assertThatThrownBy(() -> IngestJob.plan(IngestOptions.parse(empty.toString(), target.toString())))
                .isInstanceOf(NothingToIngestException.class)
                .hasMessageContaining("the source " + empty + " contains no samples; give the directory");
        assertThat(problems(file.toString(), target.toString()))
                .containsExactly(
                        "the source " + file + " is a file of unknown format; name the format with --format FORMAT,"
                                + " or give the directory that holds the file");
    }

    @Test
    void refusesAWebAddressAsSource() {
        assertThat(problems("https://example.com/photos/", target.toString()))
                .containsExactly(
                        "the source https://example.com/photos is a web address, and web servers do not list their"
                                + " files; download the files first, or name a directory, hdfs://, s3a://, gs:// or"
                                + " az://");
    }

    @Test
    void refusesATargetBelowAFile() throws IOException {
        Path file = Files.createFile(directory.resolve("rows.jsonl"));
        assertThat(problems(source.toString(), file.resolve("a/b").toString()))
                .containsExactly("the target " + file.resolve("a/b") + " is below the file " + file
                        + "; give another directory");
    }

    @Test
    void refusesSourceAndTargetWithinEachOther() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), source);

        assertThat(problems(source.toString(), source.resolve("out").toString()).get(0))
                .contains("is inside the source");
        assertThat(problems(source.toString(), link.resolve("a/b/out").toString())
                        .get(0))
                .contains("is inside the source");
        assertThat(problems(source.toString(), directory.toString()).get(0)).contains("is inside the target");
        assertThat(problems(source.toString(), source.toString()).get(0)).contains("the target is the source");
    }

    @Test
    void needsTwoDirectories() {
        assertThat(problems(source.toString()).get(0)).contains("a source directory and a target directory");
    }

    @ParameterizedTest
    @CsvSource({
        "--split, val, is not name=share",
        "--split, val=x, is not name=share",
        "--split, a/b=0.1, is not a valid name of a split",
        "--split, train=0.5, leave train out",
        "--label-from, folder, 'parent-dir, regex:<expression> or csv:<file>'",
        "--label-from, csv:/nowhere/x.csv, does not exist or is not readable",
        "--label-from, regex:abc, has no group",
        "--field, stoker.x, is reserved",
        "--field, x:int32, neither binary nor utf8",
        "--field, label, ''",
        "--sidecar, txt=caption, is not ending=field:type",
        "--sidecar, .txt=caption:tensor, unknown type",
        "--sidecar, '.txt=v:int32[]', cannot be read from a file",
        "--ingest-id, abc, is not an id",
        "--limit, 0, is not at least 1",
        "--chunk-size, 1kb, is not between",
        "--split-from, bottom, is not top-dir",
    })
    void explainsAWrongValue(String option, String value, String reason) {
        List<String> problems = value.equals("label")
                ? problemsWith(option, value, "--label-from", "parent-dir")
                : problemsWith(option, value);

        assertThat(problems).isNotEmpty();
        assertThat(problems.get(0)).contains(reason).doesNotContain("\n");
    }

    @Test
    void sharesOfSplitsAreAtMostAll() {
        assertThat(problemsWith("--split", "val=0.6", "--split", "test=0.6"))
                .singleElement()
                .asString()
                .contains("sum to 1.2");
    }

    @Test
    void refusesATargetThatIsSomethingElse() throws IOException {
        Trees.file(target, "notes.txt", "mine");
        IngestOptions options = parse();

        assertThatThrownBy(() -> IngestJob.plan(options))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("is not a dataset and contains notes.txt");
    }

    @Test
    void refusesASourceOfHiddenFilesOnly() throws IOException {
        Path hidden = directory.resolve("hidden");
        Trees.file(hidden, ".a/1.jpg", "x");

        assertThatThrownBy(() -> IngestJob.plan(Ingests.options(hidden, target)))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("contains no samples, only skipped files: 1 hidden");
    }

    @Test
    void aPatternTakesTheFilesThatMatchIt() throws IOException {
        Trees.file(source, "b/2.jpg", "x");
        Trees.file(source, "b/notes.txt", "x");
        for (String pattern : List.of("/**/*.jpg", "/**.jpg", "/?/*.jpg")) {
            assertThat(IngestJob.plan(IngestOptions.parse(source + pattern, target.toString(), "--dry-run"))
                            .lines())
                    .as(pattern)
                    .anyMatch(line -> line.startsWith("2 samples, "))
                    .noneMatch(line -> line.startsWith("warning: 1 of"));
        }
        IngestOptions none = IngestOptions.parse(source + "/**/*.tiff", target.toString());
        assertThatThrownBy(() -> IngestJob.plan(none))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("no file below " + source + " matches the pattern **/*.tiff");
        assertThat(problemsWith("--exclude", "a[b")).singleElement().asString().contains("a [ is not closed");
    }
}
