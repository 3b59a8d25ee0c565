package dev.stoker.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.transport.TestCertificate;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTlsTest {
    @TempDir
    static Path directory;

    private static TestCertificate one;
    private static TestCertificate other;

    @BeforeAll
    static void make() throws Exception {
        one = TestCertificate.make(directory, "one");
        other = TestCertificate.make(directory, "other");
    }

    private static void refuses(Path certificate, Path key, String... words) {
        assertThatThrownBy(() -> ServerTls.open(new TlsFiles(certificate, key, Optional.empty())))
                .isInstanceOf(AccessException.class)
                .hasMessageContainingAll(words)
                .hasMessageNotContaining("\n");
    }

    @Test
    void takesOnlyModernVersionsAndAsksForCertificatesWhereTold() throws Exception {
        assertThat(ServerTls.open(new TlsFiles(one.pem(), one.key(), Optional.empty()))
                        .engine())
                .satisfies(engine -> {
                    assertThat(engine.getEnabledProtocols()).containsExactly("TLSv1.3", "TLSv1.2");
                    assertThat(engine.getUseClientMode()).isFalse();
                    assertThat(engine.getNeedClientAuth()).isFalse();
                });
        assertThat(ServerTls.open(new TlsFiles(one.pem(), one.key(), Optional.of(other.pem())))
                        .engine()
                        .getNeedClientAuth())
                .isTrue();
    }

    @Test
    void saysWhichFileCannotBeUsedAndWhatToDo() throws Exception {
        Path absent = directory.resolve("absent.pem");
        refuses(absent, one.key(), "absent.pem", "it does not exist", "every feeder machine");
        refuses(one.pem(), absent, "absent.pem", "it does not exist");
        refuses(one.key(), one.key(), "one.key", "no PEM certificate");
        refuses(one.pem(), one.pem(), "one.pem", "no PEM key");
        refuses(one.pem(), other.key(), "other.key", "one.pem", "does not belong to the certificate");
        for (String kind : new String[] {"ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"}) {
            Path key = directory.resolve("wrong.key");
            Files.writeString(key, Files.readString(one.key()).replace("PRIVATE KEY", kind));
            refuses(one.pem(), key, "wrong.key", kind, "openssl pkcs8 -topk8 -nocrypt");
        }
        Path damaged = directory.resolve("damaged.key");
        String text = Files.readString(one.key());
        Files.writeString(damaged, text.replaceFirst("\n.{8}", "\nAAAAAAAA"));
        refuses(one.pem(), damaged, "damaged.key");
        assertThatThrownBy(() -> ServerTls.open(new TlsFiles(one.pem(), one.key(), Optional.of(one.key()))))
                .isInstanceOf(AccessException.class)
                .hasMessageContainingAll("one.key", "no PEM certificate");
    }

    @Test
    void noMessageHoldsTheKey() throws Exception {
        Path damaged = directory.resolve("secret.key");
        String text = Files.readString(one.key());
        String secret = text.split("\n")[1].substring(8);
        Files.writeString(damaged, text.replaceFirst("\n.{8}", "\nAAAAAAAA"));
        Throwable thrown =
                Assertions.catchThrowable(() -> ServerTls.open(new TlsFiles(one.pem(), damaged, Optional.empty())));
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace, true));
        assertThat(trace.toString()).doesNotContain(secret);
    }

    @Test
    void readsEveryKindOfKey() throws Exception {
        TestCertificate rsa = TestCertificate.make(directory, "rsa", "-keyalg", "RSA", "-keysize", "2048");
        assertThat(ServerTls.open(new TlsFiles(rsa.pem(), rsa.key(), Optional.empty())))
                .isNotNull();
    }
}
