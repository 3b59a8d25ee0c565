package dev.stoker.schemas.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.chunk.GoldenChunks;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SampleReaderTest {
    private final List<Field> fields = GoldenChunks.fields("chunk-1a");

    private SampleReader reader(OptionalInt id) {
        List<String> names = new ArrayList<>();
        GoldenChunks.json("batch-1.json").get("classes").get("categorical").forEach(c -> names.add(c.asText()));
        Map<String, List<String>> classes = fields.stream()
                .filter(field -> field.type() == ScalarType.CATEGORICAL)
                .collect(Collectors.toMap(Field::name, field -> names));
        return new SampleReader(fields, classes, id);
    }

    /** The golden samples, each as its record's value. */
    private static List<byte[]> golden() throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Golden.read("kafka-2-all.bin"));
        List<byte[]> values = new ArrayList<>();
        while (all.hasRemaining()) {
            byte[] value = new byte[all.getInt()];
            all.get(value);
            values.add(value);
        }
        return values;
    }

    /** Memory as a pool gives it: used before. */
    private static ByteBuffer used(int bytes) {
        byte[] content = new byte[bytes + 128];
        Arrays.fill(content, (byte) 0x5A);
        return ByteBuffer.wrap(content).limit(bytes);
    }

    private static byte[] message(SampleReader reader) {
        ByteBuffer message = reader.message(SampleReaderTest::used);
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        return bytes;
    }

    @Test
    void theGoldenSamplesMakeTheGoldenBatchAgainAndAgain() throws Exception {
        SampleReader reader = reader(OptionalInt.empty());
        for (int round = 0; round < 2; round++) {
            for (byte[] value : golden()) {
                reader.add(value, "here");
            }
            assertThat(message(reader)).isEqualTo(Golden.read("batch-1-all.bin"));
            assertThat(message(reader)).isEqualTo(Golden.read("batch-1-none.bin"));
        }
    }

    @Test
    void theIdOfTheSchemaStandsBefore() throws Exception {
        SampleReader reader = reader(OptionalInt.of(0xFFEEDDCC));
        for (byte[] value : golden()) {
            byte[] framed = ByteBuffer.allocate(5 + value.length)
                    .put((byte) 0)
                    .putInt(0xFFEEDDCC)
                    .put(value)
                    .array();
            reader.add(framed, "here");
            assertThatThrownBy(() -> reader(OptionalInt.of(4)).add(framed, "here"))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("here is corrupt: what a value begins with");
            framed[0] = 1;
            assertThatThrownBy(() -> reader(OptionalInt.of(0xFFEEDDCC)).add(framed, "here"))
                    .isInstanceOf(CorruptDataException.class);
            framed[0] = 0;
        }
        assertThat(message(reader)).isEqualTo(Golden.read("batch-1-all.bin"));
    }

    @Test
    void refusesWhatIsCutOffOrTooLongAndGoesOn() throws Exception {
        SampleReader reader = reader(OptionalInt.empty());
        for (byte[] value : golden()) {
            ByteAttacks.truncateEverywhere(value, cut -> reader.add(cut, "here"));
            ByteAttacks.append(value, more -> reader.add(more, "here"));
        }
        for (byte[] value : golden()) {
            reader.add(value, "here");
        }
        assertThat(message(reader)).isEqualTo(Golden.read("batch-1-all.bin"));
    }

    @Test
    void aFlippedBitIsAnotherSampleOrCorrupt() throws Exception {
        byte[] value = golden().get(0);
        SampleReader reader = reader(OptionalInt.empty());
        for (int bit = 0; bit < 8 * value.length; bit++) {
            byte[] damaged = value.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            try {
                reader.add(damaged, "here");
            } catch (CorruptDataException e) {
                assertThat(e).hasMessageStartingWith("here is corrupt: ").hasMessageEndingWith("into a new topic");
                continue;
            }
            BatchColumns.read(ByteBuffer.wrap(message(reader)), fields, "here");
        }
    }

    private static SampleReader of(String type) {
        Field field = type.endsWith("!")
                ? Field.payload("x", FieldType.parse(type.substring(0, type.length() - 1)))
                : Field.nullable("x", FieldType.parse(type));
        return new SampleReader(List.of(field), Map.of("x", List.of("ant", "bee")), OptionalInt.empty());
    }

    private static byte[] sample(int... rest) {
        byte[] value = new byte[2 + rest.length];
        value[0] = 2;
        value[1] = 'k';
        for (int i = 0; i < rest.length; i++) {
            value[2 + i] = (byte) rest[i];
        }
        return value;
    }

    @ParameterizedTest
    @CsvSource({
        "bool, 1",
        "int8, 128",
        "int8, -129",
        "uint8, 256",
        "uint8, -1",
        "int16, 32768",
        "uint16, -1",
        "int32, 2147483648",
        "uint32, 4294967296",
        "uint32, -1",
        "date, 2147483648",
        "time[s], 86400",
        "time[ns], -1",
    })
    void refusesNumbersBeyondTheirType(String type, long number) {
        AvroOutput out = new AvroOutput();
        out.writeString("k");
        out.writeLong(1);
        out.writeLong(number);
        assertThatThrownBy(() -> of(type).add(out.toByteArray(), "here")).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void refusesNumbersOfListsBeyondTheirType() {
        Map<String, byte[]> wrong = Map.of(
                "int8[]", sample(2, 2, 0x80, 2, 0),
                "uint8[]", sample(2, 2, 1, 0),
                "int8?[]", sample(2, 2, 2, 0x80, 2, 0),
                "uint8[][]", sample(2, 2, 2, 1, 0, 0),
                "int8[]!", sample(0, 2, 0x80, 2, 0),
                "bfloat16[]", sample(2, 2, 1, 0, 0x80, 0x3F, 0));
        wrong.forEach((type, value) -> assertThatThrownBy(() -> of(type).add(value, "here"))
                .as(type)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("number"));
    }

    @Test
    void refusesWhatTheTypesDoNotKnow() {
        Map<String, byte[]> wrong = Map.of(
                "int32", sample(4, 2),
                "categorical", sample(2, 6, 'c', 'a', 't'),
                "utf8", sample(2, 2, 0xFF),
                "int32[]", sample(2, 6, 1, 2, 3),
                "decimal(1,0)", sample(2, 2, 10),
                "int32[]!", sample(0, 6, 1, 2, 3),
                "int16[2]", sample(2, 4, 1, 2),
                "int16[2]!", sample(0, 4, 1, 2),
                "float16", sample(2, 1, 0, 0x80, 0x3F),
                "bfloat16", sample(2, 1, 0, 0x80, 0x3F));
        wrong.forEach((type, value) -> assertThatThrownBy(() -> of(type).add(value, "here"))
                .as(type)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("here is corrupt: "));
    }

    @Test
    void everyHalfComesBackFromTheSingleOfItsValue() throws StokerException {
        for (ScalarType type : List.of(ScalarType.FLOAT16, ScalarType.BFLOAT16)) {
            List<Field> column = List.of(Field.small("x", type));
            SampleReader reader = new SampleReader(column, Map.of(), OptionalInt.empty());
            for (int half = 0; half < 1 << 16; half++) {
                int bits = type == ScalarType.FLOAT16 ? SampleNumbers.ofFloat16((short) half) : half << 16;
                reader.add(sample(bits, bits >>> 8, bits >>> 16, bits >>> 24), "here");
            }
            ArrowColumn read = BatchColumns.read(ByteBuffer.wrap(message(reader)), column, "here")
                    .get(1);
            for (int half = 0; half < 1 << 16; half++) {
                assertThat(read.bytesAt(half).getShort()).isEqualTo((short) half);
            }
        }
    }
}
