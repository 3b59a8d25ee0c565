package dev.stoker.server.http;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers HTTP/1.1 requests without a body, one per connection. Silent, slow or numerous connections cannot lock others
 * out: each connection has a deadline, and at the limit the oldest one is closed. The JDK's server only has limits for
 * the whole process, which other code may already have set.
 *
 * <p>One thread accepts connections. Each connection has a thread until it is answered. Another thread closes overdue
 * connections.
 */
public final class PageServer implements AutoCloseable {

    /**
     * A request.
     *
     * @param method the method, such as GET
     * @param path the path without the query
     * @param query the text after the question mark; empty if there is none
     * @param host the Host header; empty if it is missing
     * @param range the Range header; empty if it is missing
     */
    public record Request(String method, String path, String query, String host, String range) {}

    /**
     * An answer.
     *
     * @param code status code
     * @param headers all headers except the length
     * @param body the body, which is not sent for HEAD
     */
    public record Response(int code, Map<String, String> headers, byte[] body) {}

    /** Thrown for a request that cannot be parsed. */
    private static final class BadRequestException extends IOException {
        private static final long serialVersionUID = 1;

        BadRequestException(String message) {
            super(message);
        }
    }

    /** The number of connections at which the oldest one is closed. */
    public static final int MAX_CONNECTIONS = 32;

    private static final Logger LOG = LoggerFactory.getLogger(PageServer.class);
    private static final int MAX_HEAD_BYTES = 16 << 10;
    /** Maximum number of bytes that the server reads and discards after the answer. */
    private static final int MAX_REST_BYTES = 64 << 10;

    private static final int BUFFER_BYTES = 64 << 10;
    private static final long PAUSE_MS = 100;

    private final String name;
    private final ServerSocket server;
    private final Function<Request, Response> answers;
    private final Duration deadline;
    private final Thread acceptor;
    private final ExecutorService workers;
    private final ScheduledExecutorService clock;
    /** When each connection was accepted, in that order. Guarded by the monitor of the map. */
    private final Map<Socket, Long> open = new LinkedHashMap<>();

    /**
     * Binds the address and starts to listen.
     *
     * @param name begins the names of threads, and names the page in the log
     * @param deadline maximum time of a connection
     * @param answers answers requests; called by several threads at once
     */
    public PageServer(String name, InetSocketAddress address, Duration deadline, Function<Request, Response> answers)
            throws IOException {
        this.name = name;
        this.answers = answers;
        this.deadline = deadline;
        this.workers = Executors.newCachedThreadPool(threads(name));
        this.clock = Executors.newSingleThreadScheduledExecutor(threads(name + "-deadlines"));
        this.server = new ServerSocket();
        try {
            server.bind(address);
        } catch (IOException e) {
            server.close();
            throw e;
        }
        this.acceptor = threads(name + "-accept").newThread(this::accept);
        acceptor.start();
        long every = Math.max(1, deadline.toMillis() / 10);
        Future<?> unused = clock.scheduleWithFixedDelay(this::closeOverdue, every, every, TimeUnit.MILLISECONDS);
    }

    /** Returns a factory of daemon threads. */
    public static ThreadFactory threads(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Returns the address that the server listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getLocalSocketAddress();
    }

    private void accept() {
        while (!server.isClosed()) {
            Socket socket = null;
            try {
                socket = server.accept();
                makeRoom();
                Socket accepted = socket;
                synchronized (open) {
                    open.put(accepted, System.nanoTime());
                }
                workers.execute(() -> serve(accepted));
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                // The process is out of files or threads, or the server is closed.
                close(socket);
                if (!server.isClosed()) {
                    LOG.warn("{} cannot accept a connection; trying again", name, e);
                    pause();
                }
            }
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void makeRoom() {
        Socket oldest = null;
        synchronized (open) {
            Iterator<Socket> all = open.keySet().iterator();
            if (open.size() >= MAX_CONNECTIONS) {
                oldest = all.next();
            }
        }
        close(oldest);
    }

    private void closeOverdue() {
        while (true) {
            Socket overdue = null;
            synchronized (open) {
                Iterator<Map.Entry<Socket, Long>> all = open.entrySet().iterator();
                if (all.hasNext()) {
                    Map.Entry<Socket, Long> oldest = all.next();
                    if (System.nanoTime() - oldest.getValue() > deadline.toNanos()) {
                        overdue = oldest.getKey();
                    }
                }
            }
            if (overdue == null) {
                return;
            }
            close(overdue);
        }
    }

    /** Ends a connection, which also ends the waits of its thread. */
    private void close(@Nullable Socket socket) {
        if (socket == null) {
            return;
        }
        synchronized (open) {
            open.remove(socket);
        }
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("A connection to {} did not close cleanly", name, e);
        }
    }

    private void serve(Socket socket) {
        try {
            Response response;
            boolean isHead = false;
            try {
                Request request = read(socket.getInputStream());
                isHead = request.method().equals("HEAD");
                response = answers.apply(request);
            } catch (BadRequestException e) {
                response = new Response(
                        400,
                        Map.of("Content-Type", "text/plain"),
                        (e.getMessage() + "\n").getBytes(StandardCharsets.UTF_8));
            }
            write(socket, response, isHead);
        } catch (IOException e) {
            LOG.debug("A connection to {} ended early", name, e);
        } catch (RuntimeException e) {
            LOG.warn("A request to {} failed", name, e);
        } finally {
            close(socket);
        }
    }

    private static Request read(InputStream in) throws IOException {
        String[] lines = head(in).split("\r?\n", -1);
        String[] words = lines[0].split(" ", -1);
        if (words.length != 3 || !words[2].startsWith("HTTP/1.") || !words[1].startsWith("/")) {
            throw new BadRequestException("expected a request of HTTP/1.1, such as GET /metrics HTTP/1.1");
        }
        int query = words[1].indexOf('?');
        return new Request(
                words[0],
                query < 0 ? words[1] : words[1].substring(0, query),
                query < 0 ? "" : words[1].substring(query + 1),
                header(lines, "Host"),
                header(lines, "Range"));
    }

    private static String header(String[] lines, String name) throws BadRequestException {
        String value = "";
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon > 0 && lines[i].substring(0, colon).equalsIgnoreCase(name)) {
                if (!value.isEmpty()) {
                    throw new BadRequestException("expected one " + name + ", found several");
                }
                value = lines[i].substring(colon + 1).strip();
            }
        }
        return value;
    }

    /** Reads the request line and the headers, up to the empty line after them. */
    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        byte[] part = new byte[1024];
        while (true) {
            int read = in.read(part);
            if (read < 0) {
                throw new IOException("the client left after " + head.size() + " bytes");
            }
            head.write(part, 0, read);
            String text = head.toString(StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            if (end >= 0) {
                return text.substring(0, end);
            }
            if (head.size() > MAX_HEAD_BYTES) {
                throw new BadRequestException("the headers have more than " + MAX_HEAD_BYTES + " bytes");
            }
        }
    }

    private static void write(Socket socket, Response response, boolean isHead) throws IOException {
        StringBuilder head = new StringBuilder("HTTP/1.1 " + response.code() + " " + reason(response.code()) + "\r\n");
        response.headers()
                .forEach((name, value) ->
                        head.append(name).append(": ").append(value).append("\r\n"));
        head.append("Content-Length: ").append(response.body().length).append("\r\nConnection: close\r\n\r\n");
        // Sends a small answer in one packet, and does not copy a large one.
        OutputStream out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
        out.write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        if (!isHead) {
            out.write(response.body());
        }
        out.flush();
        // A close with unread bytes would discard the answer to a client that is still sending.
        socket.shutdownOutput();
        InputStream in = socket.getInputStream();
        byte[] part = new byte[1024];
        for (int rest = 0, read = 0; read >= 0 && rest < MAX_REST_BYTES; rest += read) {
            read = in.read(part);
        }
    }

    private static String reason(int code) {
        return switch (code) {
            case 200 -> "OK";
            case 206 -> "Partial Content";
            case 400 -> "Bad Request";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 413 -> "Content Too Large";
            case 416 -> "Range Not Satisfiable";
            default -> "Error";
        };
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            LOG.debug("{} did not close cleanly", name, e);
        }
        clock.shutdownNow();
        synchronized (open) {
            for (Socket socket : List.copyOf(open.keySet())) {
                close(socket);
            }
        }
        workers.shutdownNow();
    }
}
