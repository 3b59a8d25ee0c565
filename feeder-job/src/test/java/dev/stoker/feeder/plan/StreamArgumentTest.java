package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamArgumentTest {

    private static StreamArgument stream(String name, String path, @Nullable String version, String split) {
        return new StreamArgument(
                name,
                new DatasetReference(path, Optional.ofNullable(version).map(VersionName::new), Optional.of(split)));
    }

    @Test
    void readsATag() {
        assertThat(StreamArgument.parse("./data/photos@best:val"))
                .isEqualTo(stream("val", "./data/photos", "best", "val"));
        assertThat(StreamArgument.parse("hdfs://ada@namenode:8020/photos"))
                .isEqualTo(stream("train", "hdfs://ada@namenode:8020/photos", null, "train"));
    }

    @Test
    void namesAStreamAfterItsSplit() {
        assertThat(StreamArgument.parse("./data/photos")).isEqualTo(stream("train", "./data/photos", null, "train"));
        assertThat(StreamArgument.parse("./data/photos:val").name()).isEqualTo("val");
    }

    @Test
    void readsNameVersionAndSplit() {
        assertThat(StreamArgument.parse("check=/d/a b@12:val")).isEqualTo(stream("check", "/d/a b", "12", "val"));
    }

    @Test
    void leavesTheSchemeOfAUriAlone() {
        StreamArgument stream = StreamArgument.parse("t=s3a://bucket/photos@3");
        assertThat(stream.path()).isEqualTo("s3a://bucket/photos");
        assertThat(stream.dataset().version()).contains(new VersionName("3"));
        assertThat(StreamArgument.parse("s3a://bucket/photos").split()).isEqualTo("train");
    }

    @Test
    void tellsAPortFromASplit() {
        assertThat(StreamArgument.parse("hdfs://namenode:8020/photos:val"))
                .isEqualTo(stream("val", "hdfs://namenode:8020/photos", null, "val"));
        assertThat(StreamArgument.parse("hdfs://namenode:8020@2"))
                .isEqualTo(stream("train", "hdfs://namenode:8020", "2", "train"));
    }

    @Test
    void refusesAnEmptyArgument() {
        assertThatThrownBy(() -> StreamArgument.parse(""))
                .hasMessageContaining("expected [name=]path[@version][:split]");
    }

    @Test
    void aDirectoryWithAColonInItsNameIsAPath(@TempDir Path directory) throws IOException {
        String odd = Files.createDirectories(directory.resolve("a:b")).toString();
        String both = Files.createDirectories(directory.resolve("c@1:d")).toString();

        assertThat(StreamArgument.parse(odd)).isEqualTo(stream("train", odd, null, "train"));
        assertThat(StreamArgument.parse(odd + ":val")).isEqualTo(stream("val", odd, null, "val"));
        assertThat(StreamArgument.parse(odd + "@2")).isEqualTo(stream("train", odd, "2", "train"));
        assertThat(StreamArgument.parse(both)).isEqualTo(stream("train", both, null, "train"));
        assertThat(StreamArgument.parse(directory + "/a:c")).isEqualTo(stream("c", directory + "/a", null, "c"));
    }
}
