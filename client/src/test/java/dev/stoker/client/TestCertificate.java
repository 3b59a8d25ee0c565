package dev.stoker.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A self-signed certificate with its key, made by the JDK's keytool; files {@code NAME.pem}, {@code NAME.key}. */
record TestCertificate(KeyStore store, Path pem, Path key) {
    private static final char[] PASSWORD = "changeit".toCharArray();

    /** One for the names, as {@code dns:localhost}. */
    static TestCertificate make(Path directory, String name, String names, String... more) throws Exception {
        Path file = directory.resolve(name + ".p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "it",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
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
        command.addAll(List.of(more));
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
        Files.writeString(
                made.pem, pem("CERTIFICATE", store.getCertificate("it").getEncoded()));
        Files.writeString(
                made.key, pem("PRIVATE KEY", store.getKey("it", PASSWORD).getEncoded()));
        return made;
    }

    private static String pem(String what, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    /** A server that shows this one, and trusts clients that show another. */
    SSLContext serving(TestCertificate trusted) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("it", trusted.store.getCertificate("it"));
        TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
        managers.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), managers.getTrustManagers(), null);
        return context;
    }
}
