package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FingerprintTest {
    private static final UUID DATASET = new UUID(1, 2);
    private static final OrderSpec SPEC = OrderSpec.defaults();

    @Test
    void isWhatTheVectorsSay() throws Exception {
        JsonNode cases = Vectors.read("fingerprint.json").get("cases");
        assertThat(cases.size()).isGreaterThan(3);
        for (JsonNode c : cases) {
            OrderSpec spec = OrderSpec.fromJson(c.get("order"));
            StreamChunks chunks = Vectors.chunks(c.get("chunks"));
            assertThat(spec.toJson()).isEqualTo(c.get("order_json").textValue());
            assertThat(Fingerprint.chunksDigest(chunks))
                    .isEqualTo(c.get("chunks_sha256").textValue());
            Fingerprint fingerprint = Fingerprint.of(
                    UUID.fromString(c.get("dataset").textValue()),
                    c.get("version").longValue(),
                    c.get("split").textValue(),
                    chunks,
                    spec);
            assertThat(fingerprint.text()).isEqualTo(c.get("fingerprint").textValue());
            assertThat(Long.toHexString(fingerprint.tag()))
                    .isEqualTo(c.get("tag").textValue().replaceAll("^0+", ""));
        }
    }

    @Test
    void differsWhereverTheDataOrItsOrderDiffers() {
        Set<Fingerprint> seen = new HashSet<>();
        StreamChunks chunks = chunks(new int[0], 5);
        seen.add(Fingerprint.of(DATASET, 1, "train", chunks, SPEC));
        seen.add(Fingerprint.of(new UUID(1, 3), 1, "train", chunks, SPEC));
        seen.add(Fingerprint.of(DATASET, 2, "train", chunks, SPEC));
        seen.add(Fingerprint.of(DATASET, 1, "val", chunks, SPEC));
        seen.add(Fingerprint.of(DATASET, 1, "train", chunks(new int[] {3}, 5), SPEC));
        seen.add(Fingerprint.of(DATASET, 1, "train", chunks(new int[] {2}, 5), SPEC));
        seen.add(Fingerprint.of(DATASET, 1, "train", chunks(new int[0], 6), SPEC));
        seen.add(Fingerprint.of(
                DATASET, 1, "train", chunks, OrderSpec.fromJson(SPEC.toJson().replace("64", "65"))));
        assertThat(seen).hasSize(8);
    }

    @Test
    void digestsManyChunksAndRemovedRowsAsOneText() throws Exception {
        StreamChunksBuilder builder = StreamChunks.builder(5000);
        ByteBuffer text = ByteBuffer.allocate(1 << 20);
        for (int i = 0; i < 5000; i++) {
            int[] removed = IntStream.range(0, i % 700 == 3 ? 9000 : i % 3).toArray();
            builder.addLive(i, new UUID(i, ~i), 9000, removed, new ExpectedChunk(100, 0, 0, 0, 0));
            text.order(ByteOrder.LITTLE_ENDIAN).putLong(i);
            text.order(ByteOrder.BIG_ENDIAN).putLong(i).putLong(~i);
            text.order(ByteOrder.LITTLE_ENDIAN).putInt(9000).putInt(removed.length);
            for (int row : removed) {
                text.putInt(row);
            }
        }
        MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
        sha256.update(text.flip());
        assertThat(Fingerprint.chunksDigest(builder.build()))
                .isEqualTo(HexFormat.of().formatHex(sha256.digest()));
    }

    @Test
    void refusesASplitThatCouldForgeItsText() {
        assertThatThrownBy(() -> Fingerprint.of(DATASET, 1, "a\nchunks", chunks(new int[0], 1), SPEC))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line break");
    }

    @Test
    void refusesTextThatIsNoFingerprint() {
        assertThatThrownBy(() -> new Fingerprint("0123")).hasMessageContaining("32 lower-case");
    }

    private static StreamChunks chunks(int[] removed, int idLow) {
        return StreamChunks.builder(1)
                .addLive(0, new UUID(0, idLow), 9, removed, new ExpectedChunk(100, 0, 0, 0, 0))
                .build();
    }
}
