package dev.stoker.schemas.flips;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.attack.BitFlips;
import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.protocol.FrameFormats;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Flipped bits of every format that has a checksum, and of every frame, through the readers: each damaged copy is
 * refused, or has the same content. A round damages a copy of each format; the profile {@code soak} damages a
 * million copies.
 */
class BitFlipTest {
    /** At least; some 2,400 damaged copies. */
    private static final int ROUNDS = 30;

    @Test
    void everyFlippedBitIsRefusedOrChangesNoContent(TestInfo test) throws Exception {
        List<Format> formats = new ArrayList<>(FileFormats.all());
        formats.addAll(ChunkFormats.all());
        formats.addAll(FrameFormats.all());
        List<BitFlips> flips = new ArrayList<>();
        for (Format format : formats) {
            flips.add(new BitFlips(format));
        }
        Rounds.of(test).seconds(2).atLeast(ROUNDS).run((random, round) -> {
            for (BitFlips of : flips) {
                of.flip(random, round);
            }
        });
        System.out.println(BitFlips.table(flips));
        if (!Rounds.isReplay()) {
            assertThat(flips).allSatisfy(of -> assertThat(of.refused()).isPositive());
        }
    }
}
