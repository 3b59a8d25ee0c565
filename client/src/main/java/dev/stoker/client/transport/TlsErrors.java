package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** Explains TLS failures with the next step. */
record TlsErrors(Tls tls, String address, FeederTrust trust) {
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
     * Converts the error to one to throw.
     *
     * @return an IOException if the failure may be temporary
     * @throws TlsException if a retry would fail again
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
            throw new TlsException(address + " supports no common version of TLS; 1.2 or 1.3 is required", e);
        }
        int alert = said.indexOf(ALERT);
        if (alert >= 0 && CERTIFICATE_ALERTS.contains(said.substring(alert + ALERT.length()))) {
            String what = said.substring(alert + ALERT.length()).replace('_', ' ');
            throw new TlsException(
                    tls.certificate()
                            .map(Path::toString)
                            .map(shown -> address + " refuses the certificate " + shown + " (" + what
                                    + "): has it expired, and is it signed by a certificate in the feed's"
                                    + " --tls-client-ca?")
                            .orElse(address + " requires a certificate of the trainer (" + what
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
