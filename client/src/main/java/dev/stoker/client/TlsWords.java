package dev.stoker.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** Says what went wrong with TLS so that somebody can mend it. */
record TlsWords(Tls tls, String address, FeederTrust trust) {
    private static final String ALERT = "received fatal alert: ";
    private static final List<String> CERTIFICATE_ALERTS = List.of(
            "certificate_required",
            "bad_certificate",
            "certificate_expired",
            "certificate_unknown",
            "certificate_revoked",
            "unsupported_certificate",
            "unknown_ca",
            "access_denied",
            "handshake_failure");

    /**
     * The error as one to be thrown.
     *
     * @return an IOException if it may pass
     * @throws TlsException if it will come again
     */
    IOException explained(SSLException e) {
        if (!trust.complaint().isEmpty()) {
            throw new TlsException(trust.complaint(), e);
        }
        String said = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        if (said.contains("unrecognized ssl message") || said.contains("plaintext connection")) {
            throw noTls();
        }
        if (said.contains("protocol_version") || said.contains("no appropriate protocol")) {
            throw new TlsException(address + " speaks no version of TLS that is known here; 1.2 or 1.3 is needed", e);
        }
        int alert = said.indexOf(ALERT);
        if (alert >= 0 && CERTIFICATE_ALERTS.contains(said.substring(alert + ALERT.length()))) {
            String what = said.substring(alert + ALERT.length()).replace('_', ' ');
            throw new TlsException(
                    tls.certificate()
                            .map(Path::toString)
                            .map(shown -> address + " refuses the certificate " + shown + " (" + what
                                    + "): has it expired, and is it signed by what the feed has as --tls-client-ca?")
                            .orElse(address + " wants a certificate of the trainer (" + what
                                    + "): give tlsCertificate (STOKER_TLS_CERT, STOKER_TLS_KEY)"),
                    e);
        }
        return e;
    }

    TlsException noTls() {
        return new TlsException(
                address + " does not speak TLS: start the feed with --tls-cert and --tls-key, or leave tls"
                        + " out (STOKER_TLS_CA)");
    }
}
