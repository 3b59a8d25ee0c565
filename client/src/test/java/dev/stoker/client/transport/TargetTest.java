package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetTest {
    @TempDir
    private Path home;

    private Target of(String text) {
        return Target.of(Optional.of(text), Map.of("STOKER_HOME", home.toString()));
    }

    private void file(String name, String content) throws IOException {
        Files.createDirectories(home.resolve("feeds"));
        Files.writeString(home.resolve("feeds").resolve(name + ".json"), content);
    }

    @Test
    void addressesStandForThemselves() {
        assertThat(of("a:1, b.example:7420,[::1]:3").addresses()).containsExactly("a:1", "b.example:7420", "[::1]:3");
        assertThat(Address.parse("[::1]:3")).contains(new Address("::1", 3));
        assertThat(Address.parse("::1:3")).isEmpty();
        assertThat(Address.parse("a:0")).isEmpty();
        assertThat(Address.parse("a:65536")).isEmpty();
    }

    @Test
    void readsTheGoldenEntry() throws IOException {
        try (InputStream golden = getClass().getResourceAsStream("/golden/feed-entry-1.json")) {
            file("photos", new String(golden.readAllBytes(), StandardCharsets.UTF_8));
        }
        Target target = of("photos");
        assertThat(target.addresses()).containsExactly("10.0.0.1:7420", "10.0.0.2:7420");
        assertThat(target.unix())
                .containsExactly(Map.entry(
                        "10.0.0.1:7420",
                        new UnixAddress("4b1f4a0c-0000-4000-8000-000000000001/pid:[1]", "/tmp/stoker/7420.sock")));
        assertThat(target.certificate()).contains(Path.of("/etc/stoker/cert.pem"));
    }

    @Test
    void aNameIsLookedUpEachTime() throws IOException {
        Target target = of("photos");
        assertThatThrownBy(target::addresses)
                .isInstanceOf(FeedNotFoundException.class)
                .hasMessageContaining("no feed 'photos'")
                .hasMessageContaining("--name photos");
        file("photos", "{\"addresses\":[\"127.0.0.1:7\",\"unix:/tmp/x\"]}");
        assertThat(target.addresses()).containsExactly("127.0.0.1:7", "unix:/tmp/x");
        file("photos", "{\"addresses\":[\"127.0.0.1:8\"]}");
        assertThat(target.addresses()).containsExactly("127.0.0.1:8");
        file("photos", "{\"addresses\":[]}");
        assertThatThrownBy(target::addresses).hasMessageContaining("the feed is starting");
        file("photos", "{\"addresses\":[\"127.0.0.1:8\"],\"ended_ms\":5}");
        assertThatThrownBy(target::addresses).hasMessageContaining("has ended");
        file("photos", "{");
        assertThatThrownBy(target::addresses).hasMessageContaining("cannot be read");
    }

    @Test
    void aHomeThatIsAFileSaysSo() throws IOException {
        Path file = Files.createFile(home.resolve("file"));
        Target target = Target.of(Optional.of("photos"), Map.of("STOKER_HOME", file.toString()));
        assertThatThrownBy(target::addresses)
                .isInstanceOf(FeedNotFoundException.class)
                .hasMessage("feed 'photos': STOKER_HOME=" + file + " is a file; name a directory");
    }

    @Test
    void anUnknownNameOfADirectorySaysHowToServeIt() throws IOException {
        Target target = of("src");
        assertThatThrownBy(target::addresses)
                .hasMessage("no feed 'src' on this machine. ./src is a directory: serve it with "
                        + "`stoker feed ./src --name src`");
        file("photos", "{}");
        file("videos", "{}");
        assertThatThrownBy(target::addresses)
                .hasMessage("no feed 'src' on this machine (known feeds: photos, videos). ./src is a directory: "
                        + "serve it with `stoker feed ./src --name src`");
        assertThatThrownBy(of("phots")::addresses).hasMessageContaining("; known feeds: photos, videos; start it with");
    }

    @Test
    void theTokenIsReadWhereTheFileSays() throws IOException {
        Path token = Files.writeString(home.resolve("token"), "s3cret\n");
        file("photos", "{\"addresses\":[\"127.0.0.1:8\"],\"token_file\":\"" + token + "\"}");
        assertThat(of("photos").token()).contains("s3cret");
        Files.delete(token);
        assertThat(of("photos").token()).isEmpty();
        assertThat(of("a:1").token()).isEmpty();
    }

    @Test
    void aFeedWhoseProcessIsGoneHasEnded() throws IOException {
        file("photos", "{\"addresses\":[\"127.0.0.1:8\"],\"pid\":" + Integer.MAX_VALUE + "}");
        assertThat(of("photos").ended())
                .hasValueSatisfying(text -> assertThat(text).contains("is gone"));
        file(
                "photos",
                "{\"addresses\":[\"127.0.0.1:8\"],\"pid\":"
                        + ProcessHandle.current().pid() + "}");
        assertThat(of("photos").ended()).isEmpty();
        file("photos", "{\"addresses\":[\"10.0.0.1:8\"],\"pid\":" + Integer.MAX_VALUE + "}");
        assertThat(of("photos").ended()).isEmpty();
    }

    @Test
    void theEnvironmentNamesAFeedWhereNothingElseDoes() {
        assertThat(Target.of(Optional.empty(), Map.of("STOKER_FEED", "photos")).name())
                .contains("photos");
        assertThatThrownBy(() -> Target.of(Optional.empty(), Map.of()))
                .isInstanceOf(FeedNotFoundException.class)
                .hasMessageContaining("STOKER_FEED");
        assertThatThrownBy(() -> of("a/b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a/b'");
    }
}
