package dev.stoker.schemas.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NameListTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "", "a b", " a", "a,b", "\"a\"", "\"a\",b", "a\"", ",", "\"", "it's", "\t"})
    void aNameIsReadAsItWasWritten(String name) {
        List<String> names = List.of(name, "x", name);
        assertThat(NameList.parse(List.of(NameList.of(names)))).isEqualTo(names);
    }

    @Test
    void spacesAroundNamesAndEmptyNamesAreLeftOut() {
        assertThat(NameList.parse(List.of("key, label,", "image"))).containsExactly("key", "label", "image");
        assertThat(NameList.of(List.of("key", "label"))).isEqualTo("key,label");
    }
}
