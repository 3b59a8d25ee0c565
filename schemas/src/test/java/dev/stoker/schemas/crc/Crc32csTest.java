package dev.stoker.schemas.crc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.Rounds;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class Crc32csTest {
    @Test
    void sumsTheCheckValueOfTheStandard() {
        assertThat(Crc32cs.hex(Crc32cs.of("123456789".getBytes(US_ASCII)))).isEqualTo("e3069283");
        assertThat(Crc32cs.of(ByteBuffer.allocate(0))).isZero();
    }

    @Test
    void readsTheDigitsThatItWrites() {
        assertThat(Crc32cs.hex(0x00fedc0b)).isEqualTo("00fedc0b");
        assertThat(Crc32cs.parse("00fedc0b")).isEqualTo(0x00fedc0b);
        assertThat(Crc32cs.parse("ffffffff")).isEqualTo(-1);
        for (String text : new String[] {"", "fedc0b", "00FEDC0B", "00fedc0b0", "+0fedc0b"}) {
            assertThatThrownBy(() -> Crc32cs.parse(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("'" + text + "' is not 8 lower-case hex digits");
        }
    }

    @Test
    void leavesTheBufferAsItIs() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(10).position(2).limit(7);
        Crc32cs.of(bytes);
        assertThat(bytes.position()).isEqualTo(2);
        assertThat(bytes.limit()).isEqualTo(7);
    }

    @Test
    void combinesSumsOfRandomPartsToTheSumOfTheWhole(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(1_000).run((random, round) -> {
            byte[] bytes = new byte[random.nextInt(round % 10 == 0 ? 300_000 : 3000)];
            random.nextBytes(bytes);
            int cut = bytes.length == 0 ? 0 : random.nextInt(bytes.length + 1);
            int combined = Crc32cs.combine(
                    Crc32cs.of(bytes, 0, cut), Crc32cs.of(bytes, cut, bytes.length - cut), bytes.length - cut);
            assertThat(combined).as("cut %s of %s", cut, bytes.length).isEqualTo(Crc32cs.of(bytes));
        });
    }

    @Test
    void combinesAcrossLengthsThatNoTestCouldSum(TestInfo test) {
        // x^(8·n) must be multiplicative: shifting by a + b is shifting by a, then by b.
        Rounds.of(test).seconds(0.2).atLeast(5_000).run((random, round) -> {
            int a = random.nextInt(Integer.MAX_VALUE / 2);
            int b = random.nextInt(Integer.MAX_VALUE / 2);
            int crc = random.nextInt();
            assertThat(Crc32cs.combine(Crc32cs.combine(crc, 0, a), 0, b))
                    .as("a %s, b %s", a, b)
                    .isEqualTo(Crc32cs.combine(crc, 0, (long) a + b));
        });
    }

    @Test
    void refusesLengthsThatNoFileHas() {
        assertThatThrownBy(() -> Crc32cs.combine(1, 2, 1L << 31))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2147483648");
        assertThatThrownBy(() -> Crc32cs.combine(1, 2, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void concatenatesPartsOfAllKinds(TestInfo test) {
        Rounds.of(test).atLeast(10).run((random, round) -> concatenate(random));
    }

    private static void concatenate(Random random) {
        byte[] all = new byte[1000];
        random.nextBytes(all);
        Arrays.fill(all, 300, 507, (byte) 0);
        ConcatCrc crc = new ConcatCrc();
        crc.addZeros(0);
        crc.add(ByteBuffer.wrap(all, 0, 300));
        crc.addZeros(207);
        crc.add(Crc32cs.of(all, 507, 93), 93);
        crc.add(0, 0);
        crc.add(ByteBuffer.allocateDirect(400).put(all, 600, 400).flip());
        assertThat(crc.value()).isEqualTo(Crc32cs.of(all));
        assertThat(crc.length()).isEqualTo(1000);
        crc.reset();
        assertThat(crc.value()).isZero();
        assertThat(crc.length()).isZero();
    }
}
