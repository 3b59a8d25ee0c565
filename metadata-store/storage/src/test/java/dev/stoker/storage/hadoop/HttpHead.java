package dev.stoker.storage.hadoop;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The first line and the headers of a request or a reply. */
final class HttpHead {

    private static final int MOST_BYTES = 64 << 10;

    private String firstLine;
    private final List<String[]> headers = new ArrayList<>();

    HttpHead(String firstLine) {
        this.firstLine = firstLine;
    }

    /** Reads one; null at the end of the stream. */
    static HttpHead read(InputStream in) throws IOException {
        String first = line(in);
        if (first == null) {
            return null;
        }
        HttpHead head = new HttpHead(first);
        for (String line; ; ) {
            line = line(in);
            if (line == null) {
                throw new EOFException("within a head");
            }
            if (line.isEmpty()) {
                return head;
            }
            int colon = line.indexOf(':');
            head.headers.add(new String[] {
                line.substring(0, colon), line.substring(colon + 1).strip()
            });
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b; (b = in.read()) >= 0; ) {
            if (b == '\n') {
                int end = line.length();
                return end > 0 && line.charAt(end - 1) == '\r' ? line.substring(0, end - 1) : line.toString();
            }
            line.append((char) b);
            if (line.length() > MOST_BYTES) {
                throw new IOException("a line without end");
            }
        }
        return line.length() == 0 ? null : line.toString();
    }

    String firstLine() {
        return firstLine;
    }

    Optional<String> get(String name) {
        return headers.stream()
                .filter(header -> header[0].equalsIgnoreCase(name))
                .map(header -> header[1])
                .findFirst();
    }

    long contentLength() {
        return get("Content-Length").map(Long::parseLong).orElse(-1L);
    }

    boolean isChunked() {
        return get("Transfer-Encoding").filter("chunked"::equalsIgnoreCase).isPresent();
    }

    void remove(String name) {
        headers.removeIf(header -> header[0].equalsIgnoreCase(name));
    }

    void removeFromQuery(String name) {
        firstLine = firstLine.replaceAll("(?<=[?&])" + name + "=[^& ]*&?", "");
    }

    void set(String name, String value) {
        remove(name);
        headers.add(new String[] {name, value});
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder(firstLine).append("\r\n");
        for (String[] header : headers) {
            text.append(header[0]).append(": ").append(header[1]).append("\r\n");
        }
        return text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    int status() {
        return Integer.parseInt(firstLine.split(" ", 3)[1]);
    }

    String method() {
        return firstLine.substring(0, firstLine.indexOf(' '));
    }

    String target() {
        return firstLine.split(" ", 3)[1];
    }
}
