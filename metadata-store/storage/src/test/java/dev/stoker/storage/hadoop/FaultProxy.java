package dev.stoker.storage.hadoop;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * A proxy between an HTTP client and its server on this machine, which counts requests and bytes, and simulates faults
 * of networks and servers. One thread per connection. Random decisions follow from the seed and the order in which
 * requests arrive.
 *
 * <p>From a command line: {@link FaultProxyCommand}.
 */
public final class FaultProxy implements Closeable {

    /**
     * A request.
     *
     * @param method {@code GET}, …
     * @param target the path and query, as sent
     * @param range its header Range, or empty
     * @param authorization its header Authorization, or empty
     */
    public record Request(String method, String target, String range, String authorization) {

        /** Whether it asks for an object's bytes, and not for a listing. */
        public boolean isObjectGet() {
            return method.equals("GET") && !target.contains("?");
        }

        /** Whether it creates an object, at once or by completing its upload. */
        public boolean isCreate() {
            boolean completes = method.equals("POST") && target.contains("uploadId=");
            return completes || (method.equals("PUT") && !target.contains("uploadId="));
        }
    }

    private static final class Rule {
        final Predicate<Request> which;
        final Fault fault;
        final double rate;
        int left;

        Rule(Predicate<Request> which, Fault fault, double rate, int left) {
            this.which = which;
            this.fault = fault;
            this.rate = rate;
            this.left = left;
        }
    }

    private final ServerSocket server;
    private final InetSocketAddress upstream;
    private final Random random; // Guarded by this.
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final ConcurrentMap<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final List<Request> log = new CopyOnWriteArrayList<>();
    private final LongAdder bytesToClients = new LongAdder();
    private final LongAdder bytesFromClients = new LongAdder();
    private volatile Duration latency = Duration.ZERO;
    private volatile long bytesPerSecond = Long.MAX_VALUE;
    private long freeAtNs = System.nanoTime(); // When the line to the clients is free again; guarded by this.
    private volatile boolean logging;
    private volatile boolean closed;

    private FaultProxy(int port, InetSocketAddress upstream, long seed) throws IOException {
        this.server = new ServerSocket(port, 256, InetAddress.getLoopbackAddress());
        this.upstream = upstream;
        this.random = new Random(seed);
    }

    /** Starts one on a free port of the loopback interface. */
    public static FaultProxy start(URI upstream, long seed) throws IOException {
        return start(0, new InetSocketAddress(upstream.getHost(), upstream.getPort()), seed);
    }

    static FaultProxy start(int port, InetSocketAddress upstream, long seed) throws IOException {
        FaultProxy proxy = new FaultProxy(port, upstream, seed);
        Thread acceptor = new Thread(proxy::accept, "fault-proxy");
        acceptor.setDaemon(true);
        acceptor.start();
        return proxy;
    }

    /** Where clients connect to. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort());
    }

    /** Applies the fault to the next {@code times} matching requests. */
    public FaultProxy next(int times, Predicate<Request> which, Fault fault) {
        rules.add(new Rule(which, fault, 1, times));
        return this;
    }

    /** Each of these requests, at this rate (0 to 1). */
    public FaultProxy atRate(double rate, Predicate<Request> which, Fault fault) {
        rules.add(new Rule(which, fault, rate, Integer.MAX_VALUE));
        return this;
    }

    /** All of these requests. */
    public FaultProxy always(Predicate<Request> which, Fault fault) {
        return atRate(1, which, fault);
    }

    /** Delays every reply. */
    public FaultProxy latency(Duration added) {
        latency = added;
        return this;
    }

    /** Limits the bytes of bodies per second that pass to clients, for all clients together. */
    public FaultProxy bandwidth(long bytes) {
        bytesPerSecond = bytes;
        return this;
    }

    /** Removes all faults. */
    public void heal() {
        rules.clear();
    }

    /** Resets the counters. */
    public void resetCounts() {
        requests.clear();
        bytesToClients.reset();
        bytesFromClients.reset();
        log.clear();
        logging = true;
    }

    /** Requests since the last reset, by method; {@code LIST} is a GET with a query that reads no object. */
    public Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        requests.forEach((method, count) -> counts.put(method, count.sum()));
        return counts;
    }

    /** All requests since the last reset. */
    public long requests() {
        return requests.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** The requests since the first reset, in the order of their arrival. */
    public List<Request> log() {
        return List.copyOf(log);
    }

    /** Bytes of bodies that were sent to clients since the last reset. */
    public long bytesToClients() {
        return bytesToClients.sum();
    }

    /** Bytes of bodies that clients have sent since the last reset. */
    public long bytesFromClients() {
        return bytesFromClients.sum();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket client = server.accept();
                if (closed) {
                    // A client that connects while the server socket closes may still be accepted.
                    client.close();
                    return;
                }
                sockets.add(client);
                Thread thread = new Thread(new ProxyConnection(this, client), "fault-proxy-connection");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                if (!closed) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    Socket connectUpstream() throws IOException {
        Socket socket = new Socket(upstream.getAddress(), upstream.getPort());
        socket.setTcpNoDelay(true);
        sockets.add(socket);
        return socket;
    }

    void forget(Socket socket) {
        sockets.remove(socket);
    }

    Duration latency() {
        return latency;
    }

    boolean isClosed() {
        return closed;
    }

    /** Waits until this number of bytes has passed the line to the clients. */
    void pass(int bytes) {
        if (bytesPerSecond == Long.MAX_VALUE) {
            return;
        }
        long until;
        synchronized (this) {
            long durationNs = (long) (bytes * 1e9 / bytesPerSecond);
            freeAtNs = Math.max(freeAtNs, System.nanoTime()) + durationNs;
            until = freeAtNs;
        }
        for (long left; (left = until - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    void countToClient(long bytes) {
        bytesToClients.add(bytes);
    }

    void countFromClient(long bytes) {
        bytesFromClients.add(bytes);
    }

    /** Counts the request and returns the fault for it; null for none. */
    synchronized Fault decide(Request request) {
        // Some clients name the operation in the query of each request.
        boolean list = request.method().equals("GET")
                && request.target().contains("?")
                && !request.target().contains("x-id=GetObject");
        requests.computeIfAbsent(list ? "LIST" : request.method(), method -> new LongAdder())
                .increment();
        if (logging) {
            log.add(request);
        }
        for (Rule rule : rules) {
            if (rule.left > 0 && rule.which.test(request) && (rule.rate >= 1 || random.nextDouble() < rule.rate)) {
                rule.left--;
                return rule.fault;
            }
        }
        return null;
    }

    /** Ends all connections. */
    @Override
    public void close() throws IOException {
        closed = true;
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
