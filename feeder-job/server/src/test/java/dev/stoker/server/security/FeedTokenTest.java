package dev.stoker.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.Waiting;
import dev.stoker.storage.HostileNeighbour;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class FeedTokenTest {
    @TempDir
    Path directory;

    private Path file;

    @BeforeEach
    void write() throws Exception {
        file = Files.writeString(directory.resolve("token"), "secret\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void isTheFilesLineWithoutItsEnd() throws Exception {
        FeedToken token = FeedToken.file(file);
        assertThat(token.rights(Optional.of("secret")).isPresent()).isTrue();
        for (String wrong : List.of("", "secre", "secret ", "secret\n", "Secret")) {
            assertThat(token.rights(Optional.of(wrong)).isPresent()).as(wrong).isFalse();
        }
        assertThat(token.rights(Optional.empty()).isPresent()).isFalse();
        assertThat(token.warning()).isEmpty();
    }

    @Test
    void refusesWhatIsNoToken() throws Exception {
        for (String wrong : List.of("", "\n", " \n ", "# no token\n", "x".repeat(2 << 20))) {
            Files.writeString(file, wrong);
            assertThatThrownBy(() -> FeedToken.file(file))
                    .isInstanceOf(AccessException.class)
                    .hasMessageContainingAll(file.toString(), "openssl rand");
        }
        Files.delete(file);
        assertThatThrownBy(() -> FeedToken.file(file))
                .isInstanceOf(AccessException.class)
                .hasMessageContainingAll(file.toString(), "it does not exist", "every feeder machine");
    }

    @Test
    void aLineLimitsItsToken() throws Exception {
        Files.writeString(file, """
                # of the trainers
                secret

                  reader  streams=val,test-*  groups=eval-* rights=read
                trainer rights=read,acknowledge
                base64+/= groups=default
                """);
        FeedToken token = FeedToken.file(file);
        assertThat(token.rights(Optional.of("secret"))).contains(FeedToken.Rights.ALL);
        assertThat(token.rights(Optional.of("reader")))
                .contains(new FeedToken.Rights(List.of("val", "test-*"), List.of("eval-*"), Right.READ));
        assertThat(token.rights(Optional.of("trainer")))
                .contains(new FeedToken.Rights(List.of(), List.of(), Right.ACKNOWLEDGE));
        assertThat(token.rights(Optional.of("base64+/=")))
                .contains(new FeedToken.Rights(List.of(), List.of("default"), Right.ADMINISTER));
        for (String none : List.of("#", "# of the trainers", "streams=val,test-*", "reader ", "")) {
            assertThat(token.rights(Optional.of(none))).as(none).isEmpty();
        }
        assertThat(token.rights(Optional.empty())).isEmpty();
    }

    @Test
    void aMalformedLineIsNamedWithoutItsToken() throws Exception {
        List<String> lines = List.of(
                "hidden hidden2",
                "hidden stream=val",
                "hidden streams=",
                "hidden groups=a,,b",
                "hidden rights=write",
                "hidden streams=a streams=b",
                "secret rights=read",
                "h\u0001idden",
                "hidden".repeat(1000));
        for (String line : lines) {
            Files.writeString(file, "secret\n# comment\n" + line + "\n");
            assertThatThrownBy(() -> FeedToken.file(file))
                    .as(line)
                    .isInstanceOf(AccessException.class)
                    .hasMessageContainingAll(file.toString(), "line 3")
                    .hasMessageNotContainingAny("hidden", "secret");
        }
    }

    @Test
    void aLimitThatIsExceededIsNamed() throws Exception {
        FeedToken.Rights rights = new FeedToken.Rights(List.of("val"), List.of("eval-*"), Right.READ);
        rights.require("val", "eval-7");
        assertThatThrownBy(() -> rights.require("train", "eval-7")).hasMessageContainingAll("stream train", "val");
        assertThatThrownBy(() -> rights.require("val", "default")).hasMessageContainingAll("group default", "eval-*");
        assertThatThrownBy(() -> rights.require(Right.ACKNOWLEDGE, "ACK"))
                .hasMessageContainingAll("acknowledge", "ACK", "read");
        FeedToken.Rights.ALL.require("train", "any");
        FeedToken.Rights.ALL.require(Right.ADMINISTER, "it");
    }

    @Test
    void warnsOfAFileThatEveryoneMayRead() throws Exception {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(FeedToken.file(file).warning())
                .hasValueSatisfying(text -> assertThat(text).contains("chmod 600", file.toString()));
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void doesNotWaitForAFifo() throws Exception {
        Path fifo = HostileNeighbour.fifo(directory.resolve("fifo"));

        assertThatThrownBy(() -> FeedToken.file(fifo))
                .isInstanceOf(AccessException.class)
                .hasMessageContaining(
                        "token file " + fifo + " cannot be read on this machine (it is not a regular file");
        for (TlsFiles files :
                List.of(new TlsFiles(fifo, file, Optional.empty()), new TlsFiles(file, fifo, Optional.empty()))) {
            assertThatThrownBy(() -> ServerTls.open(files)).isInstanceOf(AccessException.class);
        }
    }

    @Test
    void aFifoThatReplacesTheFileLeavesTheTokenInForce() throws Exception {
        FeedToken token = FeedToken.file(file);
        Files.delete(file);
        HostileNeighbour.fifo(file);
        Waiting.until(() -> token.rights(Optional.of("nobody's")).isEmpty());

        assertThat(token.rights(Optional.of("secret"))).isPresent();
    }

    @Test
    void warnsOfAKeyThatOthersMayRead() throws Exception {
        for (String mode : List.of("rw-r-----", "rw-r--r--")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            Optional<TlsFiles> tls = Optional.of(new TlsFiles(file, file, Optional.empty()));

            assertThat(new ServerSecurity(Optional.empty(), tls, false).warnings("127.0.0.1"))
                    .containsExactly("key file " + file + " can be read by users other than its owner (" + mode
                            + "): chmod 600 " + file);
        }
    }

    @Test
    void isReadAgainWhenTheFileChanges() throws Exception {
        FeedToken token = FeedToken.file(file);
        Files.writeString(file, "renewed\n");
        Waiting.until(() -> token.rights(Optional.of("renewed")).isPresent());
        assertThat(token.rights(Optional.of("secret")).isPresent()).isFalse();
        Files.writeString(file, "");
        Waiting.until(() -> !token.rights(Optional.of("nobody's")).isPresent());
        assertThat(token.rights(Optional.of("renewed")).isPresent()).isTrue();
    }

    @Test
    void isNeverShown() throws Exception {
        assertThat(FeedToken.file(file).toString()).doesNotContain("secret");
        assertThat(FeedToken.of("secret").toString()).doesNotContain("secret");
        assertThat(new ServerSecurity(Optional.of(FeedToken.of("secret")), Optional.empty(), false).toString())
                .doesNotContain("secret");
    }

    @Test
    void aBindBeyondLoopbackWantsTokenOrCertificates() {
        Optional<FeedToken> token = Optional.of(FeedToken.of("secret"));
        Optional<TlsFiles> tls = Optional.of(new TlsFiles(file, file, Optional.empty()));
        Optional<TlsFiles> mutual = Optional.of(new TlsFiles(file, file, Optional.of(file)));
        for (ServerSecurity closed : List.of(ServerSecurity.open(), new ServerSecurity(Optional.empty(), tls, false))) {
            closed.check("127.0.0.1");
            assertThatThrownBy(() -> closed.check("0.0.0.0"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("0.0.0.0", "--token-file", "--tls-client-ca", "--insecure")
                    .hasMessageNotContaining("\n");
        }
        for (ServerSecurity right :
                List.of(new ServerSecurity(token, tls, false), new ServerSecurity(Optional.empty(), mutual, false))) {
            right.check("0.0.0.0");
            assertThat(right.warnings("0.0.0.0")).isEmpty();
        }
        assertThat(new ServerSecurity(token, Optional.empty(), false).warnings("0.0.0.0"))
                .singleElement()
                .satisfies(text -> assertThat(text).contains("plain text", "--tls-cert"));
        assertThat(new ServerSecurity(Optional.empty(), tls, true).warnings("0.0.0.0"))
                .singleElement()
                .satisfies(text -> assertThat(text).contains("everyone"));
        assertThat(new ServerSecurity(token, Optional.empty(), false).warnings("127.0.0.1"))
                .isEmpty();
    }
}
