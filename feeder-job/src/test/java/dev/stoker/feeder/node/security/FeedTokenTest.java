package dev.stoker.feeder.node.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.node.Waiting;
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
        assertThat(token.matches(Optional.of("secret"))).isTrue();
        for (String wrong : List.of("", "secre", "secret ", "secret\n", "Secret")) {
            assertThat(token.matches(Optional.of(wrong))).as(wrong).isFalse();
        }
        assertThat(token.matches(Optional.empty())).isFalse();
        assertThat(token.warning()).isEmpty();
    }

    @Test
    void refusesWhatIsNoToken() throws Exception {
        for (String wrong : List.of("", "\n", " \n ", "two\nlines", "x".repeat(5000))) {
            Files.writeString(file, wrong);
            assertThatThrownBy(() -> FeedToken.file(file))
                    .isInstanceOf(AccessException.class)
                    .hasMessageContainingAll(file.toString(), "openssl rand")
                    .hasMessageNotContaining("lines");
        }
        Files.delete(file);
        assertThatThrownBy(() -> FeedToken.file(file))
                .isInstanceOf(AccessException.class)
                .hasMessageContainingAll(file.toString(), "NoSuchFile", "every feeder machine");
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
                .hasMessageContaining("token file " + fifo + " cannot be read on this machine (is a FIFO or a device");
        for (TlsFiles files :
                List.of(new TlsFiles(fifo, file, Optional.empty()), new TlsFiles(file, fifo, Optional.empty()))) {
            assertThatThrownBy(() -> ServerTls.open(files)).isInstanceOf(AccessException.class);
        }
        assertThatThrownBy(() -> PemFile.key(fifo))
                .isInstanceOf(AccessException.class)
                .hasMessageContaining("key file " + fifo + " cannot be read on this machine (is a FIFO or a device");
    }

    @Test
    void aFifoThatReplacesTheFileLeavesTheTokenInForce() throws Exception {
        FeedToken token = FeedToken.file(file);
        Files.delete(file);
        HostileNeighbour.fifo(file);
        Waiting.until(() -> !token.matches(Optional.of("nobody's")));

        assertThat(token.matches(Optional.of("secret"))).isTrue();
    }

    @Test
    void warnsOfAKeyThatOthersMayRead() throws Exception {
        for (String mode : List.of("rw-r-----", "rw-r--r--")) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            Optional<TlsFiles> tls = Optional.of(new TlsFiles(file, file, Optional.empty()));

            assertThat(new Access(Optional.empty(), tls, false).warnings("127.0.0.1"))
                    .containsExactly("key file " + file + " can be read by others than its owner (" + mode
                            + "): chmod 600 " + file);
        }
    }

    @Test
    void isReadAgainWhenTheFileChanges() throws Exception {
        FeedToken token = FeedToken.file(file);
        Files.writeString(file, "renewed secret\n");
        Waiting.until(() -> token.matches(Optional.of("renewed secret")));
        assertThat(token.matches(Optional.of("secret"))).isFalse();
        Files.writeString(file, "");
        Waiting.until(() -> !token.matches(Optional.of("nobody's")));
        assertThat(token.matches(Optional.of("renewed secret"))).isTrue();
    }

    @Test
    void isNeverShown() throws Exception {
        assertThat(FeedToken.file(file).toString()).doesNotContain("secret");
        assertThat(FeedToken.of("secret").toString()).doesNotContain("secret");
        assertThat(new Access(Optional.of(FeedToken.of("secret")), Optional.empty(), false).toString())
                .doesNotContain("secret");
    }

    @Test
    void aBindBeyondLoopbackWantsTokenOrCertificates() {
        Optional<FeedToken> token = Optional.of(FeedToken.of("secret"));
        Optional<TlsFiles> tls = Optional.of(new TlsFiles(file, file, Optional.empty()));
        Optional<TlsFiles> mutual = Optional.of(new TlsFiles(file, file, Optional.of(file)));
        for (Access closed : List.of(Access.open(), new Access(Optional.empty(), tls, false))) {
            closed.check("127.0.0.1");
            assertThatThrownBy(() -> closed.check("0.0.0.0"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("0.0.0.0", "--token-file", "--tls-client-ca", "--insecure")
                    .hasMessageNotContaining("\n");
        }
        for (Access right : List.of(new Access(token, tls, false), new Access(Optional.empty(), mutual, false))) {
            right.check("0.0.0.0");
            assertThat(right.warnings("0.0.0.0")).isEmpty();
        }
        assertThat(new Access(token, Optional.empty(), false).warnings("0.0.0.0"))
                .singleElement()
                .satisfies(text -> assertThat(text).contains("plain text", "--tls-cert"));
        assertThat(new Access(Optional.empty(), tls, true).warnings("0.0.0.0"))
                .singleElement()
                .satisfies(text -> assertThat(text).contains("everyone"));
        assertThat(new Access(token, Optional.empty(), false).warnings("127.0.0.1"))
                .isEmpty();
    }
}
