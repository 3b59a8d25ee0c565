package dev.stoker.schemas.flips;

import dev.stoker.schemas.attack.BitFlips;
import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Flipped bits of every format that has a checksum, through the readers: each damaged copy is refused, or has the same
 * content. A round damages a copy of each format; the profile {@code soak} damages a million copies.
 */
class BitFlipTest {
    @Test
    void everyFlippedBitIsRefusedOrChangesNoContent(TestInfo test) throws Exception {
        List<Format> formats = new ArrayList<>(FileFormats.all());
        formats.addAll(ChunkFormats.all());
        // At least some 1,200 damaged copies.
        BitFlips.run(Rounds.of(test).seconds(1).atLeast(30), formats);
    }
}
