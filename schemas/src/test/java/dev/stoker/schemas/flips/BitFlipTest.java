package dev.stoker.schemas.flips;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.attack.BitFlips;
import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.protocol.FrameFormats;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Flipped bits of every format that has a checksum, and of every frame, through the readers: each damaged copy is
 * refused, or has the same content. {@code -Dtest.flips=…} sets the number of damaged copies; the profile {@code soak}
 * reads a million.
 */
class BitFlipTest {
    private static final long FLIPS = Long.getLong("test.flips", 4_000);

    private final long seed = Long.getLong("test.seed", System.nanoTime());

    @Test
    void everyFlippedBitIsRefusedOrChangesNoContent() throws Exception {
        List<Format> formats = new ArrayList<>(FileFormats.all());
        formats.addAll(ChunkFormats.all());
        formats.addAll(FrameFormats.all());
        BitFlips flips = new BitFlips(seed);
        List<BitFlips.Result> results = new ArrayList<>();
        for (Format format : formats) {
            results.add(flips.run(format, (FLIPS + formats.size() - 1) / formats.size()));
        }
        System.out.println("test.seed=" + seed + "\n" + BitFlips.table(results));
        assertThat(results).flatExtracting(BitFlips.Result::wrong).isEmpty();
        assertThat(results).allSatisfy(result -> assertThat(result.refused()).isPositive());
    }
}
