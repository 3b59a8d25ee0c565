package dev.stoker.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PathBundleTest {

    @Test
    void bucketsFollowTheHashInOrder() {
        assertThat(PathBundle.bucketOf(0)).isZero();
        assertThat(PathBundle.bucketOf(-1)).isEqualTo(PathBundle.BUCKETS - 1);
        int before = -1;
        for (int place = 0; place < PathBundle.BUCKETS; place++) {
            int key = new PathBundle(PathBundle.Kind.FILES, place, new byte[0], 0, 0, new byte[0]).bucketKey();
            assertThat(key).isGreaterThan(before);
            assertThat(key & 0x80).as("no byte of it is negative").isZero();
            before = key;
        }
    }
}
