package dev.stoker.cli.redis;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A server that speaks the protocol until it is asked for values, and then answers as it is told. */
final class HostileRedis implements AutoCloseable {
    private static final byte[] OK = "+OK\r\n".getBytes(StandardCharsets.ISO_8859_1);

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final Answer answer;

    /** An answer to a request for values. */
    interface Answer {
        void to(OutputStream client) throws IOException;

        /** The text, at once. */
        static Answer text(String text) {
            return client -> client.write(text.getBytes(StandardCharsets.ISO_8859_1));
        }

        /** The beginning, and then the rest again and again as long as the client reads. */
        static Answer endless(String beginning, String rest) {
            return client -> {
                client.write(beginning.getBytes(StandardCharsets.ISO_8859_1));
                byte[] part = rest.getBytes(StandardCharsets.ISO_8859_1);
                while (true) {
                    client.write(part);
                }
            };
        }

        /** One byte each tenth of a second. */
        static Answer dripping(String text) {
            return client -> {
                for (byte next : text.getBytes(StandardCharsets.ISO_8859_1)) {
                    client.write(next);
                    client.flush();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                }
            };
        }
    }

    HostileRedis(Answer answer) throws IOException {
        this.answer = answer;
        Thread thread = new Thread(this::accept, "hostile-redis");
        thread.setDaemon(true);
        thread.start();
    }

    String url() {
        return "redis://127.0.0.1:" + server.getLocalPort();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                Thread thread = new Thread(() -> serve(socket), "hostile-redis-client");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (true) {
                String command = command(in);
                if (command.equals("MGET") || command.equals("GET")) {
                    answer.to(out);
                } else {
                    out.write(OK);
                }
            }
        } catch (IOException e) {
            // The client has gone.
        }
    }

    /** Reads a request, and returns its first word. */
    private static String command(InputStream in) throws IOException {
        int words = number(in, '*');
        String first = "";
        for (int i = 0; i < words; i++) {
            byte[] word = in.readNBytes(number(in, '$'));
            in.skipNBytes(2);
            first = i == 0 ? new String(word, StandardCharsets.ISO_8859_1) : first;
        }
        return first.toUpperCase(Locale.ROOT);
    }

    private static int number(InputStream in, char type) throws IOException {
        if (in.read() != type) {
            throw new IOException("the client has gone");
        }
        int number = 0;
        for (int next; (next = in.read()) != '\r'; ) {
            number = number * 10 + next - '0';
        }
        in.skipNBytes(1);
        return number;
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
