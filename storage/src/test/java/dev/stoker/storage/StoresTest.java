package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

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
        assertThat(Stores.normalize("s3a://bucket/a/../photos/")).isEqualTo("s3a://bucket/photos");
    }

    @Test
    void refusesAUriWhereAPathIsNeeded() {
        assertThatThrownBy(() -> Stores.local("s3a://bucket/photos"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("s3a://bucket/photos is not a path of this machine");
    }
}
