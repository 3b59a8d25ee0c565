package dev.stoker.storage.cloud;

import com.azure.core.credential.AccessToken;
import com.azure.core.credential.AzureSasCredential;
import com.azure.core.credential.TokenCredential;
import com.azure.core.credential.TokenRequestContext;
import com.azure.core.http.HttpClient;
import com.azure.core.http.policy.AzureSasCredentialPolicy;
import com.azure.core.http.policy.HttpPipelinePolicy;
import com.azure.core.util.Configuration;
import com.azure.core.util.ConfigurationBuilder;
import com.azure.identity.AzureCliCredentialBuilder;
import com.azure.identity.ChainedTokenCredentialBuilder;
import com.azure.identity.DefaultAzureCredentialBuilder;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.policy.StorageBearerTokenChallengeAuthorizationPolicy;
import com.azure.storage.common.policy.StorageSharedKeyCredentialPolicy;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Finds credentials in the variables that the Python package reads, too, and in the same order. Without an account key
 * or a token for shared access, the identity of the process is found with the first request. Thread-safe.
 */
final class AzureAccess implements TokenCredential {

    static final String KEY = "AZURE_STORAGE_ACCOUNT_KEY";
    static final String SHARED_ACCESS = "AZURE_STORAGE_SAS_TOKEN";

    private static final String SCOPE = "https://storage.azure.com/.default";
    private static final Pattern EXPIRY = Pattern.compile("(?:^|[?&])se=([^&]+)");

    private final HttpClient http;
    private @Nullable TokenCredential identity;

    private AzureAccess(HttpClient http) {
        this.http = http;
    }

    /**
     * Contains the credentials of requests.
     *
     * @param name what they are, for messages
     * @param policy adds them; null if there are none
     */
    record Found(String name, @Nullable HttpPipelinePolicy policy) {}

    static Found find(AzureAddress address, CloudSettings settings, HttpClient http) {
        String key = settings.get(KEY)
                .or(() -> settings.get("AZURE_STORAGE_ACCESS_KEY"))
                .orElse(AzureAddress.isEmulated(settings) ? AzureAddress.EMULATED_KEY : "");
        boolean isService = settings.get("AZURE_CLIENT_ID").isPresent()
                && (settings.get("AZURE_CLIENT_SECRET").isPresent()
                        || settings.get("AZURE_FEDERATED_TOKEN_FILE").isPresent());
        String token = settings.get(SHARED_ACCESS).orElse("");
        if (settings.isSet("AZURE_SKIP_SIGNATURE")) {
            return new Found("requests without credentials (AZURE_SKIP_SIGNATURE)", null);
        }
        if (!key.isEmpty()) {
            return new Found(
                    KEY + " as a key of the account " + address.account(),
                    new StorageSharedKeyCredentialPolicy(
                            new StorageSharedKeyCredential(address.account(), checked(key))));
        }
        if (!token.isEmpty() && !isService) {
            String query = token.startsWith("?") ? token.substring(1) : token;
            return new Found(
                    SHARED_ACCESS + expiry(token), new AzureSasCredentialPolicy(new AzureSasCredential(query), false));
        }
        if (!address.endpoint().startsWith("https://")) {
            throw new IllegalArgumentException("the identity of this process cannot be sent to " + address.endpoint()
                    + ", because the connection is not encrypted: use https://, or set " + KEY + " or "
                    + SHARED_ACCESS);
        }
        return new Found(
                "the identity of this process",
                new StorageBearerTokenChallengeAuthorizationPolicy(new AzureAccess(http), SCOPE));
    }

    /** Returns the time after which a token is refused, as the token states it. */
    private static String expiry(String token) {
        Matcher found = EXPIRY.matcher(token);
        return found.find()
                ? ", which is valid until " + URLDecoder.decode(found.group(1), StandardCharsets.UTF_8)
                : "";
    }

    private static String checked(String key) {
        try {
            if (Base64.getDecoder().decode(key).length > 0) {
                return key;
            }
        } catch (IllegalArgumentException e) {
            // The message must not contain the key.
        }
        throw new IllegalArgumentException(
                KEY + " is not a key of a storage account; copy one from `az storage account keys list`");
    }

    private synchronized TokenCredential identity() {
        TokenCredential known = identity;
        if (known == null) {
            // They repeat their few requests themselves, in a different way for each kind of identity.
            known = new ChainedTokenCredentialBuilder()
                    .addLast(new DefaultAzureCredentialBuilder()
                            .configuration(ofMachines())
                            .httpClient(http)
                            .build())
                    .addLast(new AzureCliCredentialBuilder().httpClient(http).build())
                    .build();
            identity = known;
        }
        return known;
    }

    /** Leaves out the logins of development tools, which need native libraries. */
    private static Configuration ofMachines() {
        Map<String, String> variables = new HashMap<>(System.getenv());
        variables.put("AZURE_TOKEN_CREDENTIALS", "prod");
        return new ConfigurationBuilder(path -> Map.of(), path -> Map.of(), path -> variables).build();
    }

    @Override
    public Mono<AccessToken> getToken(TokenRequestContext request) {
        return Mono.defer(() -> identity().getToken(request));
    }

    @Override
    public AccessToken getTokenSync(TokenRequestContext request) {
        return identity().getTokenSync(request);
    }
}
