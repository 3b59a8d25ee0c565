package dev.stoker.transport;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A self-signed certificate with its key, made by the JDK's keytool; files {@code NAME.pem}, {@code NAME.key}. */
public final class TestCertificate {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final KeyStore store;
    private final Path pem;
    private final Path key;

    private TestCertificate(KeyStore store, Path pem, Path key) {
        this.store = store;
        this.pem = pem;
        this.key = key;
    }

    /** One for 127.0.0.1 and localhost. */
    public static TestCertificate make(Path directory, String name) throws Exception {
        return make(directory, name, new String[0]);
    }

    /** One for 127.0.0.1 and localhost, with options of keytool that say of what kind. */
    public static TestCertificate make(Path directory, String name, String... kind) throws Exception {
        return makeFor(directory, name, "ip:127.0.0.1,dns:localhost", kind);
    }

    /** One for the names, as {@code dns:localhost}. */
    public static TestCertificate makeFor(Path directory, String name, String names, String... kind) throws Exception {
        Path file = directory.resolve(name + ".p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "it",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=" + names,
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                file.toString()));
        if (!List.of(kind).contains("-keyalg")) {
            command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1"));
        }
        command.addAll(List.of(kind));
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new AssertionError(command + ": " + said);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        TestCertificate made =
                new TestCertificate(store, directory.resolve(name + ".pem"), directory.resolve(name + ".key"));
        made.copyTo(made.pem, made.key);
        return made;
    }

    /** Writes certificate and key to other files as well. */
    public void copyTo(Path pemFile, Path keyFile) throws IOException, GeneralSecurityException {
        Key secret = store.getKey("it", PASSWORD);
        Files.writeString(keyFile, pem("PRIVATE KEY", secret.getEncoded()));
        Files.writeString(pemFile, pem("CERTIFICATE", certificate().getEncoded()));
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    public X509Certificate certificate() throws GeneralSecurityException {
        return (X509Certificate) store.getCertificate("it");
    }

    public Path pem() {
        return pem;
    }

    public Path key() {
        return key;
    }

    /** A client that trusts this certificate and shows nothing. */
    public SSLContext trusting() throws Exception {
        return context(null, certificate());
    }

    /** A client, or a server, that trusts the other certificate and shows this one. */
    public SSLContext showing(TestCertificate trusted) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        return context(keys, trusted.certificate());
    }

    private static SSLContext context(KeyManagerFactory keys, Certificate trusted) throws Exception {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("it", trusted);
        TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
        managers.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys == null ? null : keys.getKeyManagers(), managers.getTrustManagers(), null);
        return context;
    }
}
