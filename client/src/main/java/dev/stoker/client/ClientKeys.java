package dev.stoker.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
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
        List<X509Certificate> chain = PemText.certificates("tlsCertificate", file);
        Path keyFile = tls.key().orElse(file);
        PrivateKey key = PemText.key(keyFile);
        if (!fit(key, chain.get(0))) {
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

    private static boolean fit(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
            return false;
        }
        Signature signature = Signature.getInstance(
                switch (key.getAlgorithm()) {
                    case "RSA" -> "SHA256withRSA";
                    case "EC" -> "SHA256withECDSA";
                    default -> key.getAlgorithm();
                });
        byte[] probe = "stoker".getBytes(StandardCharsets.US_ASCII);
        signature.initSign(key);
        signature.update(probe);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(probe);
        return signature.verify(signed);
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
