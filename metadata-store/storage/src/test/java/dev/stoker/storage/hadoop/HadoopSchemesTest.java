package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.errors.UnsupportedStoreException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HadoopSchemesTest {

    @ParameterizedTest
    @ValueSource(strings = {"gs://bucket/photos", "abfss://container@account.dfs.core.windows.net/photos"})
    void namesWhatIsMissingForAStoreThatHadoopKnowsAndStokerDoesNotShip(String location) {
        assertThatThrownBy(() -> HadoopObjectStore.open(location))
                .isInstanceOf(UnsupportedStoreException.class)
                .hasMessageContaining("is not shipped with Stoker")
                .hasMessageContaining("HADOOP_CLASSPATH");
    }
}
