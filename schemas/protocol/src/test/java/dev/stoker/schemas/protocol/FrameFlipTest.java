package dev.stoker.schemas.protocol;

import dev.stoker.schemas.attack.BitFlips;
import dev.stoker.schemas.testing.Rounds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Flipped bits of every frame, through a peer's decoder: each damaged frame is refused, or has the same content. */
class FrameFlipTest {
    @Test
    void everyFlippedBitIsRefusedOrChangesNoContent(TestInfo test) throws Exception {
        // At least some 1,200 damaged frames.
        BitFlips.run(Rounds.of(test).seconds(1).atLeast(30), FrameFormats.all());
    }
}
