package dev.stoker.ingest.spec;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Reads keys from a file. Each key ends with a line feed or, on request, with a NUL; the last end may be missing. If
 * every line ends with a carriage return and a line feed, both are the end. All other bytes belong to the key, so a key
 * can have spaces at its end; a byte order mark at the start of the file belongs to no key. A line that begins with a
 * quotation mark is a JSON string.
 */
public final class KeyFile {

    /** The name of standard input. */
    public static final String STANDARD_INPUT = "-";

    /** Windows editors end a line with this character and a line feed. */
    public static final String RETURN = "\r";

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private KeyFile() {}

    /**
     * Adds the keys of a file.
     *
     * @param file a path, or {@link #STANDARD_INPUT}
     * @param end the byte after each key
     * @throws InvalidKeysException if there is no such file, or a key is empty, not UTF-8 or a damaged JSON string
     */
    public static void read(String file, char end, Collection<String> keys) throws IOException {
        if (file.equals(STANDARD_INPUT)) {
            read(System.in, "standard input", end, keys);
            return;
        }
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            read(in, file, end, keys);
        } catch (NoSuchFileException e) {
            throw new InvalidKeysException("there is no file " + file);
        } catch (InvalidKeysException e) {
            throw e;
        } catch (IOException e) {
            throw new InvalidKeysException("the file of keys " + file + " cannot be read: " + ErrorText.of(e));
        }
    }

    private static void read(InputStream in, String name, char end, Collection<String> keys) throws IOException {
        byte[] buffer = new byte[1 << 16];
        ByteArrayOutputStream key = new ByteArrayOutputStream();
        List<String> lines = new ArrayList<>();
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            int from = 0;
            for (int i = 0; i < read; i++) {
                if (buffer[i] == end) {
                    key.write(buffer, from, i - from);
                    from = i + 1;
                    lines.add(decoded(key, name, lines.size() + 1));
                }
            }
            key.write(buffer, from, read - from);
        }
        boolean isReturned = end == '\n' && !lines.isEmpty() && lines.stream().allMatch(line -> line.endsWith(RETURN));
        if (key.size() > 0) {
            lines.add(decoded(key, name, lines.size() + 1));
        }
        long number = 0;
        for (String line : lines) {
            number++;
            String text = isReturned && line.endsWith(RETURN) ? line.substring(0, line.length() - 1) : line;
            keys.add(key(text, name, number, end));
        }
    }

    private static String decoded(ByteArrayOutputStream line, String name, int number) throws InvalidKeysException {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(line.toByteArray()))
                    .toString();
            line.reset();
            return number == 1 && text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new InvalidKeysException("key " + number + " of " + name + " is not UTF-8");
        }
    }

    /** Returns the key of a line. */
    private static String key(String line) throws JsonProcessingException {
        return line.startsWith("\"") ? Json.PLAIN.readValue(line, String.class) : line;
    }

    private static String key(String text, String name, long number, char end) throws InvalidKeysException {
        if (text.isEmpty()) {
            throw new InvalidKeysException("key " + number + " of " + name + " is empty; no sample has an empty key");
        }
        try {
            return end == '\n' ? key(text) : text;
        } catch (JsonProcessingException e) {
            throw new InvalidKeysException("key " + number + " of " + name
                    + " begins with a quotation mark but is not a JSON string: " + e.getOriginalMessage());
        }
    }
}
