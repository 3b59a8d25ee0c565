package dev.stoker.client.transport;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A feed as the user named it: by name, or as a list of addresses. At every attempt to connect, the client looks up a
 * name in the file that the feed writes in {@code $STOKER_HOME/feeds}.
 *
 * @param name empty if addresses were given
 * @param given empty if a name was given
 * @param home {@code $STOKER_HOME}
 * @param seen the certificate that the feed's file named last; after TLS the client never falls back to plain text
 */
public record Target(Optional<String> name, List<String> given, Path home, AtomicReference<Optional<Path>> seen) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");
    /** The most feeds that an error lists. */
    private static final int KNOWN = 10;

    /**
     * Parses a feed's name or {@code host:port,…}; without one, uses {@code STOKER_FEED}.
     *
     * @throws IllegalArgumentException if the text can be neither
     * @throws FeedNotFoundException if no feed is named
     */
    public static Target of(Optional<String> text, Map<String, String> environment) {
        Path home = Optional.ofNullable(environment.get("STOKER_HOME"))
                .filter(value -> !value.isEmpty())
                .map(Path::of)
                .orElseGet(() ->
                        Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", ".")), ".stoker"));
        String source = text.isPresent() ? "" : "STOKER_FEED: ";
        String named = text.orElseGet(() -> environment.getOrDefault("STOKER_FEED", ""));
        if (named.isEmpty()) {
            throw new FeedNotFoundException("no feed given: give a name or host:port, or set STOKER_FEED");
        }
        List<String> addresses = Stream.of(named.split(",")).map(String::strip).toList();
        if (addresses.stream().allMatch(address -> Address.parse(address).isPresent())) {
            return new Target(Optional.empty(), addresses, home, new AtomicReference<>(Optional.empty()));
        }
        if (!NAME.matcher(named).matches()) {
            throw new IllegalArgumentException(
                    source + "'" + named + "' is neither a feed name nor host:port[,host:port…]");
        }
        return new Target(Optional.of(named), List.of(), home, new AtomicReference<>(Optional.empty()));
    }

    /**
     * The addresses to try now.
     *
     * @throws FeedNotFoundException if no feed of this name is known (any more)
     */
    public List<String> addresses() {
        if (name.isEmpty()) {
            return given;
        }
        JsonNode file = file();
        List<String> addresses = new ArrayList<>();
        for (JsonNode address : file.path("addresses")) {
            // Other clients use the addresses that this one does not understand.
            if (Address.parse(address.asText()).isPresent()) {
                addresses.add(address.asText());
            }
        }
        if (addresses.isEmpty()) {
            throw new FeedNotFoundException(this + ": " + path() + " has no address yet; the feed is starting");
        }
        return addresses;
    }

    /** The feed's token, if a readable file on this machine holds it. */
    Optional<String> token() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            String path = file().path("token_file").asText("");
            return path.isEmpty()
                    ? Optional.empty()
                    : Optional.of(RegularFile.text(Path.of(path)).strip());
        } catch (IOException | FeedNotFoundException e) {
            return Optional.empty();
        }
    }

    /** The Unix-domain sockets of the addresses, where the feed's file names them. */
    public Map<String, UnixAddress> unix() {
        Map<String, UnixAddress> places = new LinkedHashMap<>();
        if (name.isPresent()) {
            try {
                for (Map.Entry<String, JsonNode> place : file().path("unix").properties()) {
                    JsonNode said = place.getValue();
                    places.put(
                            place.getKey(),
                            new UnixAddress(
                                    said.path("host").asText(),
                                    said.path("path").asText()));
                }
            } catch (FeedNotFoundException | IllegalArgumentException e) {
                return Map.of();
            }
        }
        return places;
    }

    private Optional<Path> lastSeen() {
        return Objects.requireNonNull(seen.get(), "empty until one is seen");
    }

    /**
     * The file with the feed's own certificate, if the feed runs on this machine and uses TLS. For a feed that has
     * ended, the last one is kept, because another process can have its addresses by now.
     *
     * @throws TlsException if the feed had a certificate and its file no longer names one
     */
    Optional<Path> certificate() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            if (certificate(file()).isEmpty() && lastSeen().isPresent()) {
                throw new TlsException(this + " was served over TLS, with the certificate "
                        + lastSeen().get() + ", but " + path()
                        + " now names none: this trainer does not continue in plain text; start the feed with"
                        + " --tls-cert and --tls-key, or restart the trainer");
            }
        } catch (FeedNotFoundException e) {
            // The feed has ended; the certificate seen last applies.
        }
        return lastSeen();
    }

    private static Optional<Path> certificate(JsonNode file) {
        return Optional.of(file.path("tls_cert").asText(""))
                .filter(path -> !path.isEmpty())
                .map(Path::of);
    }

    private JsonNode file() {
        JsonNode file;
        try {
            file = Json.PLAIN.readTree(RegularFile.read(path()));
        } catch (NoSuchFileException e) {
            throw new FeedNotFoundException(unknown(name.orElseThrow()));
        } catch (IOException e) {
            if (Files.isRegularFile(home)) {
                throw new FeedNotFoundException(this + ": STOKER_HOME=" + home + " is a file; name a directory");
            }
            throw new FeedNotFoundException(this + ": " + path() + " cannot be read: " + e.getMessage());
        }
        if (file.path("ended_ms").asLong(0) != 0) {
            throw new FeedNotFoundException(
                    this + " has ended; start it with `stoker feed … --name " + name.orElseThrow() + "`");
        }
        Optional<Path> certificate = certificate(file);
        if (certificate.isPresent()) {
            seen.set(certificate);
        }
        return file;
    }

    private String unknown(String name) {
        String others = known().map(known -> "known feeds: " + known).orElse("");
        if (Files.isDirectory(Path.of(name))) {
            return "no " + this + " on this machine" + (others.isEmpty() ? "" : " (" + others + ")") + ". ./" + name
                    + " is a directory: serve it with `stoker feed ./" + name + " --name " + name + "`";
        }
        return "no " + this + ": " + path() + " does not exist; "
                + (others.isEmpty() ? "no feed runs on this machine" : others)
                + "; start it with `stoker feed … --name " + name + "`";
    }

    private Optional<String> known() {
        try (Stream<Path> files = Files.list(home.resolve("feeds"))) {
            String known = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".json"))
                    .map(file -> file.substring(0, file.length() - ".json".length()))
                    .sorted()
                    .limit(KNOWN)
                    .collect(Collectors.joining(", "));
            return Optional.of(known).filter(names -> !names.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns a message that the feed has ended, if its file names a process of this machine that no longer exists. */
    public Optional<String> ended() {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        try {
            JsonNode file = file();
            long pid = file.path("pid").asLong(0);
            boolean isLocal = addresses().stream()
                    .allMatch(address ->
                            Address.parse(address).orElseThrow().host().matches("127\\.0\\.0\\.1|localhost|::1"));
            if (pid > 0 && isLocal && ProcessHandle.of(pid).isEmpty()) {
                return Optional.of(this + " has ended: process " + pid
                        + " is gone; start it with `stoker feed … --name " + name.orElseThrow() + "`");
            }
        } catch (FeedNotFoundException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    private Path path() {
        return home.resolve("feeds").resolve(name.orElseThrow() + ".json");
    }

    /** The feed as the user named it. */
    public String text() {
        return name.orElseGet(() -> String.join(",", given));
    }

    @Override
    public String toString() {
        return name.map(n -> "feed '" + n + "'").orElseGet(() -> String.join(",", given));
    }
}
