package dev.stoker.schemas.attack;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.avro.AvroHeader;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Files that require features, for the tests of all formats. */
public final class Features {
    /** A list with one feature, which no release knows. */
    public static final String LIST = "[\"leap\"]";

    /** A list that is not sorted. */
    public static final String MALFORMED = "[\"b\",\"a\"]";

    private Features() {}

    /** Adds a key to a JSON file with a self-checksum. */
    public static byte[] inJson(byte[] file, String key, String json) {
        String text = new String(file, StandardCharsets.UTF_8);
        return ByteAttacks.reseal(text.replaceFirst("\"format\":1,", "\"format\":1,\"" + key + "\":" + json + ",")
                .getBytes(StandardCharsets.UTF_8));
    }

    /** Adds the list to the metadata of an Avro file. */
    public static byte[] inAvro(byte[] file, String json) throws IOException {
        AvroInput in = new AvroInput(file, AvroHeader.magic().length, file.length, "test");
        AvroHeader header = AvroHeader.readAfterMagic(in);
        Map<String, String> metadata = new LinkedHashMap<>(header.metadata());
        metadata.put("stoker.requires", json);
        AvroOutput out = new AvroOutput();
        new AvroHeader(metadata, header.sync()).write(out);
        out.writeFixed(Arrays.copyOfRange(file, in.position(), file.length));
        return out.toByteArray();
    }

    /** Checks that an unknown feature of a container is named. */
    public static void assertNamed(String container, ThrowingCallable reader) {
        assertThatThrownBy(reader)
                .isInstanceOf(FormatTooNewException.class)
                .hasMessage(container + " needs the feature 'leap', which this release does not know; a newer Stoker"
                        + " wrote it; update Stoker to read it");
    }

    /** Checks that a malformed list is corrupt. */
    public static void assertMalformed(String container, ThrowingCallable reader) {
        assertThatThrownBy(reader)
                .isInstanceOf(CorruptDataException.class)
                .hasMessageStartingWith(container + " is corrupt: ")
                .hasMessageContaining("requires is [\"b\",\"a\"]");
    }
}
