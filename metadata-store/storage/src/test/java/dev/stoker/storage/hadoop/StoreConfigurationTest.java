package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreConfigurationTest {

    private static final URI BUCKET = URI.create("s3a://photos/x");

    @TempDir
    private Path directory;

    private Configuration load(URI location, Map<String, String> settings) throws IOException {
        HadoopSettings.write(directory, settings);
        return StoreConfiguration.load(location, Map.of("HADOOP_CONF_DIR", directory.toString()));
    }

    @Test
    void whatTheUserHasSetWins() throws IOException {
        Configuration conf = load(BUCKET, Map.of("fs.s3a.retry.limit", "99", "fs.s3a.multipart.size", "8M"));

        assertThat(conf.get("fs.s3a.retry.limit")).isEqualTo("99");
        assertThat(conf.get("fs.s3a.multipart.size")).isEqualTo("8M");
        assertThat(conf.get("fs.s3a.attempts.maximum")).isEqualTo("0");
        assertThat(conf.get("fs.s3a.input.stream.type")).isEqualTo("classic");
    }

    @Test
    void whatIsSetByHadoopItselfDoesNot() throws IOException {
        assertThat(new Configuration().get("fs.s3a.retry.limit")).isNotNull().isNotEqualTo("6");

        assertThat(load(BUCKET, Map.of()).get("fs.s3a.retry.limit")).isEqualTo("6");
    }

    @Test
    void credentialProvidersOfTheUserStayAlone() throws IOException {
        String provider = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider";

        assertThat(load(BUCKET, Map.of("fs.s3a.aws.credentials.provider", provider))
                        .get("fs.s3a.aws.credentials.provider"))
                .isEqualTo(provider);
        assertThat(load(BUCKET, Map.of()).get("fs.s3a.aws.credentials.provider"))
                .contains("EnvironmentVariableCredentialsProvider")
                .contains(CredentialsFile.class.getName());
    }

    @Test
    void otherServersHaveBucketsInThePathAndOneRegion() {
        Configuration conf = StoreConfiguration.load(BUCKET, Map.of("AWS_ENDPOINT_URL", "http://minio:9000"));

        assertThat(conf.get("fs.s3a.endpoint")).isEqualTo("http://minio:9000");
        assertThat(conf.get("fs.s3a.path.style.access")).isEqualTo("true");
        assertThat(conf.get("fs.s3a.endpoint.region")).isEqualTo("us-east-1");

        Configuration elsewhere =
                StoreConfiguration.load(BUCKET, Map.of("AWS_ENDPOINT_URL", "http://minio:9000", "AWS_REGION", "here"));
        assertThat(elsewhere.get("fs.s3a.endpoint.region")).isEqualTo("here");
    }

    @Test
    void anEndpointOfOneBucketIsAnotherServerToo() throws IOException {
        Map<String, String> settings = Map.of("fs.s3a.bucket.photos.endpoint", "http://minio:9000");

        assertThat(load(BUCKET, settings).get("fs.s3a.path.style.access")).isEqualTo("true");
        assertThat(load(URI.create("s3a://other/x"), settings).getBoolean("fs.s3a.path.style.access", false))
                .isFalse();
    }

    @Test
    void givenSettingsReplaceThoseOfFilesAndOfStoker() throws IOException {
        HadoopSettings.write(directory, Map.of("fs.s3a.endpoint", "http://file"));

        Configuration conf = StoreConfiguration.load(
                BUCKET,
                Map.of("HADOOP_CONF_DIR", directory.toString(), "AWS_ENDPOINT_URL", "http://environment"),
                Map.of("fs.s3a.endpoint", "http://given", "fs.s3a.retry.limit", "1"));

        assertThat(conf.get("fs.s3a.endpoint")).isEqualTo("http://given");
        assertThat(conf.get("fs.s3a.retry.limit")).isEqualTo("1");
        assertThat(conf.get("fs.s3a.connection.timeout")).isEqualTo("20s");
    }

    @Test
    void s3IsAnotherNameOfS3a() throws IOException {
        try (HadoopObjectStore store = HadoopObjectStore.open("s3://photos/x")) {
            assertThat(store.describe("a")).isEqualTo("s3a://photos/x/a");
        }
    }
}
