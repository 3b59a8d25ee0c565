package dev.stoker.transport;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
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

/**
 * Reads certificates and keys from PEM text (RFC 7468) with the JDK's own parsers. The JDK has no reader of PEM files,
 * and this class is a hundredth of the libraries that have one.
 */
public final class Pem {
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

    private Pem() {}

    /**
     * Returns all certificates, in their order; at least one.
     *
     * @throws PemException if there is none, or if one is not an X.509 certificate
     */
    public static List<X509Certificate> certificates(byte[] pem) throws PemException {
        Matcher blocks = blocks(pem);
        StringBuilder certificates = new StringBuilder();
        while (blocks.find()) {
            if (blocks.group(1).equals("CERTIFICATE")) {
                certificates.append(blocks.group()).append('\n');
            }
        }
        if (certificates.isEmpty()) {
            throw new PemException("it contains no PEM certificate (BEGIN CERTIFICATE)");
        }
        try {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(certificates.toString().getBytes(StandardCharsets.US_ASCII)))
                    .stream()
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (CertificateException e) {
            throw new PemException("it is not an X.509 certificate", e);
        }
    }

    /**
     * Returns the first private key.
     *
     * @throws PemException if there is none, or if it is not a plain PKCS#8 key of a known type
     */
    public static PrivateKey key(byte[] pem) throws PemException {
        Matcher blocks = blocks(pem);
        while (blocks.find()) {
            switch (blocks.group(1)) {
                case "PRIVATE KEY" -> {
                    return parse(blocks.group(2));
                }
                case "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY" ->
                    throw new PemException("it contains an " + blocks.group(1)
                            + "; expected a plain PKCS#8 key: convert it with openssl pkcs8 -topk8 -nocrypt"
                            + " -in FILE -out key.pem");
                default -> {}
            }
        }
        throw new PemException("it contains no PEM key (BEGIN PRIVATE KEY)");
    }

    private static PrivateKey parse(String base64) throws PemException {
        byte[] bytes = new byte[0];
        try {
            bytes = Base64.getMimeDecoder().decode(base64);
            PKCS8EncodedKeySpec spec = new PKCS8EncodedKeySpec(bytes);
            for (String algorithm : ALGORITHMS) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(spec);
                } catch (InvalidKeySpecException e) {
                    // The key may be one of another algorithm.
                }
            }
        } catch (NoSuchAlgorithmException | IllegalArgumentException e) {
            // Without the cause: the decoder's message may contain a byte of the key.
            throw new PemException("its key cannot be read as PKCS#8");
        } finally {
            Arrays.fill(bytes, (byte) 0);
        }
        throw new PemException("its key is of none of the types " + ALGORITHMS);
    }

    private static Matcher blocks(byte[] pem) {
        return BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
    }

    /** Returns whether a private key belongs to a certificate. */
    public static boolean matches(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
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
}
