package dev.stoker.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Security;
import org.junit.jupiter.api.Test;

class KeyLimitTest {
    @Test
    void readsPowersAndNumbersOfAesGcm() {
        assertThat(KeyLimit.of("AES/GCM/NoPadding KeyUpdate 2^37, ChaCha20-Poly1305 KeyUpdate 2^36"))
                .isEqualTo(1L << 37);
        assertThat(KeyLimit.of("ChaCha20-Poly1305 KeyUpdate 2^36,aes/gcm/nopadding  keyupdate  131072 "))
                .isEqualTo(131_072);
        assertThat(KeyLimit.of("AES/GCM/NoPadding KeyUpdate 2^99")).isEqualTo(1L << 62);
        assertThat(KeyLimit.of("AES/GCM/NoPadding KeyUpdate 0")).isEqualTo(1);
    }

    @Test
    void isTheDefaultOfTheJdkIfThePropertySaysNothing() {
        for (String property : new String[] {null, "", "ChaCha20-Poly1305 KeyUpdate 2^36", "AES/GCM/NoPadding"}) {
            assertThat(KeyLimit.of(property)).as(property).isEqualTo(KeyLimit.DEFAULT_BYTES);
        }
    }

    @Test
    void readsThePropertyOfThisJdk() {
        assertThat(KeyLimit.bytes()).isEqualTo(KeyLimit.of(Security.getProperty("jdk.tls.keyLimits")));
    }
}
