package dev.stoker.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and keys from PEM text with the JDK's own parsers. */
final class PemText {
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

    private PemText() {}

    /**
     * Returns all certificates of a file, in its order; at least one.
     *
     * @param what describes the file in messages
     */
    static List<X509Certificate> certificates(String what, Path file) {
        Matcher blocks = BLOCK.matcher(read(what, file));
        StringBuilder certificates = new StringBuilder();
        while (blocks.find()) {
            if (blocks.group(1).equals("CERTIFICATE")) {
                certificates.append(blocks.group()).append('\n');
            }
        }
        if (certificates.isEmpty()) {
            throw new TlsException(what + " " + file + " cannot be used: it contains no PEM certificate");
        }
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(certificates.toString().getBytes(StandardCharsets.US_ASCII)))
                    .stream()
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (CertificateException e) {
            throw new TlsException(what + " " + file + " cannot be used: it is not an X.509 certificate", e);
        }
    }

    /** The private key of a file. */
    static PrivateKey key(Path file) {
        Matcher blocks = BLOCK.matcher(read("the key", file));
        while (blocks.find()) {
            switch (blocks.group(1)) {
                case "PRIVATE KEY":
                    return parse(file, blocks.group(2));
                case "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
                    throw new TlsException("the key " + file + " is an " + blocks.group(1)
                            + "; expected a plain PKCS#8 key: convert it with openssl pkcs8 -topk8 -nocrypt -in " + file
                            + " -out key.pem");
                default:
            }
        }
        throw new TlsException("the key " + file + " cannot be used: it contains no PEM key (BEGIN PRIVATE KEY)");
    }

    private static PrivateKey parse(Path file, String base64) {
        byte[] bytes = new byte[0];
        try {
            bytes = Base64.getMimeDecoder().decode(base64);
            PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(bytes);
            for (String algorithm : ALGORITHMS) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(spec);
                } catch (InvalidKeySpecException e) {
                    continue;
                }
            }
        } catch (NoSuchAlgorithmException | IllegalArgumentException e) {
            // The decoder's message may contain a byte of the key.
            throw new TlsException("the key " + file + " cannot be read as PKCS#8");
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
        throw new TlsException("the key " + file + " is of none of the types " + ALGORITHMS);
    }

    private static String read(String what, Path file) {
        try {
            return new String(RegularFile.read(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            String why = e instanceof NoSuchFileException ? "it does not exist" : RegularFile.reason(e);
            throw new TlsException(what + " " + file + " cannot be read: " + why, e);
        }
    }
}
