package dev.stoker.server.security;

import dev.stoker.transport.Pem;
import dev.stoker.transport.PemException;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The feeder's end of TLS connections, version 1.2 or 1.3. The files are looked at again when a connection begins, so
 * that a renewed certificate is taken over without a restart; connections that are there stay as they are. Files that
 * cannot be used leave the ones before in force and are reported once. Thread-safe.
 */
public final class ServerTls {
    private static final Logger LOG = LoggerFactory.getLogger(ServerTls.class);
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final Duration SOON = Duration.ofDays(14);

    private final TlsFiles files;
    private final WatchedFiles watched;
    private SSLContext context;

    private ServerTls(TlsFiles files, WatchedFiles watched, SSLContext context) {
        this.files = files;
        this.watched = watched;
        this.context = context;
    }

    /**
     * Reads the files.
     *
     * @throws AccessException if one cannot be read or they do not belong together
     */
    public static ServerTls open(TlsFiles files) throws AccessException {
        WatchedFiles watched = new WatchedFiles(files.all());
        List<X509Certificate> chain = certificates(files.certificate());
        SSLContext context = load(files, chain);
        if (isOver(chain.get(0))) {
            // A wrong clock here must not stop a feeder that trainers would still trust.
            LOG.warn(
                    "Certificate {} has expired at {}: trainers will refuse it",
                    files.certificate(),
                    chain.get(0).getNotAfter().toInstant());
        }
        return new ServerTls(files, watched, context);
    }

    /** For one connection, with the newest files that can be used. */
    public SSLEngine engine() {
        SSLEngine engine = current().createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(PROTOCOLS);
        engine.setNeedClientAuth(files.clientCa().isPresent());
        return engine;
    }

    private synchronized SSLContext current() {
        if (watched.changed()) {
            try {
                List<X509Certificate> chain = certificates(files.certificate());
                if (isOver(chain.get(0))) {
                    throw new AccessException("certificate file " + files.certificate() + " contains a certificate"
                            + " that expired at "
                            + chain.get(0).getNotAfter().toInstant());
                }
                context = load(files, chain);
            } catch (AccessException e) {
                LOG.warn("Cannot use the renewed TLS files; the previous ones remain in use: {}", e.getMessage());
            }
        }
        return context;
    }

    private static SSLContext load(TlsFiles files, List<X509Certificate> chain) throws AccessException {
        PrivateKey key = key(files.key());
        X509Certificate own = chain.get(0);
        try {
            if (!Pem.matches(key, own)) {
                throw new AccessException("key file " + files.key() + " does not belong to the certificate in "
                        + files.certificate() + " (" + names(own) + ")");
            }
            KeyStore keys = empty();
            keys.setKeyEntry("feeder", key, new char[0], chain.toArray(new X509Certificate[0]));
            KeyManagerFactory manager = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            manager.init(keys, new char[0]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(manager.getKeyManagers(), trust(files), null);
            // A session that is resumed would not be asked for its certificate again.
            context.getServerSessionContext().setSessionTimeout(1);
            Instant end = own.getNotAfter().toInstant();
            LOG.info("Certificate {} is for {}, until {}", files.certificate(), names(own), end);
            if (!isOver(own) && Duration.between(Instant.now(), end).compareTo(SOON) < 0) {
                LOG.warn("Certificate {} expires at {}", files.certificate(), end);
            }
            return context;
        } catch (AccessException e) {
            throw e;
        } catch (GeneralSecurityException | IOException e) {
            throw new AccessException(
                    "certificate " + files.certificate() + " with key " + files.key() + " cannot be used: " + e, e);
        }
    }

    private static List<X509Certificate> certificates(Path file) throws AccessException {
        try {
            return Pem.certificates(read("certificate file", file));
        } catch (PemException e) {
            throw new AccessException("certificate file " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static PrivateKey key(Path file) throws AccessException {
        try {
            return Pem.key(read("key file", file));
        } catch (PemException e) {
            throw new AccessException("key file " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static byte[] read(String what, Path file) throws AccessException {
        try {
            return RegularFile.read(file);
        } catch (IOException e) {
            throw AccessException.unreadable(what, file, e, "");
        }
    }

    private static TrustManager[] trust(TlsFiles files) throws GeneralSecurityException, IOException {
        if (files.clientCa().isEmpty()) {
            return new TrustManager[0];
        }
        KeyStore trusted = empty();
        int n = 0;
        for (X509Certificate ca : certificates(files.clientCa().get())) {
            trusted.setCertificateEntry("ca" + n++, ca);
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance("PKIX");
        managers.init(trusted);
        return managers.getTrustManagers();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static boolean isOver(X509Certificate certificate) {
        return certificate.getNotAfter().toInstant().isBefore(Instant.now());
    }

    /** The names that a certificate is for, else whose it is. */
    private static String names(X509Certificate certificate) {
        try {
            String names = Optional.ofNullable(certificate.getSubjectAlternativeNames()).stream()
                    .flatMap(Collection::stream)
                    .map(name -> String.valueOf(name.get(1)))
                    .collect(Collectors.joining(", "));
            return names.isEmpty() ? certificate.getSubjectX500Principal().getName() : names;
        } catch (CertificateException e) {
            return certificate.getSubjectX500Principal().getName();
        }
    }
}
