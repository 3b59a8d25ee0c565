package dev.stoker.storage.hadoop;

import dev.stoker.storage.retry.SlowReadGuard;
import java.io.File;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Builds the Hadoop configuration from the user's settings ({@code core-site.xml} and {@code hdfs-site.xml} on the
 * class path or in {@code HADOOP_CONF_DIR}) and the variables of AWS tools. Values that are not set get defaults for a
 * feeder: failures are detected within seconds and retried in one place, and a read is one request.
 */
final class StoreConfiguration {

    /** Time limit for the retries of a failing call. */
    static final String RETRY_TIME = "fs.stoker.retry.time";
    /** Time limit for the retries before the first answer of the store. */
    static final String FIRST_CONTACT_TIME = "fs.stoker.retry.time.first";
    /**
     * Time over which the rate of a read is measured. A read with less than {@value #SLOW_READ_RATE} bytes a second is
     * started again.
     */
    static final String SLOW_READ_TIME = "fs.stoker.slow.read.time";

    static final String SLOW_READ_RATE = "fs.stoker.slow.read.rate";
    /**
     * Schemes, comma-separated, whose rename is atomic and never replaces a file; in addition to {@code hdfs}, and
     * {@code viewfs} over it.
     */
    static final String RENAME_SCHEMES = "fs.stoker.atomic.rename.schemes";
    /** A directory that replaces {@code HADOOP_CONF_DIR}. */
    static final String DIRECTORY_PROPERTY = "stoker.hadoop.conf";

    private static final String PROVIDERS = "fs.s3a.aws.credentials.provider";

    private static final Map<String, String> DEFAULTS = Map.ofEntries(
            // Retries of the client library would multiply with S3A's own.
            Map.entry("fs.s3a.attempts.maximum", "0"),
            Map.entry("fs.s3a.retry.limit", "6"),
            Map.entry("fs.s3a.retry.interval", "200ms"),
            Map.entry("fs.s3a.retry.throttle.limit", "6"),
            Map.entry("fs.s3a.retry.throttle.interval", "200ms"),
            Map.entry("fs.s3a.connection.establish.timeout", "15s"),
            Map.entry("fs.s3a.connection.timeout", "20s"),
            Map.entry("fs.s3a.connection.request.timeout", "30s"),
            // The default stream requests the length first, and reads ahead.
            Map.entry("fs.s3a.input.stream.type", "classic"),
            Map.entry("fs.s3a.audit.execution.interceptors", "dev.stoker.storage.hadoop.S3Requests"),
            // No probes before a write or a delete, no marker objects for directories.
            Map.entry("fs.s3a.performance.flags", "create,delete,mkdir"),
            // A chunk is one PUT. Larger objects keep at most two parts in memory. No data goes through a disk.
            Map.entry("fs.s3a.multipart.size", "32M"),
            Map.entry("fs.s3a.fast.upload.buffer", "array"),
            Map.entry("fs.s3a.fast.upload.active.blocks", "2"),
            // For a name node that does not answer. The default is 45 time-outs of 20 s.
            Map.entry("ipc.client.connect.timeout", "10000"),
            Map.entry("ipc.client.connect.max.retries.on.timeouts", "2"),
            Map.entry("ipc.client.connect.max.retries", "0"),
            // For a name node that restarts: a pause in ms and the number of retries, once for the connection and again
            // for the call, so 30 s in total. The caller of a write cannot start it again.
            Map.entry("dfs.client.retry.policy.enabled", "true"),
            Map.entry("dfs.client.retry.policy.spec", "1000,5"));

    private StoreConfiguration() {}

    static Configuration load(URI location) {
        return load(location, System.getenv());
    }

    static Configuration load(URI location, Map<String, String> environment) {
        return load(location, environment, Map.of());
    }

    /** @param settings values that take precedence over those in files */
    static Configuration load(URI location, Map<String, String> environment, Map<String, String> settings) {
        Configuration conf = new Configuration();
        conf.setClassLoader(StoreConfiguration.class.getClassLoader());
        addFiles(conf, environment);
        settings.forEach((name, value) -> conf.set(name, value, "settings"));
        for (Map.Entry<String, String> entry : DEFAULTS.entrySet()) {
            setIfUnset(conf, entry.getKey(), entry.getValue());
        }
        if (location.getScheme().equals("s3a")) {
            s3(conf, environment, location.getAuthority());
        }
        return conf;
    }

    private static void addFiles(Configuration conf, Map<String, String> environment) {
        String directory = System.getProperty(DIRECTORY_PROPERTY, environment.get("HADOOP_CONF_DIR"));
        if (directory == null && environment.get("HADOOP_HOME") != null) {
            directory = environment.get("HADOOP_HOME") + "/etc/hadoop";
        }
        if (directory == null) {
            return;
        }
        for (String name : new String[] {"core-site.xml", "hdfs-site.xml"}) {
            File file = new File(directory, name);
            if (file.isFile()) {
                conf.addResource(new Path(file.toURI()));
            }
        }
    }

    private static void s3(Configuration conf, Map<String, String> environment, String bucket) {
        String endpoint = environment.getOrDefault("AWS_ENDPOINT_URL_S3", environment.get("AWS_ENDPOINT_URL"));
        if (endpoint != null && !endpoint.isBlank()) {
            setIfUnset(conf, "fs.s3a.endpoint", endpoint);
        }
        String set = conf.get("fs.s3a.bucket." + bucket + ".endpoint", conf.get("fs.s3a.endpoint", ""));
        if (!set.isEmpty() && !set.contains("amazonaws.com")) {
            // Other servers have one region, usually with this name, and no DNS names for buckets.
            setIfUnset(conf, "fs.s3a.path.style.access", "true");
            String region = environment.getOrDefault("AWS_REGION", environment.get("AWS_DEFAULT_REGION"));
            setIfUnset(conf, "fs.s3a.endpoint.region", region == null || region.isBlank() ? "us-east-1" : region);
        }
        if (isUnset(conf, PROVIDERS)) {
            conf.set(
                    PROVIDERS,
                    String.join(
                            ",",
                            "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
                            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
                            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
                            CredentialsFile.class.getName(),
                            "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider"));
        }
    }

    private static void setIfUnset(Configuration conf, String key, String value) {
        if (isUnset(conf, key)) {
            conf.set(key, value, "stoker");
        }
    }

    private static boolean isUnset(Configuration conf, String key) {
        if (conf.get(key) == null) {
            return true;
        }
        String[] sources = conf.getPropertySources(key);
        return sources == null || sources.length == 0 || sources[sources.length - 1].endsWith("-default.xml");
    }

    static SlowReadGuard slowReads(Configuration conf) {
        return new SlowReadGuard(
                duration(conf, SLOW_READ_TIME, SlowReadGuard.DEFAULT.time()),
                conf.getLongBytes(SLOW_READ_RATE, SlowReadGuard.DEFAULT.bytesPerSecond()));
    }

    static Duration duration(Configuration conf, String key, Duration otherwise) {
        return Duration.ofMillis(
                conf.getTimeDuration(key, otherwise.toMillis(), TimeUnit.MILLISECONDS, TimeUnit.MILLISECONDS));
    }
}
