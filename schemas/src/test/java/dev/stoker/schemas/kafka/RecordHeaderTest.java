package dev.stoker.schemas.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.order.Fingerprint;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecordHeaderTest {
    private static final String WHERE = "topic photos, partition 3, offset 17";
    private static final Fingerprint FINGERPRINT = new Fingerprint("0123456789abcdef0123456789abcdef");

    private final RecordHeader header =
            new RecordHeader(RecordKind.BATCH, FINGERPRINT, 7, 2, 1234, 3, 1, 2, 0, 4, 16, 1);
    private final byte[] value = "a value".getBytes(StandardCharsets.UTF_8);

    static JsonNode vectors() throws IOException {
        try (InputStream in = RecordHeaderTest.class.getResourceAsStream("/vectors/kafka.json")) {
            return new JsonMapper().readTree(in);
        }
    }

    private Map<String, byte[]> written() {
        return header.headers(header.crc(Crc32cs.of(value), value.length));
    }

    @Test
    void readsWhatItWrites() throws StokerException {
        assertThat(RecordHeader.read(written(), value, WHERE)).isEqualTo(header);
    }

    @Test
    void writesTheVectors() throws IOException {
        for (JsonNode record : vectors().get("records")) {
            byte[] content = HexFormat.of().parseHex(record.get("value").textValue());
            Map<String, byte[]> headers = headers(record.get("headers"));
            RecordHeader read =
                    RecordHeader.read(headers, content, record.get("name").textValue());
            Map<String, byte[]> again = read.headers(read.crc(Crc32cs.of(content), content.length));
            assertThat(again.keySet()).containsExactlyElementsOf(headers.keySet());
            again.forEach((name, bytes) -> assertThat(bytes).as(name).isEqualTo(headers.get(name)));
        }
    }

    @Test
    void ordersPositionsLikeTheVectors() throws IOException {
        List<RecordPosition> positions = new ArrayList<>();
        for (JsonNode p : vectors().get("ascending")) {
            RecordKind kind = List.of(RecordKind.values()).stream()
                    .filter(k -> k.text().equals(p.get(1).textValue()))
                    .findFirst()
                    .orElseThrow();
            positions.add(new RecordPosition(
                    p.get(0).longValue(), kind, p.get(2).longValue(), p.get(3).intValue()));
        }
        List<RecordPosition> sorted = new ArrayList<>(positions);
        Collections.reverse(sorted);
        Collections.sort(sorted);
        assertThat(sorted).isEqualTo(positions);
        assertThat(positions).doesNotHaveDuplicates();
    }

    @Test
    void noticesEveryFlippedBitOfHeadersAndValue() {
        written().forEach((name, bytes) -> {
            for (int bit = 0; bit < 8 * bytes.length; bit++) {
                Map<String, byte[]> damaged = new LinkedHashMap<>(written());
                byte[] flipped = bytes.clone();
                flipped[bit / 8] ^= (byte) (1 << bit % 8);
                damaged.put(name, flipped);
                assertThatThrownBy(() -> RecordHeader.read(damaged, value, WHERE))
                        .as(name + " bit " + bit)
                        .isInstanceOfAny(CorruptDataException.class, FormatTooNewException.class)
                        .hasMessageContaining(WHERE);
            }
        });
        for (int bit = 0; bit < 8 * value.length; bit++) {
            byte[] flipped = value.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            assertThatThrownBy(() -> RecordHeader.read(written(), flipped, WHERE))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("CRC32C of headers and value");
        }
    }

    @Test
    void aSampleSaysWhichOfItsBatchItIs() throws StokerException {
        RecordHeader sample = header.with(ValueFormat.AVRO, 17);
        Map<String, byte[]> headers = sample.headers(sample.crc(Crc32cs.of(value), value.length));

        assertThat(headers)
                .containsEntry("stoker.format", new byte[] {'2'})
                .containsEntry("stoker.row", new byte[] {'1', '7'});
        assertThat(RecordHeader.read(headers, value, WHERE)).isEqualTo(sample);
        headers.put("stoker.row", new byte[] {'1', '8'});
        assertThatThrownBy(() -> RecordHeader.read(headers, value, WHERE))
                .hasMessageContaining("CRC32C of headers and value");
        headers.remove("stoker.row");
        assertThatThrownBy(() -> RecordHeader.read(headers, value, WHERE)).hasMessageContaining("stoker.row");
    }

    @Test
    void refusesAMissingHeaderByName() {
        for (String name : written().keySet()) {
            Map<String, byte[]> less = new LinkedHashMap<>(written());
            less.remove(name);
            assertThatThrownBy(() -> RecordHeader.read(less, value, WHERE))
                    .isInstanceOf(StokerException.class)
                    .hasMessageContaining(name);
        }
    }

    @Test
    void tellsRecordsOfOthersFromDamagedOnes() {
        assertThatThrownBy(() -> RecordHeader.read(Map.of("traceparent", new byte[3]), value, WHERE))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("a record of a Stoker feed");
    }

    @Test
    void refusesANewerFormat() {
        Map<String, byte[]> newer = new LinkedHashMap<>(written());
        newer.put("stoker.format", "3".getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> RecordHeader.read(newer, value, WHERE)).isInstanceOf(FormatTooNewException.class);
    }

    @Test
    void ignoresHeadersOfOthers() throws StokerException {
        Map<String, byte[]> more = new LinkedHashMap<>(written());
        more.put("traceparent", new byte[] {1});
        assertThat(RecordHeader.read(more, value, WHERE)).isEqualTo(header);
    }

    private static Map<String, byte[]> headers(JsonNode json) {
        Map<String, byte[]> headers = new LinkedHashMap<>();
        json.properties()
                .forEach(entry ->
                        headers.put(entry.getKey(), entry.getValue().textValue().getBytes(StandardCharsets.US_ASCII)));
        return headers;
    }
}
