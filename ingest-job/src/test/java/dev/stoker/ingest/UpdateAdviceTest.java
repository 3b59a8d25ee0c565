package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.ingest.rows.update.UpdateTable;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows the advice of {@code stoker update}, with options as the command reads them. */
class UpdateAdviceTest {
    private static final DatasetInfo INFO = new DatasetInfo(
            UUID.randomUUID(),
            "data",
            Instant.parse("2026-01-01T00:00:00Z"),
            List.of(
                    Field.nullable("v", FieldType.parse("int64")),
                    Field.nullable("t", FieldType.parse("utf8")),
                    Field.payload("image", FieldType.parse("binary"))),
            Map.of(),
            Map.of());

    @TempDir
    private Path directory;

    private Path table(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    /** Returns what an update says that fails, or nothing. */
    private static String update(Path table, List<String> options) {
        String key = "key";
        Optional<String> format = Optional.empty();
        Set<String> columns = new LinkedHashSet<>();
        Map<String, Optional<FieldType>> added = new LinkedHashMap<>();
        for (int i = 0; i < options.size(); i += 2) {
            String value = options.get(i + 1);
            int equals = value.indexOf('=');
            switch (options.get(i)) {
                case "--key" -> key = value;
                case "--format" -> format = Optional.of(value);
                case "--column" -> columns.add(value);
                case "--add" ->
                    added.put(
                            equals < 0 ? value : value.substring(0, equals),
                            equals < 0 ? Optional.empty() : Optional.of(FieldType.parse(value.substring(equals + 1))));
                default -> throw new AssertionError("stoker update has no option " + options.get(i));
            }
        }
        try {
            UpdateTable.read(new UpdateTable.Request(table.toString(), format, key, columns, added), INFO);
            return "";
        } catch (InvalidIngestException e) {
            return String.join("\n", e.problems());
        } catch (IOException e) {
            return ErrorText.of(e);
        }
    }

    private static void assertHelps(Path table, String option, String placeholder, String value, String... given) {
        String said = update(table, Arrays.asList(given));
        List<String> options = new ArrayList<>(Arrays.asList(given));
        List<String> words = new ArrayList<>(Advice.in(said, option));
        words.replaceAll(word -> placeholder.isEmpty() ? word : word.replace(placeholder, value));
        options.addAll(words);
        assertThat(update(table, options))
                .as("%s\nfollowed by %s", said, options)
                .isEmpty();
    }

    @Test
    void aColumnThatIsNoField() throws IOException {
        Path table = table("a.csv", "key,v,my w\na,1,2\n");
        assertHelps(table, "--add", "", "");
        assertHelps(table, "--column", "", "");
        assertThat(update(table("b.csv", "key,w\na,1\n"), List.of())).doesNotContain("--column");
    }

    @Test
    void aColumnOfPayload() throws IOException {
        Path table = table("a.csv", "key,v,image\na,1,x\n");
        assertHelps(table, "--column", "", "");
        String said = update(table, List.of());
        List<String> words = new ArrayList<>(
                List.of(directory.toString(), directory.resolve("data").toString()));
        words.add("--append");
        words.addAll(Advice.in(said, "--on-duplicate"));
        assertThat(said).contains("`stoker ingest SOURCE DATASET " + String.join(" ", words.subList(2, 5)) + "`");
    }

    @Test
    void aTableWithoutTheKey() throws IOException {
        assertHelps(table("a.csv", "name,v\na,1\n"), "--key", "COLUMN", "name");
        assertHelps(table("b.csv", "key,name,v\n,a,1\n"), "--key", "COLUMN", "name", "--column", "v");
    }

    @Test
    void aFieldWithAnotherType() throws IOException {
        Path table = table(
                "a.csv",
                "key,w\n" + IntStream.range(0, 10_001).mapToObj(i -> i + ",1\n").collect(Collectors.joining())
                        + "b,x\n");
        String said = update(table, List.of("--add", "w"));
        assertThat(said).contains("'x' is not int64").doesNotContain("--type");
        assertThat(update(
                        table, List.of("--add", Advice.in(said, "--add").get(1).replace("TYPE", "utf8"))))
                .isEmpty();
        assertThat(update(table("b.csv", "key,v\na,1\n"), List.of("--add", "v=int8")))
                .isEqualTo("option --add: the dataset has a field v of type int64, not int8; leave the type out");
        assertThat(update(directory.resolve("b.csv"), List.of("--add", "v"))).isEmpty();
    }

    @Test
    void aTableOfUnknownFormat() throws IOException {
        assertHelps(table("a.dat", "key,v\na,1\n"), "--format", "FORMAT", "csv");
    }

    /** The options of an ingest are no options of an update. */
    @Test
    void noAdviceForAnIngest() throws IOException {
        for (String line : List.of("{\"v\":\"x\"}", "{\"v\":1.5}", "{\"v\":[1]}")) {
            String said = update(table("a.jsonl", "{\"key\":\"a\"," + line.substring(1) + "\n"), List.of());
            assertThat(said).as(line).isNotEmpty().doesNotContain("--type").doesNotContain("--without");
        }
        assertThat(update(table("b.csv", "key,v\na,1\nb,x\n"), List.of()))
                .isNotEmpty()
                .doesNotContain("--type");
    }
}
