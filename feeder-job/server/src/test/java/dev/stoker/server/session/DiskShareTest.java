package dev.stoker.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DiskShareTest {
    private static final long MS = 1_000_000;
    private static final long BYTES = 1_000_000;

    private long read;
    private long now;
    private int looks;
    private final DiskShare share = new DiskShare(this::look, 0);

    private long look() {
        looks++;
        return read;
    }

    private long write(long nanos) {
        now += nanos;
        return share.of(nanos, BYTES, now);
    }

    @Test
    void aSlowWriteWithoutReadsIsTheNetworks() {
        for (int i = 0; i < 10; i++) {
            assertThat(write(50 * MS)).isZero();
        }
    }

    @Test
    void aSlowWriteThatReadIsTheDisksBeyondWhatMemoryTakes() {
        for (int i = 0; i < 100; i++) {
            assertThat(write(2 * MS)).isZero();
        }
        read += BYTES;
        assertThat(write(50 * MS)).isBetween(47 * MS, 49 * MS);
        assertThat(write(50 * MS)).as("nothing was read for this one").isZero();
    }

    @Test
    void aFirstWriteThatReadIsTheDisksAsAWhole() {
        read += BYTES;
        assertThat(write(50 * MS)).isEqualTo(50 * MS);
    }

    @Test
    void quickWritesCostNoLook() {
        int before = looks;
        for (int i = 0; i < 1000; i++) {
            read += BYTES;
            write(MS / 2);
        }
        assertThat(looks).isEqualTo(before);
        write(MS / 2 + 600 * MS);
        assertThat(looks).isGreaterThan(before);
    }

    @Test
    void aReadAheadThatHeldNothingUpIsForgottenInASecond() {
        read += BYTES;
        for (int i = 0; i < 2000; i++) {
            assertThat(write(MS)).isZero();
        }
        assertThat(write(50 * MS)).as("the read ended long ago").isZero();
    }
}
