package dev.stoker.schemas.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClassTableTest {

    @Test
    void appendsNewNamesAndNeverRenumbers() {
        ClassTable first = ClassTable.EMPTY.with(Map.of("label", List.of("cat", "dog")));
        ClassTable second = first.with(Map.of("label", List.of("ant", "cat", "eel"), "kind", List.of("x")));
        ClassTable third = second.with(Map.of("label", List.of("bee", "eel")));

        assertThat(third.names("label")).containsExactly("cat", "dog", "ant", "eel", "bee");
        assertThat(third.names("kind")).containsExactly("x");
        assertThat(first.names("label")).containsExactly("cat", "dog");
        assertThat(third.id("label", "ant")).hasValue(2);
        assertThat(third.id("label", "cow")).isEmpty();
        assertThat(third.id("no field", "cat")).isEmpty();
    }

    @Test
    void nothingNewChangesNothing() {
        ClassTable table = ClassTable.of(Map.of("label", List.of("b", "a")));

        assertThat(table.with(Map.of("label", List.of("a", "b")))).isSameAs(table);
        assertThat(table.with(Map.of())).isSameAs(table);
    }

    @Test
    void aFieldWithoutClassesIsKept() {
        assertThat(ClassTable.EMPTY.with(Map.of("label", List.of())).names()).containsEntry("label", List.of());
    }

    @Test
    void refusesANameTwice() {
        assertThatThrownBy(() -> ClassTable.of(Map.of("label", List.of("a", "a"))))
                .hasMessageContaining("'a' twice");
    }
}
