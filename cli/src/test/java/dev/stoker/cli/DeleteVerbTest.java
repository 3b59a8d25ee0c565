package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.KeyText;
import dev.stoker.metadata.Contents;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class DeleteVerbTest extends DatasetVerbs {

    @Test
    void printsThePlanAndDeletesOnlyWithYes() throws IOException {
        assertThat(stoker("delete", path(), key(0, 1), key(1, 2))).isZero();
        assertThat(out.toString())
                .contains(key(0, 1), key(1, 2), "would delete 2 samples of version 1; run with --yes to delete");
        assertThat(Contents.of(path())).hasSize(9);

        assertThat(stoker("delete", path(), key(0, 1), key(1, 2), "--yes")).isZero();
        assertThat(out.toString()).contains("version 2: 2 samples deleted, 7 left");
        assertThat(Contents.of(path())).hasSize(7).doesNotContainKeys(key(0, 1), key(1, 2));
        assertThat(stoker("info", path() + "@1", "--json")).isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(9);
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains(" remove ", "delete-");
    }

    @Test
    void aDryRunWritesNothingEvenWithYes() throws IOException {
        assertThat(stoker("delete", path(), "--split", "train", "--dry-run", "--yes", "--json"))
                .isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(9);
        assertThat(json().path("version").isNull()).isTrue();
        assertThat(json().at("/splits/0/of").asInt()).isEqualTo(9);
        assertThat(json().path("first_keys")).hasSize(9);
        assertThat(Contents.of(path())).hasSize(9);
    }

    @Test
    void deletesTheKeysOfAFile() throws IOException {
        Path keys = directory.resolve("keys.txt");
        Files.writeString(keys, key(0, 0) + "\n" + key(0, 3) + "\n");
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes", "--json"))
                .isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(2);
        assertThat(json().path("left").asInt()).isEqualTo(7);

        Files.writeString(keys, key(1, 0) + "\0" + key(1, 1));
        assertThat(stoker("delete", path(), "-0", "--keys-from", keys.toString(), "--yes"))
                .isZero();
        assertThat(Contents.of(path())).hasSize(5).doesNotContainKeys(key(0, 0), key(1, 1));
    }

    @Test
    void aMarkAtTheStartOfAFileAndReturnsAtTheEndOfEachLineBelongToNoKey() throws IOException {
        Path keys = directory.resolve("keys.txt");
        Files.writeString(keys, "\ufeff" + key(0, 0) + "\r\n\"" + key(0, 3) + "\"\r\n" + key(1, 0));
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes", "--json"))
                .isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(3);

        Files.writeString(keys, key(0, 1) + "\r\n\r\n");
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("key 2 of " + keys + " is empty");

        // In a mixture, a carriage return belongs to its key.
        Files.writeString(keys, key(0, 1) + "\r\n" + key(0, 2) + "\n");
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(err.toString())
                .contains("has no sample '" + key(0, 1) + "', with a carriage return at its end")
                .doesNotContain("\r");
        assertThat(stoker("stat", path(), "--keys-from", keys.toString())).isZero();
        assertThat(out.toString()).contains("not found (the key ends with a carriage return)");
        for (String verb : new String[] {"cat", "get"}) {
            assertThat(stoker(verb, path(), "gone\r")).isEqualTo(1);
            assertThat(err.toString()).as(verb).contains("gone\\r\" (the key ends with a carriage return)");
        }
    }

    @Test
    void aKeyFileThatIsNotOneIsRefused() throws IOException {
        Path keys = directory.resolve("keys.txt");
        Files.writeString(keys, key(0, 0) + "\n\n" + key(0, 3) + "\n");
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("key 2 of " + keys + " is empty");

        Files.write(keys, new byte[] {'a', (byte) 0xff, '\n'});
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("key 1 of " + keys + " is not UTF-8");

        // An empty list of keys selects nothing, whatever the condition.
        Files.writeString(keys, "");
        assertThat(stoker("delete", path(), "--keys-from", keys.toString(), "--where", "key IS NOT NULL", "--yes"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("there is no key in " + keys);
        assertThat(stoker("delete", path(), "--keys-from", "nosuch", "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("there is no file nosuch");
        assertThat(Contents.of(path())).hasSize(9);
    }

    @Test
    void deletesSamplesThatSatisfyACondition() throws IOException {
        String label = dataset.samples(0).get(0).label();
        TreeSet<String> others = new TreeSet<>();
        for (int chunk = 0; chunk < 2; chunk++) {
            dataset.samples(chunk).stream()
                    .filter(sample -> !sample.label().equals(label))
                    .map(TestDataset.Sample::key)
                    .forEach(others::add);
        }
        assertThat(others).isNotEmpty().hasSizeLessThan(9);

        assertThat(stoker("delete", path(), "--where", "label = '" + label + "'", "--yes"))
                .isZero();

        assertThat(Contents.of(path()).keySet()).containsExactlyInAnyOrderElementsOf(others);
        assertThat(stoker("delete", path(), "--where", "label = '" + label + "'", "--yes"))
                .isZero();
        assertThat(out.toString()).contains("nothing to delete: version 2 has none of the samples");
        assertThat(stoker("delete", path(), "--where", "colour = 'red'")).isEqualTo(2);
        assertThat(err.toString()).contains("option --where: ", "colour");
    }

    @Test
    void aMissingKeyFailsUnlessItIsIgnored() throws IOException {
        assertThat(stoker("delete", path(), key(0, 0), "no/such", "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("has no sample 'no/such'");
        assertThat(Contents.of(path())).hasSize(9);

        assertThat(stoker("delete", path(), key(0, 0), "no/such", "--missing", "ignore", "--yes"))
                .isZero();
        assertThat(out.toString()).contains("ignored: 1 key that no sample has", "version 2: 1 sample deleted");
    }

    @Test
    void anIdCommitsOnce() throws IOException {
        assertThat(stoker("delete", path(), key(0, 0), "--yes", "--ingest-id", "withdrawn-1"))
                .isZero();
        assertThat(stoker("delete", path(), key(0, 0), "--yes", "--ingest-id", "withdrawn-1", "--json"))
                .isZero();
        assertThat(json().path("repeated").asBoolean()).isTrue();
        assertThat(json().path("version").asLong()).isEqualTo(2);
        assertThat(json().path("samples").asLong()).isEqualTo(1);
    }

    @Test
    void aDeletionWithoutASelectionOrOfAnOldVersionIsRefused() throws IOException {
        assertThat(stoker("delete", path(), "--yes")).isEqualTo(2);
        assertThat(err.toString()).contains("no sample is selected; give keys");
        assertThat(stoker("delete", path() + "@1", key(0, 0), "--yes")).isEqualTo(2);
        assertThat(err.toString()).contains("takes a dataset without a version; leave out @1");
        assertThat(stoker("delete", path(), "--split", "nosuch", "--yes")).isEqualTo(1);
        assertThat(err.toString()).contains("has no split 'nosuch'");
        assertThat(Contents.of(path())).hasSize(9);
    }

    @Test
    void anEmptyPrefixDoesNotSelectAllSamples() throws IOException {
        assertThat(stoker("delete", path(), "--prefix", "", "--yes")).isEqualTo(2);
        assertThat(err.toString()).contains("option --prefix: it is empty", "give --split");
    }

    @Test
    void aKeyCannotMoveTheCursor() {
        assertThat(KeyText.line("a\u001b[2Jb\nc\\d\u202ee")).isEqualTo("\"a\\u001B[2Jb\\nc\\\\d\\u202ee\"");
    }
}
