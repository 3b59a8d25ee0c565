package dev.stoker.storage.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ProxyAdviceTest {
    private static final Map<String, String> DEAD = Map.of("http_proxy", "http://ada:secret@10.0.0.1:3128");

    @Test
    void namesTheProxyWithoutItsPassword() {
        assertThat(ProxyAdvice.of("s3a://bucket/photos/x", DEAD))
                .contains("through the proxy http://10.0.0.1:3128 of the variable http_proxy", "no_proxy")
                .doesNotContain("secret");
        assertThat(ProxyAdvice.of("gs://bucket/x", Map.of("HTTPS_PROXY", "10.0.0.1:3128")))
                .contains("the proxy 10.0.0.1:3128 of the variable HTTPS_PROXY");
    }

    @Test
    void isSilentWithoutAProxyAndForStoresThatUseNone() {
        assertThat(ProxyAdvice.of("s3a://bucket/x", Map.of())).isEmpty();
        assertThat(ProxyAdvice.of("s3a://bucket/x", Map.of("http_proxy", " "))).isEmpty();
        assertThat(ProxyAdvice.of("hdfs://namenode/x", DEAD)).isEmpty();
        assertThat(ProxyAdvice.of("/data/x", DEAD)).isEmpty();
    }
}
