package dev.stoker.server.security;

import java.security.Security;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads how many bytes may be encrypted with one key. The JDK's security property {@code jdk.tls.keyLimits} says so for
 * TLS 1.3, where the JDK then changes the keys. TLS 1.2 cannot change them, so the connection has to be replaced.
 */
public final class KeyLimit {
    /** The JDK's default, 128 GiB. AES-GCM is safe up to 2^24.5 full records, which is almost 400 GB. */
    static final long DEFAULT_BYTES = 1L << 37;

    private static final Pattern AES = Pattern.compile(
            "(?:^|,)\\s*AES/GCM/NOPADDING\\s+KEYUPDATE\\s+(?:2\\^(?<power>\\d{1,2})|(?<number>\\d{1,18}))\\s*(?:,|$)");
    private static final int GREATEST_POWER = 62;

    private KeyLimit() {}

    /** Returns the limit for AES-GCM. */
    public static long bytes() {
        return of(Security.getProperty("jdk.tls.keyLimits"));
    }

    static long of(@Nullable String property) {
        if (property == null) {
            return DEFAULT_BYTES;
        }
        Matcher matcher = AES.matcher(property.toUpperCase(Locale.ROOT));
        if (matcher.find()) {
            String power = matcher.group("power");
            return power == null
                    ? Math.max(1, Long.parseLong(matcher.group("number")))
                    : 1L << Math.min(GREATEST_POWER, Integer.parseInt(power));
        }
        return DEFAULT_BYTES;
    }
}
