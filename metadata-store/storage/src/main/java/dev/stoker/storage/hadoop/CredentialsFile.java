package dev.stoker.storage.hadoop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.s3a.auth.NoAwsCredentialsException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/**
 * Reads credentials from the file that AWS tools share ({@code AWS_SHARED_CREDENTIALS_FILE}, or {@code
 * ~/.aws/credentials}; profile {@code AWS_PROFILE}, or {@code default}). Credentials are renewed by replacing the file:
 * this class checks the file before every request and reads it if it has changed. Thread-safe. Hadoop instantiates it
 * by name.
 */
public final class CredentialsFile implements AwsCredentialsProvider {

    private record Version(long modifiedMs, long length, Object fileKey) {}

    private final Path file;
    private final String profile;
    private @Nullable Version version;
    private @Nullable AwsCredentials credentials;

    public CredentialsFile() {
        this(locate(), System.getenv().getOrDefault("AWS_PROFILE", "default"));
    }

    CredentialsFile(Path file, String profile) {
        this.file = file;
        this.profile = profile;
    }

    private static Path locate() {
        String set = System.getProperty("aws.sharedCredentialsFile", System.getenv("AWS_SHARED_CREDENTIALS_FILE"));
        return set == null || set.isBlank()
                ? Path.of(System.getProperty("user.home"), ".aws", "credentials")
                : Path.of(set);
    }

    @Override
    public synchronized AwsCredentials resolveCredentials() {
        try {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            Version found =
                    new Version(attributes.lastModifiedTime().toMillis(), attributes.size(), attributes.fileKey());
            if (!found.equals(version)) {
                AwsCredentials read = parse(Files.readAllLines(file));
                // A file that is being written may lack them. The previous credentials remain valid a little longer.
                if (read != null) {
                    credentials = read;
                    version = found;
                }
            }
        } catch (IOException e) {
            if (credentials == null) {
                throw new NoAwsCredentialsException(toString(), "cannot be read", e);
            }
        }
        if (credentials == null) {
            throw new NoAwsCredentialsException(toString(), "it has no credentials for profile " + profile, null);
        }
        return credentials;
    }

    private @Nullable AwsCredentials parse(List<String> lines) {
        Map<String, String> values = new HashMap<>();
        boolean wanted = false;
        for (String line : lines) {
            String text = line.strip();
            int equals = text.indexOf('=');
            if (text.startsWith("[") && text.endsWith("]")) {
                wanted = text.substring(1, text.length() - 1).strip().equals(profile);
            } else if (wanted && equals > 0 && !text.startsWith("#")) {
                values.put(
                        text.substring(0, equals).strip(),
                        text.substring(equals + 1).strip());
            }
        }
        String key = values.get("aws_access_key_id");
        String secret = values.get("aws_secret_access_key");
        String token = values.get("aws_session_token");
        if (key == null || key.isEmpty() || secret == null || secret.isEmpty()) {
            return null;
        }
        return token == null || token.isEmpty()
                ? AwsBasicCredentials.create(key, secret)
                : AwsSessionCredentials.create(key, secret, token);
    }

    /** Never contains the credentials. */
    @Override
    public String toString() {
        return "the credentials file " + file;
    }
}
