package dev.stoker.server.security;

import dev.stoker.storage.PrivateFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
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

/** Reads certificates and keys from PEM text, with the JDK's own parsers. */
final class PemFile {
    private static final int MAX_BYTES = 1 << 20;
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA");

    private PemFile() {}

    /** All certificates of a file, in its order; at least one. */
    static List<X509Certificate> certificates(Path file) throws AccessException {
        String text = read("certificate file", file);
        Matcher blocks = BLOCK.matcher(text);
        StringBuilder certificates = new StringBuilder();
        while (blocks.find()) {
            if (blocks.group(1).equals("CERTIFICATE")) {
                certificates.append(blocks.group()).append('\n');
            }
        }
        if (certificates.isEmpty()) {
            throw new AccessException("certificate file " + file + " contains no PEM certificate (BEGIN CERTIFICATE)");
        }
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(certificates.toString().getBytes(StandardCharsets.US_ASCII)))
                    .stream()
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (CertificateException e) {
            throw new AccessException("certificate file " + file + " cannot be read as X.509: " + e.getMessage(), e);
        }
    }

    /** The private key of a file. */
    static PrivateKey key(Path file) throws AccessException {
        Matcher blocks = BLOCK.matcher(read("key file", file));
        while (blocks.find()) {
            switch (blocks.group(1)) {
                case "PRIVATE KEY":
                    return parse(file, blocks.group(2));
                case "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
                    throw new AccessException("key file " + file + " holds an " + blocks.group(1)
                            + "; expected a plain PKCS#8 key: convert it with openssl pkcs8 -topk8 -nocrypt -in " + file
                            + " -out key.pem");
                default:
            }
        }
        throw new AccessException("key file " + file + " contains no PEM key (BEGIN PRIVATE KEY)");
    }

    private static PrivateKey parse(Path file, String base64) throws AccessException {
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
            throw new AccessException("key file " + file + " cannot be read as PKCS#8", e);
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
        throw new AccessException("key file " + file + " contains a key of none of the types " + ALGORITHMS);
    }

    private static String read(String what, Path file) throws AccessException {
        try {
            return new String(PrivateFiles.readRegular(file, MAX_BYTES), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new AccessException(
                    what + " " + file + " cannot be read on this machine ("
                            + AccessException.reason(e)
                            + "): put it on every feeder machine, readable for the user that the feeder runs as",
                    e);
        }
    }

    /** Whether a key is that of a certificate. */
    static boolean fit(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        String algorithm = switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> key.getAlgorithm();
        };
        if (!certificate.getPublicKey().getAlgorithm().equals(key.getAlgorithm())) {
            return false;
        }
        Signature signature = Signature.getInstance(algorithm);
        byte[] probe = "stoker".getBytes(StandardCharsets.US_ASCII);
        signature.initSign(key);
        signature.update(probe);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(probe);
        return signature.verify(signed);
    }
}
