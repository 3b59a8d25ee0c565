package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpdateVerbTest extends DatasetVerbs {

    private String table(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content).toString();
    }

    private JsonNode sample(String key, String... more) throws IOException {
        String[] args = new String[4 + more.length];
        args[0] = "get";
        args[1] = path();
        args[2] = key;
        args[3] = "--json";
        System.arraycopy(more, 0, args, 4, more.length);
        assertThat(stoker(args)).as(err.toString()).isZero();
        return json();
    }

    @Test
    void printsThePlanAndSetsValuesOnlyWithYes() throws IOException {
        String table =
                table("labels.csv", "key,label,score\n" + key(0, 1) + ",007,2.5\n" + key(1, 2) + ",new class,\n");

        assertThat(stoker("update", path(), table)).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains(key(0, 1), key(1, 2))
                .contains("would set label, score of 2 samples of version 1; run with --yes to set the values");
        assertThat(stoker("update", path(), table, "--yes")).isZero();
        assertThat(out.toString()).contains("version 2: new values in 2 chunks");

        assertThat(sample(key(0, 1)).findValue("label").asText()).isEqualTo("007");
        assertThat(sample(key(0, 1)).findValue("score").asDouble()).isEqualTo(2.5);
        assertThat(sample(key(1, 2)).findValue("score").isNull()).isTrue();
        assertThat(sample(key(1, 2)).findValue("label").asText()).isEqualTo("new class");
        assertThat(sample(key(0, 1), "--version", "1").findValue("label").asText())
                .isEqualTo(dataset.samples(0).get(1).label());
        assertThat(stoker("verify", path())).isZero();
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains("update");
        assertThat(stoker("show", path(), "--json")).isZero();
        assertThat(out.toString()).contains("new class", "007");

        assertThat(stoker("update", path(), table, "--yes")).isZero();
        assertThat(out.toString())
                .contains("unchanged: 2 samples have the values already")
                .contains("nothing to update: version 2 has these values");
    }

    @Test
    void takesColumnsAndKeysByName() throws IOException {
        String table = table(
                "scores.jsonl",
                "{\"path\":\"" + key(0, 0) + "\",\"score\":0.25,\"note\":\"x\"}\n{\"path\":\"" + key(1, 0)
                        + "\",\"score\":4,\"note\":\"y\"}\n");

        assertThat(stoker("update", path(), table, "--column", "score")).isNotZero();
        assertThat(err.toString())
                .contains("has no column key; it has path, score, note; name the column of the keys with --key");
        assertThat(stoker("update", path(), table, "--key", "path")).isEqualTo(2);
        assertThat(err.toString()).contains("the dataset has no field note; it has label, score, image");
        assertThat(stoker("update", path(), table, "--key", "path", "--column", "image"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("the field image is payload, which cannot be updated");

        assertThat(stoker("update", path(), table, "--key", "path", "--column", "score", "--yes", "--json"))
                .as(err.toString())
                .isZero();
        assertThat(json().get("version").asInt()).isEqualTo(2);
        assertThat(json().get("chunks").asInt()).isEqualTo(2);
        assertThat(sample(key(1, 0)).findValue("score").asDouble()).isEqualTo(4);
    }

    @Test
    void addsFieldsOnlyIfAsked() throws IOException {
        String table = table("new.csv", "key,quality,reviewer\n" + key(0, 1) + ",7,ada\n" + key(1, 2) + ",,zoë\n");

        assertThat(stoker("update", path(), table, "--yes")).isEqualTo(2);
        assertThat(err.toString())
                .contains("the dataset has no field quality; it has label, score, image; add the field with --add"
                        + " quality");
        String[] add = {"update", path(), table, "--add", "quality", "--add", "reviewer=categorical"};
        assertThat(stoker(add)).as(err.toString()).isZero();
        assertThat(out.toString()).contains("adds: quality (int64), reviewer (categorical)");
        String[] commit = Arrays.copyOf(add, add.length + 1);
        commit[add.length] = "--yes";
        assertThat(stoker(commit)).as(err.toString()).isZero();

        assertThat(sample(key(0, 1)).findValue("quality").asInt()).isEqualTo(7);
        assertThat(sample(key(1, 2)).findValue("quality").isNull()).isTrue();
        assertThat(sample(key(1, 2)).findValue("reviewer").asText()).isEqualTo("zoë");
        assertThat(sample(key(1, 0)).findValue("reviewer").isNull()).isTrue();
        assertThat(sample(key(0, 1), "--version", "1").findValue("quality")).isNull();
        assertThat(stoker("verify", path())).isZero();
        assertThat(stoker("info", path())).isZero();
        assertThat(out.toString()).contains("quality", "reviewer");
        assertThat(stoker("delete", path(), "--where", "reviewer = 'zoë'")).isZero();
        assertThat(out.toString()).contains(key(1, 2)).doesNotContain(key(0, 1));

        assertThat(stoker("update", path(), table, "--add", "quality=utf8", "--add", "reviewer", "--yes"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("option --add: the dataset has a field quality of type int64, not utf8");
        assertThat(stoker("update", path(), table, "--add", "quality=number")).isEqualTo(2);
        assertThat(err.toString()).contains("option --add quality=number");
        assertThat(stoker(commit)).isZero();
        assertThat(out.toString()).contains("nothing to update: version 2 has these values");
    }

    @Test
    void namesFileRowAndColumnOfWrongValues() throws IOException {
        String wrong = table("wrong.csv", "key,score\n" + key(0, 0) + ",1\n" + key(0, 1) + ",high\n");
        assertThat(stoker("update", path(), wrong, "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("wrong.csv", "score", "high");

        String missing = table("null.jsonl", "{\"key\":\"" + key(0, 0) + "\",\"label\":null}\n");
        assertThat(stoker("update", path(), missing, "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("null.jsonl#", "column label", "requires one");

        String type = table("type.jsonl", "{\"key\":\"" + key(0, 0) + "\",\"score\":[1,2]}\n");
        assertThat(stoker("update", path(), type, "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("type.jsonl", "score");

        String twice = table("twice.csv", "key,score\n" + key(0, 0) + ",1\n" + key(0, 0) + ",2\n");
        assertThat(stoker("update", path(), twice, "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("The key '" + key(0, 0) + "' occurs twice");
        assertThat(dataset.path().resolve("overlays")).doesNotExist();
    }

    @Test
    void unknownKeysAreAnErrorOrIgnored() throws IOException {
        String table = table("t.csv", "key,score\n" + key(0, 0) + ",1\nnosuch,2\nother,3\n");

        assertThat(stoker("update", path(), table, "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("has no sample 'nosuch', nor 1 other of the given keys");
        assertThat(stoker("update", path(), table, "--missing", "ignore", "--dry-run", "--yes", "--json"))
                .isZero();
        assertThat(json().get("missing").asInt()).isEqualTo(2);
        assertThat(json().get("samples").asInt()).isEqualTo(1);
        assertThat(json().get("version").isNull()).isTrue();
        assertThat(json().get("fields").get(0).asText()).isEqualTo("score");
        assertThat(stoker("update", path(), table, "--missing", "ignore", "--yes"))
                .isZero();
        assertThat(out.toString()).contains("ignored: 2 keys that no sample has", "version 2: new values in 1 chunk");
    }

    @Test
    void repeatsACommitOnlyOnce() throws IOException {
        String table = table("t.csv", "key,score\n" + key(0, 0) + ",1\n");

        assertThat(stoker("update", path(), table, "--yes", "--ingest-id", "mine"))
                .isZero();
        assertThat(stoker("update", path(), table, "--yes", "--ingest-id", "mine", "--json"))
                .isZero();
        assertThat(json().get("version").asInt()).isEqualTo(2);
        assertThat(json().get("repeated").asBoolean()).isTrue();
        assertThat(stoker("update", path() + "@1", table)).isNotZero();
        assertThat(err.toString()).contains("stoker update");
    }

    @Test
    void anotherUpdateKeepsTheFieldsOfTheFirstOne() throws IOException {
        String labels = table("labels.csv", "key,label\n" + key(0, 0) + ",first\n" + key(0, 1) + ",second\n");
        String scores = table("scores.csv", "key,score\n" + key(0, 0) + ",1.5\n");
        assertThat(stoker("update", path(), labels, "--yes")).isZero();
        assertThat(stoker("update", path(), scores, "--yes")).isZero();

        assertThat(sample(key(0, 0)).findValue("label").asText()).isEqualTo("first");
        assertThat(sample(key(0, 0)).findValue("score").asDouble()).isEqualTo(1.5);
        assertThat(sample(key(0, 1)).findValue("label").asText()).isEqualTo("second");
        assertThat(sample(key(0, 0), "--version", "2").findValue("score").asText())
                .isEqualTo(String.valueOf(dataset.samples(0).get(0).score()));
    }

    @Test
    void deletionsSeeTheValues() throws IOException {
        String table = table("t.csv", "key,score\n" + key(0, 0) + ",99\n");
        assertThat(stoker("update", path(), table, "--yes")).isZero();

        assertThat(stoker("delete", path(), "--where", "score = 99", "--json")).isZero();
        assertThat(json().get("samples").asInt()).isEqualTo(1);
        assertThat(json().get("first_keys").get(0).asText()).isEqualTo(key(0, 0));
        assertThat(stoker("diff", path(), "1", "2", "--keys")).isZero();
        assertThat(out.toString()).contains("~ train " + key(0, 0));
    }

    @Test
    void aWrongKeyColumnIsTheOnlyProblem() throws IOException {
        String table = table("labels.csv", "key,label,reviewer\n" + key(0, 1) + ",007,eve\n");

        assertThat(stoker("update", path(), table, "--key", "nokey", "--yes")).isEqualTo(2);
        assertThat(err.toString())
                .contains("has no column nokey; it has key, label, reviewer; name the column of the keys with --key")
                .doesNotContain("has no field");
        assertThat(stoker("update", path(), table, "--key", "nokey", "--column", "reviewer", "--yes"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("has no column nokey").doesNotContain("has no field");
    }

    @Test
    void aTableWithoutRowsChangesNothing() throws IOException {
        assertThat(stoker("update", path(), table("none.csv", "key,label\n"), "--yes"))
                .as(err.toString())
                .isZero();
        assertThat(out.toString()).contains("nothing to update: version 1 has these values");
    }

    @Test
    void keysOfTextAndNumbersAreText() throws IOException {
        String table = table(
                "mixed.jsonl", "{\"key\":17,\"label\":\"x\"}\n{\"key\":\"" + key(0, 1) + "\",\"label\":\"mended\"}\n");
        assertThat(stoker("update", path(), table, "--missing", "ignore", "--yes"))
                .as(err.toString())
                .isZero();
        assertThat(sample(key(0, 1)).findValue("label").asText()).isEqualTo("mended");
    }

    @Test
    void aNumberThatIsTooLargeForItsFieldIsAnError() throws IOException {
        for (String name : List.of("scores.csv", "scores.jsonl")) {
            for (String value : List.of("1e300", "-1e39", "9007199254740993")) {
                String table = table(
                        name,
                        name.endsWith("csv")
                                ? "key,score\n" + key(0, 1) + "," + value + "\n"
                                : "{\"key\":\"" + key(0, 1) + "\",\"score\":" + value + "}\n");
                assertThat(stoker("update", path(), table, "--yes")).isEqualTo(1);
                assertThat(err.toString())
                        .as(value)
                        .contains(table + "#", "column score: ", "nothing was committed")
                        .containsPattern(value.startsWith("9") ? "is not exactly a float32" : "too large for a");
            }
        }
    }
}
