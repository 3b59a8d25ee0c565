package dev.stoker.ingest.topic.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.ingest.spec.InvalidIngestException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonFieldsTest {
    private final List<String> notes = new ArrayList<>();

    private List<String> infer(String... values) {
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
    void infersTypesAsForFilesOfJsonLines() {
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
                "{\"a\":1};it has objects",
                "[{\"a\":1}];it has objects",
                "18446744073709551615;to keep this member, give --schema id:int64,name:utf8?,x:uint64?; to leave",
                "[1,null];an item of its lists is null",
                "[\"a\",null];to keep this member, give --schema id:int64,name:utf8?,x:utf8?[]?; to leave",
                "[[\"a\"]];its lists of lists have other values than numbers",
                "[[[1]]];it has lists of lists of lists",
                "[1,[2]];some of its values are in more lists than others",
                "[1,\"a\"];its values have different types: whole numbers, text",
                "[null];an item of its lists is null"
            })
    void saysWhyAMemberIsNoFieldAndWhichSchemaLeavesItOut(String value, String why) {
        assertThatThrownBy(() -> infer("{\"id\":1,\"name\":\"a\",\"x\":" + value + "}", "{\"id\":2}"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("the member x of the JSON values in the first records: ")
                .hasMessageContaining(why)
                .hasMessageContaining("to leave out this member, give the others: --schema id:int64,name:utf8?");
    }
}
