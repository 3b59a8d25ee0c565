package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong arguments of verbs, in this process: each answer says what to do. */
class MistakesTest extends DatasetVerbs {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | list | did you mean ls",
                "2 | infoo | did you mean info",
                "2 | rm | did you mean delete",
                "2 | ingest x y --labels d | --labels, did you mean --label-field or --label-from?",
                "2 | info | missing: DATASET",
                "2 | info x --bogus | unknown option --bogus",
                "2 | show x --n y | is not a whole number",
                "2 | gc x --older-than 5x | is not a time",
                "2 | compact | missing: DATASET",
                "2 | compact x --ingest-id mine | must begin with compact-",
                "2 | copy x | missing: TARGET",
                "2 | mirror x y --older-than 5x | is not a time",
                "2 | audit | give the name of a feed",
                "1 | audit nosuch | there is no feed nosuch",
                "1 | stop nosuch | there is no feed nosuch",
                "1 | info nosuch | there is no directory",
                "2 | run x | no command to run",
                "127 | run x -- no-such-command-here | command not found: no-such-command-here",
                "2 | feed x -- y | only stoker run",
                "2 | feed | no dataset is given",
                "2 | feed x --bogus 1 --batch-size 0 --port z | option --batch-size: 0 is not between 1 and 65535",
                "2 | ingest | source directory"
            })
    void mistakesAreToldInLinesThatSayWhatToDo(int code, String args, String message) {
        assertThat(stoker(args.split(" "))).isEqualTo(code);
        assertThat(err.toString()).contains(message);
        assertThat(err.toString().lines()).allMatch(line -> line.startsWith("stoker: "));
        assertThat(err.toString().lines().count()).isLessThanOrEqualTo(4);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aPartOfADatasetNamesTheDataset() {
        assertThat(stoker("info", path() + "/chunks")).isEqualTo(1);
        assertThat(err.toString())
                .contains("/chunks is in the directory of the dataset " + path() + "; give that one")
                .doesNotContain("stoker ingest");
        assertThat(stoker("verify", path() + "/nosuch")).isEqualTo(1);
        assertThat(err.toString())
                .contains("/nosuch; the dataset around it is " + path())
                .doesNotContain("stoker ingest");
    }

    @Test
    void aTargetInADatasetIsRefused() throws IOException {
        Path source = Files.createDirectories(directory.resolve("raw"));
        Files.writeString(source.resolve("1.jpg"), "x");
        for (String place : List.of("/more", "/chunks/more", "/_stoker/more")) {
            assertThat(stoker("ingest", source.toString(), path() + place, "--dry-run"))
                    .isEqualTo(2);
            assertThat(err.toString())
                    .contains(place + " is inside the dataset " + path() + "; give a directory outside");
        }
    }

    @Test
    void anEmptyPathIsNotTheCurrentDirectory() {
        for (String verb : List.of("info", "verify", "gc", "recover", "log")) {
            assertThat(stoker(verb, "")).isEqualTo(2);
            assertThat(err.toString()).contains("a path is empty; the current directory is .");
        }
        assertThat(stoker("ingest", "", path())).isEqualTo(2);
        assertThat(err.toString()).contains("a path is empty");
    }

    @Test
    void aSplitThatAVerbDoesNotTakeIsNamed() {
        assertThat(stoker("info", path() + ":train")).isEqualTo(1);
        assertThat(err.toString())
                .contains("this command takes no split with the dataset " + path() + ": leave out :train");
        assertThat(stoker("info", path() + "@")).isEqualTo(1);
        assertThat(err.toString()).contains("did you mean " + path() + "?");
    }

    @Test
    void aClusterThatDoesNotAnswerIsNamedInWords() {
        assertThat(stoker("verify", path(), "--flink", "127.0.0.1:1")).isEqualTo(1);
        assertThat(err.toString())
                .contains("no Flink cluster answers at 127.0.0.1:1: the connection is refused", "check the address")
                .doesNotContain("Exception");
    }

    @Test
    void severalMistakesAreToldTogether() {
        assertThat(stoker("feed", "x", "--batchsize", "3", "--seed", "-1", "--port", "99999"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("did you mean --batch-size?", "option --seed: -1 is less than 0", "99999");
    }

    @Test
    void aMistypedPathIsCorrectedAndAParentNamesItsDatasets() {
        assertThat(stoker("info", directory.resolve("photo").toString())).isEqualTo(1);
        assertThat(err.toString()).contains("did you mean " + path());
        assertThat(stoker("info", directory.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("is not a dataset itself; there is " + path());
        assertThat(stoker("info", path() + "@99")).isEqualTo(1);
        assertThat(err.toString()).contains("has no version 99");
    }
}
