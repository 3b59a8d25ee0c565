package dev.stoker.storage.hadoop;

import dev.stoker.storage.PartSink;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Parts;
import dev.stoker.storage.retry.SlowReadGuard;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.AWSCredentialProviderList;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/**
 * Reads from S3 with its own requests. A request has only the headers of a ranged GET and a signature. It is sent by
 * the same kind of HTTP client that S3A uses, with the settings of S3A. S3A and its client do more work for every
 * request, which costs several milliseconds of processor time in a newly started JVM. If the answer does not contain
 * the bytes, S3A repeats the request and interprets the error. Thread-safe.
 */
final class SignedGets implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(SignedGets.class);

    /** Kinds of server-side encryption that do not affect a reader. */
    private static final Set<String> TRANSPARENT = Set.of("", "AES256", "SSE-S3", "SSE-KMS", "DSSE-KMS");
    /** Settings that require requests which only S3A can build. */
    private static final Set<String> FOREIGN = Set.of(
            "fs.s3a.requester.pays.enabled",
            "fs.s3a.custom.signers",
            "fs.s3a.signing-algorithm",
            "fs.s3a.s3.signing-algorithm",
            "fs.s3a.http.signer.enabled",
            "fs.s3a.accesspoint.arn",
            "fs.s3a.delegation.token.binding",
            "fs.s3a.s3.client.factory.impl");
    /** Number of consecutive refusals after which S3A handles all requests. */
    private static final int MOST_REFUSALS = 3;

    private static final int THROTTLED = 429;
    private static final int SERVER_ERROR = 500;

    private final ObjectPaths paths;
    private final SdkHttpClient http;
    private final AWSCredentialProviderList credentials;
    /** URI of the bucket, with a slash at its end. */
    private final URI bucket;

    private final String region;
    private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
    private final AtomicInteger refusals = new AtomicInteger();

    private SignedGets(
            ObjectPaths paths, SdkHttpClient http, AWSCredentialProviderList credentials, URI bucket, String region) {
        this.paths = paths;
        this.http = http;
        this.credentials = credentials;
        this.bucket = bucket;
        this.region = region;
    }

    /** Returns signed reads for a connection; empty if only S3A can build its requests. */
    static Optional<SignedGets> of(HadoopObjectStore.Connection connection) {
        Configuration conf = connection.configuration();
        if (!(connection.fileSystem() instanceof S3AFileSystem s3a) || !isPlain(conf, s3a.getBucket())) {
            return Optional.empty();
        }
        try {
            return of(connection, conf, s3a);
        } catch (IOException | RuntimeException | LinkageError e) {
            // A cluster's Hadoop may have other classes.
            LOG.debug("{} is read through S3A alone", connection.paths(), e);
            return Optional.empty();
        }
    }

    private static Optional<SignedGets> of(
            HadoopObjectStore.Connection connection, Configuration conf, S3AFileSystem s3a) throws IOException {
        S3Client client = s3a.getS3AInternals().getAmazonS3Client("where the bucket is");
        String probe = "x";
        String url = client.utilities()
                .getUrl(get -> get.bucket(s3a.getBucket()).key(probe))
                .toString();
        if (!url.endsWith("/" + probe)) {
            return Optional.empty();
        }
        String region = client.serviceClientConfiguration().region().id();
        SdkHttpClient http = AWSClientConfig.createHttpClientBuilder(conf)
                .proxyConfiguration(AWSClientConfig.createProxyConfiguration(conf, s3a.getBucket()))
                .build();
        return Optional.of(new SignedGets(
                connection.paths(),
                http,
                s3a.getS3AInternals().shareCredentials("reads"),
                URI.create(url.substring(0, url.length() - probe.length())),
                region));
    }

    /** Returns whether a bucket is read without special settings. */
    static boolean isPlain(Configuration conf, String bucket) {
        String encryption = conf.getTrimmed(
                "fs.s3a.encryption.algorithm", conf.getTrimmed("fs.s3a.server-side-encryption-algorithm", ""));
        return TRANSPARENT.contains(encryption.toUpperCase(Locale.ROOT))
                && FOREIGN.stream().allMatch(key -> isUnset(conf, key))
                && conf.getTrimmed("fs.s3a.audit.execution.interceptors", "").equals(S3Requests.class.getName())
                && !bucket.endsWith("--x-s3");
    }

    private static boolean isUnset(Configuration conf, String key) {
        String value = conf.getTrimmed(key, "");
        String[] sources = conf.getPropertySources(key);
        boolean isDefault =
                sources != null && sources.length > 0 && sources[sources.length - 1].endsWith("-default.xml");
        return value.isEmpty() || value.equals("false") || isDefault;
    }

    /**
     * Passes bytes from the offset on to the sink: at most the requested number, up to the end of the object.
     *
     * @return false if the store has sent another answer, and S3A should repeat the request
     * @throws IOException if the failure may be transient
     */
    boolean read(String name, long offset, int length, PartSink sink, SlowReadGuard guard) throws IOException {
        if (refusals.get() >= MOST_REFUSALS) {
            return false;
        }
        String range = "bytes=" + offset + "-" + (offset + length - 1);
        HttpExecuteResponse reply;
        try {
            Optional<SdkHttpRequest> request = sign(name, range);
            if (request.isEmpty()) {
                return false;
            }
            CallScope.current().countRequest();
            reply = http.prepareRequest(
                            HttpExecuteRequest.builder().request(request.get()).build())
                    .call();
        } catch (SdkException e) {
            LOG.debug("{} can only be read through S3A", name, e);
            return false;
        }
        AbortableInputStream body = reply.responseBody().orElseGet(AbortableInputStream::createEmpty);
        boolean whole = false;
        try {
            if (!isWanted(reply.httpResponse(), range)) {
                return false;
            }
            whole = Parts.copy(body, offset, length, sink, guard) == length;
            refusals.set(0);
            return true;
        } finally {
            if (!whole) {
                body.abort();
            }
            body.close();
        }
    }

    /** Counts a refused read that S3A has then read. */
    void countRefusal() {
        refusals.incrementAndGet();
    }

    private Optional<SdkHttpRequest> sign(String name, String range) {
        AwsCredentials identity = credentials.resolveCredentials();
        if (identity == null || identity.accessKeyId() == null) {
            return Optional.empty();
        }
        SdkHttpRequest plain = SdkHttpRequest.builder()
                .method(SdkHttpMethod.GET)
                .uri(bucket)
                .encodedPath(bucket.getRawPath() + SdkHttpUtils.urlEncodeIgnoreSlashes(paths.key(name)))
                .putHeader("Range", range)
                .putHeader("User-Agent", "stoker")
                .build();
        return Optional.of(signer.sign(signed -> signed.identity(identity)
                        .request(plain)
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
                        .putProperty(AwsV4HttpSigner.DOUBLE_URL_ENCODE, false)
                        .putProperty(AwsV4HttpSigner.NORMALIZE_PATH, false))
                .request());
    }

    /** Returns whether the reply contains the requested bytes. */
    private boolean isWanted(SdkHttpResponse reply, String range) throws BrokenReadException {
        int status = reply.statusCode();
        if (status >= SERVER_ERROR || status == THROTTLED) {
            throw new BrokenReadException("HTTP " + status);
        }
        if (!reply.isSuccessful()) {
            return false;
        }
        String wrong = S3Requests.compare(range, reply);
        if (wrong != null) {
            throw new BrokenReadException("requested " + range + ", but " + wrong);
        }
        return true;
    }

    @Override
    public void close() {
        http.close();
        credentials.close();
    }
}
