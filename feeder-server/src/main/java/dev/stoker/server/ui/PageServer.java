package dev.stoker.server.ui;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
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
final class PageServer implements AutoCloseable {

    /**
     * A request.
     *
     * @param method the method, such as GET
     * @param path the path without the query
     * @param host the Host header; empty if it is missing
     */
    record Request(String method, String path, String host) {}

    /**
     * An answer.
     *
     * @param code status code
     * @param headers all headers except the length
     * @param body the body, which is not sent for HEAD
     */
    record Response(int code, Map<String, String> headers, byte[] body) {}

    /** Thrown for a request that cannot be parsed. */
    private static final class BadRequestException extends IOException {
        private static final long serialVersionUID = 1;

        BadRequestException(String message) {
            super(message);
        }
    }

    static final int MAX_CONNECTIONS = 32;
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Logger LOG = LoggerFactory.getLogger(PageServer.class);
    private static final int MAX_HEAD_BYTES = 16 << 10;
    /** Maximum number of bytes that the server reads and discards after the answer. */
    private static final int MAX_REST_BYTES = 64 << 10;

    private static final long PAUSE_MS = 100;

    private final ServerSocket server;
    private final Function<Request, Response> answers;
    private final Duration deadline;
    private final Thread acceptor;
    private final ExecutorService workers = Executors.newCachedThreadPool(threads("stoker-status"));
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(threads("stoker-status-deadlines"));
    /** When each connection was accepted, in that order. Guarded by the monitor of the map. */
    private final Map<Socket, Long> open = new LinkedHashMap<>();

    /**
     * Binds the address and starts to listen.
     *
     * @param answers answers requests; called by several threads at once
     */
    PageServer(InetSocketAddress address, Function<Request, Response> answers) throws IOException {
        this(address, answers, DEADLINE);
    }

    PageServer(InetSocketAddress address, Function<Request, Response> answers, Duration deadline) throws IOException {
        this.answers = answers;
        this.deadline = deadline;
        this.server = new ServerSocket();
        try {
            server.bind(address);
        } catch (IOException e) {
            server.close();
            throw e;
        }
        this.acceptor = threads("stoker-status-accept").newThread(this::accept);
        acceptor.start();
        long every = Math.max(1, deadline.toMillis() / 10);
        Future<?> unused = clock.scheduleWithFixedDelay(this::closeOverdue, every, every, TimeUnit.MILLISECONDS);
    }

    static ThreadFactory threads(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    InetSocketAddress address() {
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
                    LOG.warn("The feeder's page cannot accept a connection; trying again", e);
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
            LOG.debug("A connection to the feeder's page did not close cleanly", e);
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
            LOG.debug("A connection to the feeder's page ended early", e);
        } catch (RuntimeException e) {
            LOG.warn("A request to the feeder's page failed", e);
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
        String host = "";
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon > 0 && lines[i].substring(0, colon).equalsIgnoreCase("host")) {
                if (!host.isEmpty()) {
                    throw new BadRequestException("expected one Host, found several");
                }
                host = lines[i].substring(colon + 1).strip();
            }
        }
        int query = words[1].indexOf('?');
        return new Request(words[0], query < 0 ? words[1] : words[1].substring(0, query), host);
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
        OutputStream out = socket.getOutputStream();
        byte[] headBytes = head.toString().getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = Arrays.copyOf(headBytes, headBytes.length + (isHead ? 0 : response.body().length));
        System.arraycopy(response.body(), 0, all, headBytes.length, all.length - headBytes.length);
        out.write(all);
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
            case 400 -> "Bad Request";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            default -> "Error";
        };
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            LOG.debug("The feeder's page did not close cleanly", e);
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
