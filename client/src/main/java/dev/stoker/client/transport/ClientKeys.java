package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import dev.stoker.transport.Pem;
import dev.stoker.transport.PemException;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The trainer's certificate, as a key manager of the JDK. */
final class ClientKeys {
    private static final Logger LOG = LoggerFactory.getLogger(ClientKeys.class);

    private ClientKeys() {}

    /**
     * Reads the files of a certificate and its key; empty if there is no certificate.
     *
     * @throws TlsException if a file cannot be used
     */
    static KeyManager[] of(Tls tls) throws GeneralSecurityException {
        if (tls.certificate().isEmpty()) {
            return new KeyManager[0];
        }
        Path file = tls.certificate().get();
        List<X509Certificate> chain = certificates("tlsCertificate", file);
        Path keyFile = tls.key().orElse(file);
        PrivateKey key = key(keyFile);
        if (!Pem.matches(key, chain.get(0))) {
            throw new TlsException("the key " + keyFile + " does not belong to the certificate " + file);
        }
        RegularFile.sharing(keyFile)
                .ifPresent(permissions -> LOG.warn(
                        "Key file {} can be read by users other than its owner ({}): chmod 600 {}",
                        keyFile,
                        permissions,
                        keyFile));
        KeyStore keys = empty();
        keys.setKeyEntry("trainer", key, new char[0], chain.toArray(new X509Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, new char[0]);
        return factory.getKeyManagers();
    }

    /**
     * Returns the certificates of a file.
     *
     * @param what describes the file in messages
     */
    static List<X509Certificate> certificates(String what, Path file) {
        try {
            return Pem.certificates(read(what, file));
        } catch (PemException e) {
            throw unusable(what, file, e);
        }
    }

    private static PrivateKey key(Path file) {
        try {
            return Pem.key(read("the key", file));
        } catch (PemException e) {
            throw unusable("the key", file, e);
        }
    }

    private static byte[] read(String what, Path file) {
        try {
            return RegularFile.read(file);
        } catch (IOException e) {
            throw new TlsException(what + " " + file + " cannot be read: " + RegularFile.reason(e), e);
        }
    }

    private static TlsException unusable(String what, Path file, PemException e) {
        return new TlsException(what + " " + file + " cannot be used: " + e.getMessage(), e);
    }

    static KeyStore empty() throws GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try {
            store.load(null, null);
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
        return store;
    }
}
