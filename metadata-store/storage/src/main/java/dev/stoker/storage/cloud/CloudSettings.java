package dev.stoker.storage.cloud;

import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the variables that the tools of the clouds use.
 *
 * @param environment variables
 * @param retryTime time limit for the retries of a failing call
 * @param firstContactTime the same before the first answer of the store
 */
record CloudSettings(Map<String, String> environment, Duration retryTime, Duration firstContactTime) {

    /** Names of the settings for Hadoop's file systems, which a caller may give for any store; in whole seconds. */
    static final String RETRY_TIME = "fs.stoker.retry.time";

    static final String FIRST_CONTACT_TIME = "fs.stoker.retry.time.first";

    static CloudSettings of(Map<String, String> environment, Map<String, String> settings) {
        return new CloudSettings(
                environment,
                duration(settings.get(RETRY_TIME), Duration.ofSeconds(120)),
                duration(settings.get(FIRST_CONTACT_TIME), Duration.ofSeconds(20)));
    }

    private static Duration duration(@Nullable String set, Duration otherwise) {
        return set == null || !set.matches("\\d+s") ? otherwise : Duration.parse("PT" + set);
    }

    /** Returns the value of a variable. The property {@code stoker.VARIABLE} of the JVM takes precedence. */
    Optional<String> get(String variable) {
        return Optional.ofNullable(System.getProperty("stoker." + variable, environment.get(variable)))
                .map(String::strip)
                .filter(value -> !value.isEmpty());
    }

    /** Returns whether a variable is set to a word for yes, by the rules of the Python package. */
    boolean isSet(String variable) {
        return get(variable)
                .filter(value -> List.of("1", "true", "on", "yes", "y").contains(value.toLowerCase(Locale.ROOT)))
                .isPresent();
    }

    CloudObjectStore open(String location) throws IOException {
        URI uri = URI.create(location).normalize();
        if (uri.getRawAuthority() == null) {
            throw new IllegalArgumentException(
                    location + ": the name of a bucket or container is missing after " + uri.getScheme() + "://");
        }
        Bucket bucket = uri.getScheme().equalsIgnoreCase("gs")
                ? GoogleBucket.open(uri.getRawAuthority(), this)
                : AzureBucket.open(AzureAddress.of(uri, this), this, AzureBucket.PAGE_SIZE);
        return open(uri, bucket);
    }

    CloudObjectStore open(URI uri, Bucket bucket) {
        return new CloudObjectStore(
                bucket, CloudLocation.of(uri), new Retries(bucket.failures(), retryTime, firstContactTime));
    }
}
