package dev.stoker.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;

/**
 * Reads keys from a file. Each key ends with a line feed or, on request, with a NUL; the last end may be missing. All
 * other bytes belong to the key, so a key can have spaces and a carriage return at its end. A line that begins with a
 * quotation mark is a JSON string, as {@link KeyText} prints it.
 */
final class KeyFile {

    /** The name of standard input. */
    static final String STANDARD_INPUT = "-";

    private KeyFile() {}

    /**
     * Adds the keys of a file.
     *
     * @param file a path, or {@link #STANDARD_INPUT}
     * @param end the byte after each key
     * @throws CommandException if there is no such file, or a key is empty, not UTF-8 or a damaged JSON string
     */
    static void read(String file, char end, Collection<String> keys) throws IOException {
        if (file.equals(STANDARD_INPUT)) {
            read(System.in, "standard input", end, keys);
            return;
        }
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            read(in, file, end, keys);
        } catch (NoSuchFileException e) {
            throw new CommandException("there is no file " + file);
        }
    }

    private static void read(InputStream in, String name, char end, Collection<String> keys) throws IOException {
        byte[] buffer = new byte[1 << 16];
        ByteArrayOutputStream key = new ByteArrayOutputStream();
        long number = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            int from = 0;
            for (int i = 0; i < read; i++) {
                if (buffer[i] == end) {
                    key.write(buffer, from, i - from);
                    from = i + 1;
                    keys.add(decoded(key, name, ++number, end));
                }
            }
            key.write(buffer, from, read - from);
        }
        if (key.size() > 0) {
            keys.add(decoded(key, name, ++number, end));
        }
    }

    private static String decoded(ByteArrayOutputStream key, String name, long number, char end)
            throws CommandException {
        if (key.size() == 0) {
            throw new CommandException("key " + number + " of " + name + " is empty; no sample has an empty key");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(key.toByteArray()))
                    .toString();
            key.reset();
            return end == '\n' ? KeyText.key(text) : text;
        } catch (CharacterCodingException e) {
            throw new CommandException("key " + number + " of " + name + " is not UTF-8");
        } catch (JsonProcessingException e) {
            throw new CommandException("key " + number + " of " + name
                    + " begins with a quotation mark but is not a JSON string: " + e.getOriginalMessage());
        }
    }
}
