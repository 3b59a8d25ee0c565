package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoresTest {

    @Test
    void tellsPathsFromUris() {
        assertThat(Stores.isRemote("photos")).isFalse();
        assertThat(Stores.isRemote("/data/a:b/photos")).isFalse();
        assertThat(Stores.isRemote("file:///data/photos")).isFalse();
        assertThat(Stores.isRemote("s3a://bucket/photos")).isTrue();
        assertThat(Stores.isRemote("hdfs://namenode:8020/photos")).isTrue();
    }

    @Test
    void spellsOneLocationInOneWay() {
        String here = Path.of("photos").toAbsolutePath().toString();
        assertThat(Stores.normalize("photos/")).isEqualTo(here);
        assertThat(Stores.normalize("./x/../photos")).isEqualTo(here);
        assertThat(Stores.normalize("file:///data/photos/")).isEqualTo("/data/photos");
        assertThat(Stores.normalize("s3a://bucket/./photos/")).isEqualTo("s3a://bucket/photos");
        assertThat(Stores.normalize("S3://Bucket/Photos")).isEqualTo("s3a://Bucket/Photos");
        assertThat(Stores.normalize("hdfs:///")).isEqualTo("hdfs:///");
    }

    /** The same locations as in Python. */
    @ParameterizedTest
    @CsvSource({
        "s3a://bucket/photos#1, write ? as %3F and # as %23",
        "az://container/photos?sv=1&sig=SECRET, write ? as %3F and # as %23",
        "gs://user:SECRET@bucket/photos, must not contain a password",
        "hdfs://user:SECRET@namenode:8020/photos, must not contain a password",
        "s3a://bucket/photos/../../other, must not contain ..",
        "gs://bucket/%2E%2e/other, must not contain .."
    })
    void refusesOtherLocationsOfStoresAndRepeatsNoSecret(String location, String reason) {
        assertThatThrownBy(() -> Stores.normalize(location))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason)
                .hasMessageNotContaining("SECRET");
        assertThatThrownBy(() -> Stores.open(location)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Stores.openTree(location)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void refusesAUriWhereAPathIsNeeded() {
        assertThatThrownBy(() -> Stores.local("s3a://bucket/photos"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("s3a://bucket/photos is not a path of this machine");
    }
}
