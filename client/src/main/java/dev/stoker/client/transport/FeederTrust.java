package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Checks the certificate of one feeder, and explains problems with it. For one handshake. */
final class FeederTrust extends X509ExtendedTrustManager {
    private final Tls tls;
    private final String address;
    private final String name;
    private final Optional<X509Certificate> pinned;
    private final X509ExtendedTrustManager chains;
    private String complaint = "";

    private FeederTrust(
            Tls tls, String address, String name, Optional<X509Certificate> pinned, X509ExtendedTrustManager chains) {
        this.tls = tls;
        this.address = address;
        this.name = name;
        this.pinned = pinned;
        this.chains = chains;
    }

    /**
     * Reads the files with certificates.
     *
     * @param name that the certificate must be for
     * @throws TlsException if a file cannot be used
     */
    static FeederTrust of(Tls tls, String address, String name) throws GeneralSecurityException {
        Optional<X509Certificate> pinned = tls.pin()
                .map(file -> ClientKeys.certificates("the certificate that the feed's file names,", file)
                        .get(0));
        KeyStore trusted = null;
        if (pinned.isPresent() || tls.ca().isPresent()) {
            trusted = ClientKeys.empty();
            List<X509Certificate> all = pinned.map(List::of)
                    .orElseGet(() -> ClientKeys.certificates("tls", tls.ca().orElseThrow()));
            for (int i = 0; i < all.size(); i++) {
                trusted.setCertificateEntry("ca" + i, all.get(i));
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(trusted);
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager chains) {
                return new FeederTrust(tls, address, name, pinned, chains);
            }
        }
        throw new GeneralSecurityException("this JDK does not check certificates");
    }

    /** The problem that was found; empty for none. */
    String complaint() {
        return complaint;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        String whose = "the certificate of " + address;
        try {
            chain[0].checkValidity();
        } catch (CertificateExpiredException e) {
            throw refuse(whose + " has expired: renew the files of --tls-cert and --tls-key; the feeder reloads them");
        } catch (CertificateNotYetValidException e) {
            throw refuse(whose + " is not valid yet: compare the clocks of both machines");
        }
        if (pinned.isPresent()) {
            // The name is not checked, because only this one certificate is accepted.
            if (!Arrays.equals(pinned.get().getEncoded(), chain[0].getEncoded())) {
                throw refuse(whose + " is not the one in " + tls.pin().orElseThrow()
                        + ", which the feed's file names: give its CA as tls (STOKER_TLS_CA)");
            }
            return;
        }
        try {
            chains.checkServerTrusted(chain, kind);
        } catch (CertificateException e) {
            String trusted = tls.ca().map(Path::toString).orElse("this system");
            throw refuse(whose + " is not signed by one that " + trusted
                    + " trusts: give the file of the right CA as tls (STOKER_TLS_CA)");
        }
        try {
            chains.checkServerTrusted(chain, kind, engine);
        } catch (CertificateException e) {
            throw refuse(whose + " is for " + names(chain[0]) + ", not " + name + ": set tlsName (STOKER_TLS_NAME)");
        }
    }

    private CertificateException refuse(String why) {
        complaint = why;
        return new CertificateException(why);
    }

    private static String names(X509Certificate certificate) throws CertificateException {
        String names = Optional.ofNullable(certificate.getSubjectAlternativeNames()).stream()
                .flatMap(Collection::stream)
                .map(name -> String.valueOf(name.get(1)))
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "another name" : names;
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return chains.getAcceptedIssuers();
    }

    // ---- methods that a client with an engine does not use

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        throw new CertificateException("this class checks only the connections of a feed client");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        checkServerTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) throws CertificateException {
        checkServerTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, Socket socket) throws CertificateException {
        checkServerTrusted(chain, kind);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, SSLEngine engine) throws CertificateException {
        checkServerTrusted(chain, kind);
    }
}
