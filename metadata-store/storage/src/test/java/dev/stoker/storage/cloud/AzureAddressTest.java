package dev.stoker.storage.cloud;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.Stores;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same locations and variables as in Python. */
class AzureAddressTest {

    private static AzureAddress address(String location, Map<String, String> variables) {
        return AzureAddress.of(URI.create(location), CloudSettings.of(variables, Map.of()));
    }

    @Test
    void findsTheAccountInTheLocationOrInAVariable() {
        Map<String, String> variables = Map.of("AZURE_STORAGE_ACCOUNT_NAME", "other");
        assertThat(address("abfss://photos@acc.dfs.core.windows.net/a", variables))
                .isEqualTo(new AzureAddress("https://acc.blob.core.windows.net", "acc", "photos"));
        assertThat(address("abfs://photos@acc.dfs.core.chinacloudapi.cn/a", Map.of())
                        .endpoint())
                .isEqualTo("https://acc.blob.core.chinacloudapi.cn");
        for (String location : new String[] {"az://photos/a", "abfss://photos/a"}) {
            assertThat(address(location, variables).containerUrl())
                    .isEqualTo("https://other.blob.core.windows.net/photos");
        }
    }

    @Test
    void anotherAddressCanBeSet() {
        Map<String, String> emulator = Map.of("AZURE_STORAGE_USE_EMULATOR", "true");
        assertThat(address("az://photos/a", emulator).containerUrl())
                .isEqualTo("http://127.0.0.1:10000/devstoreaccount1/photos");
        assertThat(address("abfss://photos@acc.dfs.core.windows.net/a", Map.of("AZURE_ENDPOINT", "http://here:1/acc/"))
                        .containerUrl())
                .isEqualTo("http://here:1/acc/photos");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://proxy.example.com/acc", "https://proxy.example.com:8443"})
    void anAddressThatTheClientMisunderstandsIsRefused(String endpoint) {
        assertThatThrownBy(() -> Emulator.open(
                        "az://photos/a",
                        Map.of(
                                "AZURE_ENDPOINT", endpoint,
                                "AZURE_STORAGE_ACCOUNT_NAME", "acc",
                                "AZURE_STORAGE_ACCOUNT_KEY", "d3Jvbmc=")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(endpoint)
                .hasMessageContaining("correct AZURE_ENDPOINT");
    }

    @Test
    void anIdentityIsNotSentWithoutEncryption() {
        assertThatThrownBy(() -> Emulator.open(
                        "az://photos/a",
                        Map.of("AZURE_ENDPOINT", "http://127.0.0.1:1/acc", "AZURE_STORAGE_ACCOUNT_NAME", "acc")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("http://127.0.0.1:1/acc")
                .hasMessageContaining("use https://, or set AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN");
    }

    @Test
    void aMissingFileOfAnIdentityIsNoOutage() {
        AzureAddress address = address("abfss://photos@acc.dfs.core.windows.net/a", Map.of());
        IOException failure = new AzureErrors(address, "the identity of this process")
                .translate(new RuntimeException(new NoSuchFileException("/var/run/token")));
        assertThat(new CloudFailures().kind(failure)).isEqualTo(StoreFailureKind.DENIED);
        assertThat(failure).hasMessageContaining("/var/run/token");
    }

    @Test
    void aDatasetIsNamedAfterItsDirectoryOrContainer() {
        assertThat(Stores.name("abfss://photos@acc.dfs.core.windows.net/")).contains("photos");
        assertThat(Stores.name("abfss://photos@acc.dfs.core.windows.net/a@b")).contains("a@b");
        assertThat(Stores.name("az://photos")).contains("photos");
    }

    @Test
    void theAccountIsRequired() {
        assertThatThrownBy(() -> address("az://photos/a", Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("set AZURE_STORAGE_ACCOUNT_NAME")
                .hasMessageContaining("abfss://photos@ACCOUNT.dfs.core.windows.net/a");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "abfss://photos@example.com/a",
                "abfss://photos:secret@acc.dfs.core.windows.net/a",
                "abfss://@acc.dfs.core.windows.net/a",
                "az://acc.blob.core.windows.net/photos"
            })
    void otherLocationsAreRefusedWithoutSecrets(String location) {
        assertThatThrownBy(() -> address(location, Map.of("AZURE_STORAGE_ACCOUNT_NAME", "acc")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected az://CONTAINER/PATH or abfss://")
                .hasMessageNotContaining("secret");
    }

    @Test
    void bothSchemesOfDataLakeStorageAreOneLocation() {
        assertThat(Stores.normalize("abfs://photos@acc.dfs.core.windows.net/a/"))
                .isEqualTo("abfss://photos@acc.dfs.core.windows.net/a");
    }
}
