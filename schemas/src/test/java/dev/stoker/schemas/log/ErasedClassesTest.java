package dev.stoker.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.table.ClassTable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ErasedClassesTest {

    private static final String TOMBSTONE = "erased_00112233445566778899aabbccddeeff";

    /** The Python package reads the same text: {@code test_erasures.py}. */
    private static final String TEXT = "{\"label\":{\"crc32c\":\"4f537f4c\",\"names\":{\"1\":\"" + TOMBSTONE + "\"}}}";

    private static ClassTable table(String... names) {
        return ClassTable.of(Map.of("label", List.of(names), "kind", List.of("dog")));
    }

    private static ErasedClasses erasing(ClassTable table, int id) {
        return table.erasing(Map.of("label", new TreeMap<>(Map.of(id, TOMBSTONE))));
    }

    private static LogEntry entry(Map<String, List<String>> classes, Map<String, String> properties) {
        LogEntry entry = LogEntries.adding(2);
        return new LogEntry(
                entry.dataset(),
                2,
                "erase-1-classes-1",
                Operation.REMOVE,
                entry.committedMs(),
                "ada",
                List.of(),
                List.of(),
                classes,
                properties);
    }

    @Test
    void theTextIsThatOfTheSpecification() {
        assertThat(erasing(table("cat", "dog", "größe"), 1).text()).isEqualTo(TEXT);
        assertThat(ErasedClasses.parse(TEXT)).isEqualTo(erasing(table("cat", "dog", "größe"), 1));
    }

    @Test
    void aTombstoneKeepsTheIdOfItsClass() {
        ClassTable after = table("cat", "dog", "größe").without(ErasedClasses.parse(TEXT));

        assertThat(after.names("label")).containsExactly("cat", TOMBSTONE, "größe");
        assertThat(after.names("kind")).containsExactly("dog");
        assertThat(after.without(ErasedClasses.parse(TEXT))).isSameAs(after);
        assertThat(after.with(Map.of("label", List.of("dog"))).id("label", "dog"))
                .hasValue(3);
    }

    @Test
    void aListWithOtherIdsStaysAsItIs() {
        for (ClassTable other : List.of(table("cat", "größe"), table("dog", "cat", "größe"), table("cat"))) {
            assertThat(other.without(ErasedClasses.parse(TEXT))).isSameAs(other);
        }
    }

    @Test
    void anEntryKeepsThePlacesOfTombstones() throws IOException {
        LogEntry entry =
                entry(Map.of("label", List.of("cat", "dog", TOMBSTONE, "eel")), Map.of(LogEntry.ERASED_CLASSES, TEXT));

        LogEntry read = LogEntry.decode(entry.encode(), "/log/2.avro");

        assertThat(read.classes().get("label")).containsExactly("cat", "dog", TOMBSTONE, "eel");
        assertThat(read.erasedClasses().text()).isEqualTo(TEXT);
    }

    @Test
    void otherNamesStillAscendAndOccurOnce() {
        for (List<String> names : List.of(
                List.of("dog", TOMBSTONE, "cat"),
                List.of("dog", TOMBSTONE, "dog"),
                List.of(TOMBSTONE, "cat", TOMBSTONE))) {
            assertThatThrownBy(() -> entry(Map.of("label", names), Map.of()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void otherTextsAreRejected() {
        for (String text : List.of(
                "",
                "[]",
                "{\"label\":{}}",
                TEXT.replace("\"1\"", "\"-1\""),
                TEXT.replace("4f53", "4F53"),
                TEXT.replace("erased_00", "erased_"),
                TEXT + "x")) {
            assertThatThrownBy(() -> entry(Map.of(), Map.of(LogEntry.ERASED_CLASSES, text)))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void tombstonesAreRandom() {
        Random random = new Random(1);
        String first = ErasedClasses.newTombstone(random);
        assertThat(ErasedClasses.isTombstone(first)).isTrue();
        assertThat(ErasedClasses.newTombstone(random)).isNotEqualTo(first);
        assertThat(ErasedClasses.isTombstone("erased_dog")).isFalse();
    }
}
