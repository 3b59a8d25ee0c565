package dev.stoker.formats.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.UnsupportedFileException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SavedDatasetTest {
    @Test
    void namesTheFilesOfADirectoryThatDatasetsWrote() throws Exception {
        String json = new String(ReadRows.resource("arrow/dataset/state.json"), StandardCharsets.UTF_8);
        assertThat(SavedDataset.files(json, "state.json")).containsExactly("data-00000-of-00001.arrow");
    }

    @Test
    void namesTheSplits() throws Exception {
        assertThat(SavedDataset.splits("{\"splits\": [\"train\", \"test\"]}", "x"))
                .containsExactly("train", "test");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[", "[]", "{}", "{\"splits\": [\"../x\"]}", "{\"splits\": [3, \"..\"]}"})
    void refusesDamagedNames(String json) {
        assertThatThrownBy(() -> SavedDataset.splits(json, "/data/dataset_dict.json"))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageStartingWith("/data/dataset_dict.json is damaged: ");
    }

    @Test
    void refusesAFileOfRowNumbers() {
        String json = "{\"_data_files\":[{\"filename\":\"a\"}],\"_indices_data_files\":[{\"filename\":\"b\"}]}";
        assertThatThrownBy(() -> SavedDataset.files(json, "state.json"))
                .isInstanceOf(UnsupportedFileException.class)
                .hasMessageContaining("flatten_indices()");
    }

    @Test
    void understandsTheFeaturesOfOlderVersionsAndRefusesDamagedOnes() throws IOException {
        Feature feature = Feature.parse("{\"info\":{\"features\":{\"a\":[{\"_type\":\"Image\"}],\"s\":{\"c\":"
                + "{\"_type\":\"ClassLabel\",\"names\":[\"x\"]}},\"q\":{\"_type\":\"Sequence\",\"feature\":"
                + "{\"_type\":\"Image\"}}}}}");
        assertThat(feature.field("a").items().isFile()).isTrue();
        assertThat(feature.field("q").items().isFile()).isTrue();
        assertThat(feature.field("s").field("c").names()).containsExactly("x");
        assertThat(feature.field("none").isFile()).isFalse();
        for (String json : new String[] {null, "", "[]", "{\"info\":3}"}) {
            assertThat(Feature.parse(json).fields()).isEmpty();
        }
        for (String json : new String[] {"{", "[".repeat(5000), "none"}) {
            assertThatThrownBy(() -> Feature.parse(json))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("its metadata huggingface is not JSON; write the file again");
        }
    }

    @Test
    void refusesARowWithAPathOnly() {
        PayloadPath path = new PayloadPath();
        path.setBytes(StandardCharsets.UTF_8.encode("/photos/a.png"));
        assertThatThrownBy(() -> path.before(new PayloadPath(), "image").setNull())
                .hasMessageContaining("'image' has no bytes, only the path '/photos/a.png'");
    }
}
