package dev.stoker.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PemTest {
    @TempDir
    private static Path directory;

    private static TestCertificate ec;
    private static TestCertificate rsa;

    @BeforeAll
    static void make() throws Exception {
        ec = TestCertificate.make(directory, "ec");
        rsa = TestCertificate.make(directory, "rsa", "-keyalg", "RSA", "-keysize", "2048");
    }

    private static byte[] text(String... lines) {
        return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    }

    private static AbstractThrowableAssert<?, ?> refused(byte[] pem) {
        return assertThatThrownBy(() -> Pem.key(pem)).isInstanceOf(PemException.class);
    }

    @Test
    void readsAllCertificatesAndTheKeyOfOneFile() throws Exception {
        byte[] all = text(
                "# a comment",
                Files.readString(ec.pem()),
                Files.readString(rsa.key()),
                "text between",
                Files.readString(rsa.pem()));

        assertThat(Pem.certificates(all)).containsExactly(ec.certificate(), rsa.certificate());
        assertThat(Pem.key(all).getAlgorithm()).isEqualTo("RSA");
        assertThat(Pem.key(Files.readAllBytes(ec.key())).getAlgorithm()).isEqualTo("EC");
    }

    @Test
    void tellsWhetherAKeyBelongsToACertificate() throws Exception {
        TestCertificate other = TestCertificate.make(directory, "other");
        assertThat(Pem.matches(Pem.key(Files.readAllBytes(ec.key())), ec.certificate()))
                .isTrue();
        assertThat(Pem.matches(Pem.key(Files.readAllBytes(rsa.key())), rsa.certificate()))
                .isTrue();
        assertThat(Pem.matches(Pem.key(Files.readAllBytes(ec.key())), rsa.certificate()))
                .isFalse();
        assertThat(Pem.matches(Pem.key(Files.readAllBytes(other.key())), ec.certificate()))
                .isFalse();
    }

    @Test
    void saysWhatIsWrongWithoutTheKey() throws Exception {
        assertThatThrownBy(() -> Pem.certificates(Files.readAllBytes(ec.key())))
                .isInstanceOf(PemException.class)
                .hasMessage("it contains no PEM certificate (BEGIN CERTIFICATE)");
        assertThatThrownBy(() ->
                        Pem.certificates(text("-----BEGIN CERTIFICATE-----", "c2VjcmV0", "-----END CERTIFICATE-----")))
                .isInstanceOf(PemException.class)
                .hasMessage("it is not an X.509 certificate");
        refused(Files.readAllBytes(ec.pem())).hasMessage("it contains no PEM key (BEGIN PRIVATE KEY)");
        for (String kind : new String[] {"ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"}) {
            refused(text("-----BEGIN " + kind + "-----", "c2VjcmV0", "-----END " + kind + "-----"))
                    .hasMessageContainingAll("it contains an " + kind, "openssl pkcs8");
        }
        for (String secret : new String[] {"c2VjcmV0", "c2VjcmV0=!"}) {
            refused(text("-----BEGIN PRIVATE KEY-----", secret, "-----END PRIVATE KEY-----"))
                    .hasMessageStartingWith("its key")
                    .hasMessageNotContaining("secret")
                    .hasMessageNotContaining("c2Vj")
                    .hasNoCause();
        }
    }
}
