package dev.stoker.storage.retry;

import java.util.List;
import java.util.Map;

/** Names the proxy through which requests to a store go, for the message of a store that does not answer. */
final class ProxyAdvice {
    private static final List<String> VARIABLES = List.of("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY");
    /** The clients of these stores read the variables. */
    private static final List<String> SCHEMES = List.of("s3a:", "s3:", "gs:", "abfss:", "abfs:", "az:", "https:");

    private ProxyAdvice() {}

    /**
     * Returns the beginning of a clause, or nothing.
     *
     * @param where location of the object
     * @param environment variables of the process
     */
    static String of(String where, Map<String, String> environment) {
        if (SCHEMES.stream().noneMatch(where::startsWith)) {
            return "";
        }
        for (String variable : VARIABLES) {
            String proxy = environment.getOrDefault(variable, "");
            if (!proxy.isBlank()) {
                return "; requests go through the proxy " + withoutUser(proxy) + " of the variable " + variable
                        + ": check that it works, unset the variable, or name the store's host in no_proxy";
            }
        }
        return "";
    }

    /** A URL of a proxy can contain a password. */
    private static String withoutUser(String proxy) {
        int user = proxy.lastIndexOf('@');
        int scheme = proxy.indexOf("://");
        String beginning = scheme < 0 ? "" : proxy.substring(0, scheme + 3);
        return user < 0 ? proxy : beginning + proxy.substring(user + 1);
    }
}
