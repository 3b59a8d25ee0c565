package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonFieldsTest {
    private final List<String> notes = new ArrayList<>();

    private List<String> infer(String... values) throws IOException {
        List<SourceRecord> records = new ArrayList<>();
        for (String value : values) {
            ByteBuffer bytes = ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8));
            records.add(new SourceRecord(0, records.size(), 0, null, bytes, List.of()));
        }
        return JsonFields.infer(records, notes).stream()
                .map(field -> field.name() + ":" + field.type() + (field.nullable() ? "?" : ""))
                .toList();
    }

    @Test
    void infersTypesAsForFilesOfJsonLines() throws IOException {
        assertThat(infer(
                        "{\"i\":1,\"f\":1,\"b\":true,\"s\":\"x\",\"tags\":[\"a\",\"b\"],\"is\":[1],\"fs\":[1,0.5]}",
                        "{\"i\":2,\"f\":0.5,\"b\":false,\"s\":\"\",\"tags\":[],\"is\":[],\"fs\":[2],\"o\":null}",
                        "{\"i\":3,\"f\":2,\"b\":true,\"s\":\"y\",\"tags\":[\"c\"],\"is\":[2,3],\"fs\":[],"
                                + "\"o\":[[1,2],[0.5]],\"bits\":[true,false],\"none\":null,\"empty\":[]}"))
                .containsExactly(
                        "i:int64",
                        "f:float64",
                        "b:bool",
                        "s:utf8",
                        "tags:utf8[]",
                        "is:int64[]",
                        "fs:float64[]",
                        "o:float64[][]?",
                        "bits:uint8[]?");
        assertThat(notes).hasSize(2).allMatch(note -> note.contains("has no value in the first records"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{};to keep this key, give --schema id:int64,name:utf8?,x:utf8?; to leave",
                "[{\"a\":1},{}];some objects of the list do not have it",
                "18446744073709551615;partition 0, offset 0 does not fit into int64",
                "18446744073709551615;to keep this key, give --schema id:int64,name:utf8?,x:uint64?; to leave",
                "[1,null];an item of its list in partition 0, offset 0 is null",
                "[\"a\",null];to keep this key, give --schema id:int64,name:utf8?,x:utf8?[]?; to leave",
                "[[\"a\"]];lists of lists of other values than numbers",
                "[[[1]]];lists of lists of lists",
                "[1,[2]];its values have different types",
                "[1,\"a\"];its values have different types: list of integer in partition 0, offset 0, list of text in",
                "[null];an item of its list in partition 0, offset 0 is null"
            })
    void saysWhyAKeyIsNoFieldAndWhichSchemaLeavesItOut(String value, String why) {
        assertThatThrownBy(() -> infer("{\"id\":1,\"name\":\"a\",\"x\":" + value + "}", "{\"id\":2}"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("of the JSON values in the first records: ")
                .hasMessageContaining(why)
                .hasMessageContaining("to leave out this key, give the others: --schema id:int64,name:utf8?");
    }
}
