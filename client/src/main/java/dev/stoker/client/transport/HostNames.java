package dev.stoker.client.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Looks up host names in separate threads, so that a slow name server delays only the feeder with that name. For the
 * thread that owns the client's connections. The JVM caches results for {@code networkaddress.cache.ttl}.
 */
public final class HostNames {
    /** How long the receiving thread waits for a name: much less than the 500 ms of a failover. */
    private static final long WAIT_MS = 50;

    /** Looks up names. */
    public interface Lookup {
        InetAddress[] find(String host) throws UnknownHostException;
    }

    private final Lookup lookup;
    private final Map<String, CompletableFuture<InetAddress[]>> asked = new HashMap<>();
    private final Map<String, InetAddress[]> known = new HashMap<>();

    public HostNames(Lookup lookup) {
        this.lookup = lookup;
    }

    /**
     * Returns the addresses of a host. While a lookup is pending, returns the addresses of the previous one.
     *
     * @throws UnknownHostException if there is no such host
     * @throws IOException if the lookup is pending: ask again
     */
    InetAddress[] find(String host) throws IOException {
        CompletableFuture<InetAddress[]> answer = asked.computeIfAbsent(host, this::ask);
        InetAddress[] before = known.get(host);
        try {
            InetAddress[] found = answer.get(before == null ? WAIT_MS : 0, TimeUnit.MILLISECONDS);
            asked.remove(host);
            known.put(host, found);
            return found;
        } catch (TimeoutException e) {
            return stillKnown(before, new IOException("the name server has not answered yet for " + host));
        } catch (ExecutionException e) {
            asked.remove(host);
            return stillKnown(before, new UnknownHostException(host));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while looking " + host + " up", e);
        }
    }

    private static InetAddress[] stillKnown(InetAddress @Nullable [] before, IOException problem) throws IOException {
        return Optional.ofNullable(before).orElseThrow(() -> problem);
    }

    private CompletableFuture<InetAddress[]> ask(String host) {
        CompletableFuture<InetAddress[]> answer = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        answer.complete(lookup.find(host));
                    } catch (UnknownHostException | RuntimeException e) {
                        answer.completeExceptionally(e);
                    }
                },
                "stoker-resolve");
        thread.setDaemon(true);
        thread.start();
        return answer;
    }
}
