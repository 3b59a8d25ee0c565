package dev.stoker.storage.hadoop;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One connection of a client, and the one to the server that belongs to it. For one thread. */
final class ProxyConnection implements Runnable {

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

    private final FaultProxy proxy;
    private final Socket client;
    private final InputStream fromClient;
    private final OutputStream toClient;
    private Socket server;
    private InputStream fromServer;
    private OutputStream toServer;

    ProxyConnection(FaultProxy proxy, Socket client) {
        this.proxy = proxy;
        this.client = client;
        try {
            client.setTcpNoDelay(true);
            this.fromClient = new BufferedInputStream(client.getInputStream(), 64 << 10);
            this.toClient = client.getOutputStream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run() {
        try (client) {
            while (serveOne()) {
                // As long as both sides keep the connection.
            }
        } catch (IOException e) {
            // One of the sides has gone; the other one is closed below.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            proxy.forget(client);
            disconnect();
        }
    }

    private void disconnect() {
        if (server != null) {
            try {
                server.close();
            } catch (IOException e) {
                // It is gone anyway.
            }
            proxy.forget(server);
            server = null;
        }
    }

    /** Returns whether there may be another request. */
    private boolean serveOne() throws IOException, InterruptedException {
        HttpHead request = HttpHead.read(fromClient);
        if (request == null) {
            return false;
        }
        if (request.get("Expect").isPresent()) {
            toClient.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            toClient.flush();
            request.remove("Expect");
        }
        Fault fault = proxy.decide(new FaultProxy.Request(
                request.method(),
                request.target(),
                request.get("Range").orElse(""),
                request.get("Authorization").orElse("")));
        if (!proxy.latency().isZero()) {
            Thread.sleep(proxy.latency().toMillis());
        }
        if (fault instanceof Fault.Status status) {
            copy(fromClient, null, body(request), Long.MAX_VALUE);
            answer(request, status);
            return true;
        }
        if (fault instanceof Fault.Hang) {
            copy(fromClient, null, body(request), Long.MAX_VALUE);
            // Waits until the client closes the connection.
            int unused = fromClient.read();
            return false;
        }
        if (fault instanceof Fault.Late late) {
            Thread.sleep(late.delay().toMillis());
        }
        if (fault instanceof Fault.Held held) {
            held.until().await();
        }
        return forward(request, fault);
    }

    private static long body(HttpHead request) {
        return Math.max(0, request.contentLength());
    }

    private void answer(HttpHead request, Fault.Status status) throws IOException {
        String xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>" + status.code()
                + "</Code><Message>made by the fault proxy</Message><RequestId>0</RequestId></Error>";
        byte[] body = request.method().equals("HEAD") ? new byte[0] : xml.getBytes(StandardCharsets.UTF_8);
        HttpHead head = new HttpHead("HTTP/1.1 " + status.status() + " Fault");
        head.set("Content-Type", "application/xml");
        head.set("Content-Length", String.valueOf(body.length));
        toClient.write(head.bytes());
        toClient.write(body);
        toClient.flush();
    }

    private boolean forward(HttpHead request, Fault fault) throws IOException, InterruptedException {
        String asked = request.get("Range").orElse("");
        Matcher range = RANGE.matcher(asked);
        if (fault instanceof Fault.WrongRange wrong && range.matches()) {
            long first = Long.parseLong(range.group(1)) + wrong.shift();
            long last = Long.parseLong(range.group(2)) + wrong.shift();
            request.set("Range", "bytes=" + first + "-" + last);
        } else if (fault instanceof Fault.IgnoredRange) {
            request.remove("Range");
        } else if (fault instanceof Fault.IgnoredCondition) {
            request.remove("If-None-Match");
            request.removeFromQuery("ifGenerationMatch");
        }
        if (server == null) {
            server = proxy.connectUpstream();
            fromServer = new BufferedInputStream(server.getInputStream(), 64 << 10);
            toServer = server.getOutputStream();
        }
        toServer.write(request.bytes());
        long sent = request.isChunked()
                ? copyChunked(fromClient, toServer)
                : copy(fromClient, toServer, body(request), Long.MAX_VALUE);
        proxy.countFromClient(sent);
        toServer.flush();
        HttpHead reply = HttpHead.read(fromServer);
        while (reply != null && reply.status() == 100) {
            reply = HttpHead.read(fromServer);
        }
        if (reply == null) {
            return false;
        }
        boolean bodyless = request.method().equals("HEAD") || reply.status() == 204 || reply.status() == 304;
        long length = bodyless ? 0 : reply.contentLength();
        if (fault instanceof Fault.LostReply) {
            readRest(reply, length);
            return false;
        }
        boolean keep = relay(reply, length, fault, range);
        toClient.flush();
        boolean closing =
                reply.get("Connection").filter("close"::equalsIgnoreCase).isPresent();
        return keep && !closing;
    }

    private void readRest(HttpHead reply, long length) throws IOException {
        if (length < 0 && reply.isChunked()) {
            copyChunked(fromServer, null);
        } else {
            copy(fromServer, null, Math.max(0, length), Long.MAX_VALUE);
        }
    }

    private boolean relay(HttpHead reply, long length, Fault fault, Matcher range)
            throws IOException, InterruptedException {
        if (length <= 0) {
            toClient.write(reply.bytes());
            if (length < 0) {
                copyChunked(fromServer, toClient);
            }
            return true;
        }
        if (fault instanceof Fault.Truncated truncated) {
            long shorter = (long) (length * truncated.fraction());
            reply.set("Content-Length", String.valueOf(shorter));
            toClient.write(reply.bytes());
            copy(fromServer, toClient, shorter, Long.MAX_VALUE);
            copy(fromServer, null, length - shorter, Long.MAX_VALUE);
            return true;
        }
        if (fault instanceof Fault.EndedEarly early) {
            reply.remove("Content-Length");
            reply.set("Connection", "close");
            toClient.write(reply.bytes());
            copy(fromServer, toClient, (long) (length * early.fraction()), Long.MAX_VALUE);
            return false;
        }
        if (fault instanceof Fault.Cut cut) {
            toClient.write(reply.bytes());
            copy(fromServer, toClient, Math.min(length, cut.afterBytes()), Long.MAX_VALUE);
            toClient.flush();
            // A reset, and no end in good order.
            client.setSoLinger(true, 0);
            return false;
        }
        if (fault instanceof Fault.OtherBytes other) {
            int first = range.matches() ? Integer.parseInt(range.group(1)) : 0;
            byte[] bytes = Arrays.copyOfRange(other.object(), first, first + (int) length);
            copy(fromServer, null, length, Long.MAX_VALUE);
            proxy.countToClient(length);
            toClient.write(reply.bytes());
            toClient.write(bytes);
            return true;
        }
        toClient.write(reply.bytes());
        long rate = fault instanceof Fault.Trickle trickle ? trickle.bytesPerSecond() : Long.MAX_VALUE;
        copy(fromServer, toClient, length, rate);
        return true;
    }

    /** Copies {@code length} bytes; discards them if {@code to} is null. */
    private long copy(InputStream from, OutputStream to, long length, long bytesPerSecond) throws IOException {
        byte[] buffer = new byte[(int) Math.min(Math.max(1, bytesPerSecond / 10), 64 << 10)];
        long left = length;
        while (left > 0) {
            int read = from.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                throw new IOException("ended early");
            }
            if (to == toClient) {
                proxy.pass(read);
                // Before the client can see them.
                proxy.countToClient(read);
            }
            if (to != null) {
                to.write(buffer, 0, read);
            }
            left -= read;
            if (bytesPerSecond < Long.MAX_VALUE && left > 0) {
                to.flush();
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        }
        return length;
    }

    private long copyChunked(InputStream from, OutputStream to) throws IOException {
        long total = 0;
        while (true) {
            HttpHead size = HttpHead.read(new OneLine(from));
            long length = Long.parseLong(size.firstLine().split(";", 2)[0].strip(), 16);
            write(to, size.firstLine());
            total += copy(from, to, length, Long.MAX_VALUE);
            if (length == 0) {
                // Trailers, up to an empty line.
                HttpHead line = HttpHead.read(new OneLine(from));
                while (!line.firstLine().isEmpty()) {
                    write(to, line.firstLine());
                    line = HttpHead.read(new OneLine(from));
                }
                write(to, "");
                return total;
            }
            from.readNBytes(2);
            write(to, "");
        }
    }

    private static void write(OutputStream to, String line) throws IOException {
        if (to != null) {
            to.write((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        }
    }

    /** A stream that seems to have an empty line after its first. */
    @SuppressWarnings("InputStreamSlowMultibyteRead") // It is read byte by byte.
    private static final class OneLine extends InputStream {
        private final InputStream in;
        private int ended;

        OneLine(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            if (ended > 0) {
                return '\n';
            }
            int b = in.read();
            if (b == '\n') {
                ended++;
            }
            return b;
        }
    }
}
