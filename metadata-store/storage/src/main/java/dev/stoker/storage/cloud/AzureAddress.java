package dev.stoker.storage.cloud;

import java.net.URI;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names a container of Azure Blob Storage.
 *
 * @param endpoint address of the account, without a slash at its end
 */
record AzureAddress(String endpoint, String account, String container) {

    /** Account and key that every emulator knows. */
    private static final String EMULATED_ACCOUNT = "devstoreaccount1";

    static final String EMULATED_KEY =
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    private static final String EMULATOR = "http://127.0.0.1:10000";
    private static final Pattern HOST = Pattern.compile("([a-z0-9]+)\\.(?:dfs|blob)\\.(.+)");

    /** Reads {@code az://CONTAINER/…} or {@code abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/…}. */
    static AzureAddress of(URI location, CloudSettings settings) {
        String authority = location.getRawAuthority();
        int at = authority.indexOf('@');
        String container = at < 0 ? authority : authority.substring(0, at);
        Matcher host = HOST.matcher(authority.substring(at + 1).toLowerCase(Locale.ROOT));
        if (container.isEmpty() || container.contains(":") || container.contains(".") || (at >= 0 && !host.matches())) {
            throw new IllegalArgumentException(location.getScheme() + "://…" + location.getPath()
                    + ": expected az://CONTAINER/PATH or abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH");
        }
        boolean isEmulated = isEmulated(settings);
        String account = at >= 0
                ? host.group(1)
                : settings.get("AZURE_STORAGE_ACCOUNT_NAME").orElse(isEmulated ? EMULATED_ACCOUNT : "");
        if (account.isEmpty()) {
            throw new IllegalArgumentException(location
                    + ": the storage account is missing; set AZURE_STORAGE_ACCOUNT_NAME, or write abfss://" + container
                    + "@ACCOUNT.dfs.core.windows.net" + location.getPath());
        }
        String endpoint = isEmulated
                ? settings.get("AZURITE_BLOB_STORAGE_URL").orElse(EMULATOR) + "/" + account
                : settings.get("AZURE_STORAGE_ENDPOINT")
                        .or(() -> settings.get("AZURE_ENDPOINT"))
                        .orElse("https://" + account + ".blob." + (at < 0 ? "core.windows.net" : host.group(2)));
        return new AzureAddress(endpoint.replaceFirst("/+$", ""), account, container);
    }

    /** Returns whether the server is an emulator at its usual address. */
    static boolean isEmulated(CloudSettings settings) {
        return settings.isSet("AZURE_STORAGE_USE_EMULATOR");
    }

    String containerUrl() {
        return endpoint + "/" + container;
    }
}
