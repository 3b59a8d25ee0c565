package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class StreamArgumentTest {

    @Test
    void namesAStreamAfterItsSplit() {
        assertThat(StreamArgument.parse("./data/photos"))
                .isEqualTo(new StreamArgument("train", "./data/photos", OptionalLong.empty(), "train"));
        assertThat(StreamArgument.parse("./data/photos:val").name()).isEqualTo("val");
    }

    @Test
    void readsNameVersionAndSplit() {
        assertThat(StreamArgument.parse("check=/d/a b@12:val"))
                .isEqualTo(new StreamArgument("check", "/d/a b", OptionalLong.of(12), "val"));
    }

    @Test
    void leavesTheSchemeOfAUriAlone() {
        StreamArgument stream = StreamArgument.parse("t=s3a://bucket/photos@3");
        assertThat(stream.path()).isEqualTo("s3a://bucket/photos");
        assertThat(stream.version()).hasValue(3);
        assertThat(StreamArgument.parse("s3a://bucket/photos").split()).isEqualTo("train");
    }

    @Test
    void tellsAPortFromASplit() {
        assertThat(StreamArgument.parse("hdfs://namenode:8020/photos:val"))
                .isEqualTo(new StreamArgument("val", "hdfs://namenode:8020/photos", OptionalLong.empty(), "val"));
        assertThat(StreamArgument.parse("hdfs://namenode:8020@2"))
                .isEqualTo(new StreamArgument("train", "hdfs://namenode:8020", OptionalLong.of(2), "train"));
    }

    @Test
    void refusesAnEmptyArgument() {
        assertThatThrownBy(() -> StreamArgument.parse(""))
                .hasMessageContaining("expected [name=]path[@version][:split]");
    }
}
